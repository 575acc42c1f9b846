#include "tests/fuzz/loose.h"

#include <stdlib.h>
#include <string.h>

static size_t calm = 1; /* in a stretch, unusual tokens are so many times rarer */

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "-0",
                                      "2",
                                      "1.5",
                                      "1e0",
                                      "1e400",
                                      "1e-400",
                                      "1e131071",
                                      "1e131072",
                                      "-1e131072",
                                      "1e-16383",
                                      "1e-16384",
                                      "1e999999",
                                      "1e99999999999999999999",
                                      "0e999999",
                                      "0.1e-2147483648",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "9007199254740993",
                                      "9223372036854775804",
                                      "9223372036854775805",
                                      "9223372036854775806",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "18446744073709551616",
                                      "01",
                                      "null",
                                      "true",
                                      "\"1\"",
                                      "[]",
                                      "{}",
                                      "NaN"};

static const char *const scripts[] = {
    "plain",
    "Größe",
    "Москва, лето",
    "日本語のテキスト",
    "한국어",
    "العربية",
    "हिन्दी",
    "ไทย",
    "ıİşğ",
    "\xf0\x9f\x98\x80\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
    "e\xcc\x81\xcc\x81\xcc\x81",
    "\xe2\x80\xae right to left",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "\\uFFFF\\uFEFF",
    "\\n\\t\\\"\\\\",
    "\xff\xfe",
    "\xc0\xaf",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "\xd0",
    "' OR 1=1 --",
    "$1",
    "%s%n",
    ""};

#define LONG_ERROR                                                                                 \
    "DO $$BEGIN RAISE EXCEPTION USING MESSAGE = repeat('ж', 900), "                               \
    "DETAIL = repeat('語', 900), HINT = repeat('é', 900); END$$"

static const char *const statements[] = {"SELECT 1",
                                         "SELECT $1",
                                         "SELECT 1/0",
                                         "SELECT 1; SELECT 2",
                                         "",
                                         ";",
                                         "COMMIT",
                                         "BEGIN",
                                         "SELECT",
                                         "SELEC 1",
                                         "SELECT * FROM nosuch",
                                         "SET LOCAL work_mem = '1MB'",
                                         "SELECT 'a' || U&'\\\\0441'",
                                         LONG_ERROR,
                                         "DO $$BEGIN RAISE WARNING '%', repeat('ж', 900); END$$",
                                         "SELECT set_config('search_path', 'pg_catalog', false)",
                                         "SELECT pg_sleep(0.002)",
                                         "/* */ SELECT 1 -- end",
                                         "SELECT $$text",
                                         "SELECT 'text",
                                         "VACUUM",
                                         "COPY (SELECT 1) TO STDOUT"};

static void text(struct str *to, size_t most)
{
    size_t parts = 1 + random_below(3);
    if (random_one_in(20))
        parts = 1 + random_below(most);
    str_text(to, "\"");
    for (; parts > 0; parts--)
        str_text(to, any_of(scripts));
    str_text(to, "\"");
}

static void any_value(struct str *to, int depth)
{
    switch (random_below(depth > 3 ? 2 : 5)) {
    case 0:
        str_text(to, any_of(numbers));
        break;
    case 1:
        text(to, 60);
        break;
    case 2:
        str_text(to, "[");
        for (size_t n = random_below(4); n > 0; n--) {
            any_value(to, depth + 1);
            str_text(to, n > 1 ? "," : "");
        }
        str_text(to, "]");
        break;
    case 3: /* deeper and deeper */
        for (size_t n = 1 + random_below(40); n > 0; n--) {
            str_text(to, "{");
            text(to, 60);
            str_text(to, ":");
        }
        str_text(to, "1"); /* and never closed, mostly: bad JSON */
        break;
    default:
        str_text(to, "{");
        text(to, 60);
        str_text(to, ":");
        any_value(to, depth + 1);
        if (random_one_in(4)) {
            str_text(to, ",\"x\":1,\"x\":2");
        }
        str_text(to, "}");
    }
}

/* Mostly one that is right: a failure costs a session its cleaning. */
static void statement(struct str *to)
{
    str_text(to, "\"");
    str_text(to, random_one_in(4 * calm) ? any_of(statements) : statements[0]);
    str_text(to, "\"");
}

static const char *url;

void loose_calls(const char *of_requests)
{
    url = of_requests;
}

static void request(struct str *to)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "HEAD", "DELETE", "PATCH"};
    static const char *const more[] = {"", "?a=b#c", "/%00", "/\\u0436", "/../../x", "/a b"};
    str_format(to, ",\"url\":\"%s/%zu%s\",\"method\":\"%s\"", url, random_below(100000),
               random_one_in(4) ? any_of(more) : "", any_of(methods));
    if (random_one_in(3)) {
        str_text(to, ",\"headers\":{\"x\":");
        text(to, 60);
        str_text(to, "}");
    }
    if (random_one_in(3)) {
        str_text(to, ",\"body\":");
        text(to, 400);
    }
}

/* What there is to do; nearly always something that is over at once. */
void loose_work(struct str *to)
{
    switch (random_below(60 * (calm > 1 ? 5 : 1))) {
    case 0:
        str_text(to, ",\"command\":\"true\",\"args\":[");
        text(to, 60);
        str_text(to, "]");
        return;
    case 1:
        request(to);
        return;
    case 2:
    case 3:
        str_text(to, ",\"type\":\"external\",\"input\":");
        any_value(to, 0);
        return;
    case 4:
    case 5:
        str_text(to, ",\"steps\":[{\"name\":");
        text(to, 60);
        str_text(to, ",\"sql\":");
        statement(to);
        str_text(to, "},{\"name\":\"last\",\"sql\":");
        statement(to);
        str_text(to, "}]");
        return;
    case 6:
    case 7:
        str_text(to, ",\"sql\":[");
        statement(to);
        str_text(to, ",");
        statement(to);
        str_text(to, "]");
        return;
    default:
        str_text(to, ",\"sql\":");
        statement(to);
    }
    if (random_one_in(3)) {
        str_text(to, ",\"params\":[");
        any_value(to, 0);
        str_text(to, "]");
    }
}

/* One more field, good or bad. */
void loose_field(struct str *to)
{
    static const char *const of_numbers[] = {"order",   "previous_order", "max_attempts", "seq",
                                             "timeout", "tasks",          "phases"};
    static const char *const of_texts[] = {"name", "description", "key",   "condition",
                                           "run",  "kind",        "nosuch"};
    static const char *const fixed[] = {"\"condition\":\"always\"",
                                        "\"condition\":\"failure\"",
                                        "\"max_attempts\":2,\"retry_intervals\":[0]",
                                        "\"max_attempts\":2,\"retry_intervals\":[0.01]",
                                        "\"retry_intervals\":[1e-400]",
                                        "\"retry_intervals\":[1e999]",
                                        "\"retry_on\":[\"22\",\"-22012\"]",
                                        "\"not_before\":\"1999-12-31T23:59:60Z\"",
                                        "\"not_before\":\"0001-01-01T00:00:00+15:59\"",
                                        "\"not_before\":\"2024-02-30T00:00:00Z\"",
                                        "\"not_before\":5",
                                        "\"transaction\":false",
                                        "\"timeout\":0.001",
                                        "\"type\":\"sql\"",
                                        "\"type\":\"none\""};
    str_text(to, ",");
    switch (random_below(4)) {
    case 0: {
        const char *name = any_of(of_numbers), *number = any_of(numbers);
        if (strcmp(name, "max_attempts") == 0 && atoi(number) > 2)
            number = "1001";
        str_format(to, "\"%s\":%s", name, number);
        break;
    }
    case 1:
        str_format(to, "\"%s\":", any_of(of_texts));
        text(to, 400);
        break;
    case 2:
        text(to, 60);
        str_text(to, ":");
        any_value(to, 0);
        break;
    default:
        str_text(to, any_of(fixed));
    }
}

static void mutate(struct str *record)
{
    static const char *const tokens[] = {
        "\"",  "{",    "}",    "[",        "]",        ",",        ":",  "\\",
        "\\u", "\xff", "\xd0", "\xe2\x82", "\xf0\x9f", " ",        "\n", "\t",
        "-",   ".",    "e",    "null",     "true",     "1e999999", "//", "\xef\xbb\xbf"};
    random_mutate(record, tokens, COUNT(tokens));
}

/* Nothing of it can be read. */
static void garble(struct str *record)
{
    static const char *const instead[] = {"",
                                          " ",
                                          "[]",
                                          "7",
                                          "\"text\"",
                                          "null",
                                          "<task order='1'/>",
                                          "1;0;SELECT 1",
                                          "\x01\x02\x03\xff",
                                          "{\"order\":1,\"previous_order\":0}",
                                          "{\"order\":2,\"previous_order\":1,\"type\":\"nosuch\"}"};
    switch (random_below(8)) {
    case 0:
        str_clear(record);
        str_text(record, any_of(instead));
        break;
    case 1:
        str_clear(record);
        for (size_t n = random_below(300); n > 0; n--)
            str_add(record, (char[]){(char)random_next()}, 1);
        break;
    case 2: { /* only the first part of it */
        STR_AUTO part = {0};
        str_add(&part, record->len > 0 ? record->data : "", random_below(record->len + 1));
        str_clear(record);
        str_add(record, part.data != NULL ? part.data : "", part.len);
        break;
    }
    case 3:
        str_add(record, "", 1); /* a NUL byte behind it */
        break;
    default:
        str_text(record, any_of(((const char *const[]){"}", "]", ",", "\"", "\xff", "{", "x"})));
    }
}

/* Records without a run come in bursts of one phase, with more or fewer wrong ones among them:
 * claims of one record and of many. */
static const int orders[][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {2, 1},
                                {3, 2}, {2, 0}, {4, 3}, {5, 2}, {1, 1}};
static const int *burst_order;
static size_t burst_left, burst_wrong; /* one of so many has its bytes changed */

static void burst(void)
{
    static const size_t wrong[] = {1, 2, 3, 20, 1000};
    if (burst_left > 0) {
        burst_left--;
        return;
    }
    burst_left = random_one_in(3) ? random_below(4) : random_below(200);
    burst_order = any_of(orders);
    burst_wrong = any_of(wrong);
}

/* A record without a run. */
void loose_record(struct str *to)
{
    burst();
    const int *order = burst_order;
    if (random_one_in(1000 * calm)) {
        str_text(to, "{\"type\":\"end\"}");
        return;
    }
    bool bytes = random_one_in(burst_wrong);
    if (random_one_in(200 * calm))
        str_format(to, "{\"order\":%s,\"previous_order\":%s", any_of(numbers), any_of(numbers));
    else
        str_format(to, "{\"order\":%d,\"previous_order\":%d", order[0], order[1]);
    if (bytes) {
        str_text(to, ",\"name\":");
        text(to, 60);
        str_text(to, ",\"sql\":\"SELECT 1\",\"params\":[");
        any_value(to, 0);
        str_text(to, "]}");
        mutate(to);
        if (calm > 1 && !random_one_in(50))
            garble(to);
        return;
    }
    loose_work(to);
    for (size_t n = random_one_in(3 * calm) ? random_below(3) : 0; n > 0; n--)
        loose_field(to);
    str_text(to, "}");
}

void loose_large(struct str *to)
{
    static const size_t sizes[] = {10 * 1000, 100 * 1000, BIG - 1, BIG, BIG + 1};
    size_t size = any_of(sizes);
    str_text(to, "{\"order\":1,\"previous_order\":0,\"sql\":\"SELECT 1\",\"description\":\"");
    if (random_one_in(2)) { /* large, and good */
        str_text(to, "\",\"params\":[\"");
        while (to->len + 5 < size)
            str_text(to, "ж");
        while (to->len + 3 < size)
            str_text(to, "x");
        str_text(to, "\"]}");
        return;
    }
    while (to->len < size)
        str_text(to, any_of(scripts));
    str_text(to, "\"}");
}

void loose_thicket(void)
{
    calm = 1;
}

void loose_stretch(void)
{
    static const size_t wrong[] = {1, 1, 100, 1000};
    calm = 30;
    burst_left = random_below(2000);
    burst_order = any_of(orders);
    burst_wrong = any_of(wrong);
}

bool loose_goes_on(void)
{
    return burst_left > 0;
}

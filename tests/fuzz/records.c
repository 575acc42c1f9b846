/* The records of ./dev fuzz --live: fuzz_records BROKERS TOPIC COUNT SEED URL
 *
 * Publishes COUNT records to partition 0 and prints how many of them are good. One in seven is: runs of their own with one phase, and its end.
 * The others are what a producer gets wrong: fields at their edges, bytes that were changed, scripts of the world, keys and headers of
 * any bytes, sizes up to the limit and beyond it, runs with holes, repetitions and ends that count wrong. The same seed makes the same
 * records.
 *
 * One record in eight is of a thicket, where each record may be of another kind, phase or run than the one before: most claims there are of
 * one or two records. The others are of stretches: up to two thousand records of one phase, nearly all wrong or nearly all in order, and a
 * long good run behind them. There, claims are of many records, and so is what one record in a hundred breaks.
 *
 * What rightly holds up a queue is among them, for an operator (tests/fuzz/live.sh) to release: a command that nobody knows, a task that is
 * due in a thousand years, a run without an end, a run of which nothing is known. URL is where http tasks go. */
#include "base/str.h"
#include "kafka/kafka.h"
#include "kafka/producer.h"
#include "task/message.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS   30000
#define BIG       (1000 * 1000)
#define COUNT(of) (sizeof(of) / sizeof *(of))

#define any_of(words) ((words)[random_below(COUNT(words))])

static size_t calm = 1; /* in a stretch, what is out of the ordinary is so many times rarer */

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
static void work(struct str *to)
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
static void field(struct str *to)
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

/* Records without a run come in bursts of one phase, with more or fewer wrong ones among them: claims of one record and of many. */
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
static void loose(struct str *to)
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
    work(to);
    for (size_t n = random_one_in(3 * calm) ? random_below(3) : 0; n > 0; n--)
        field(to);
    str_text(to, "}");
}

static void large(struct str *to)
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

struct fuzz {
    struct kafka_producer *producer;
    const char *topic;
    size_t sent, most, good;
};

static void send(struct fuzz *fuzz, const struct str *record, bool plain)
{
    struct kafka_header headers[6] = {{0}};
    char names[5][16], values[5][80];
    struct err err;
    FREE_AUTO char *key = NULL;
    size_t key_len = 0, count = plain || random_one_in(2) ? 0 : random_below(5);
    for (size_t i = 0; i < count; i++) {
        static const char *const traces[] = {
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-x\r\nHost: evil.example",
            "00-\xff\xfe",
            "",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
        bool trace = random_one_in(2);
        size_t len = random_below(sizeof values[i]);
        for (size_t k = 0; k < sizeof values[i]; k++)
            values[i][k] = (char)random_next();
        for (size_t k = 0; k < sizeof names[i]; k++)
            names[i][k] = (char)(1 + random_below(255));
        names[i][1 + random_below(sizeof names[i] - 1)] = '\0';
        headers[i] = (struct kafka_header){names[i], random_one_in(10) ? NULL : values[i], len};
        if (trace) {
            const char *text_of = any_of(traces);
            headers[i] = (struct kafka_header){"traceparent", text_of, strlen(text_of)};
        }
    }
    if (!plain && random_one_in(2)) {
        key_len = random_one_in(2000) ? 900 * 1000 : random_below(200);
        if (record->len + key_len > BIG + 1000)
            key_len = 0;
        key = xmalloc(key_len + 1);
        for (size_t i = 0; i < key_len; i++)
            key[i] = (char)random_next();
    }
    bool tombstone = !plain && random_one_in(500);
    if (kafka_publish(fuzz->producer, fuzz->topic, 0, key, key_len, tombstone ? NULL : record->data,
                      tombstone ? 0 : record->len, headers, &err) != RC_OK) {
        (void)fprintf(stderr, "fuzz_records: %s\n", err.message);
        exit(1);
    }
    fuzz->sent++;
}

static void send_loose(struct fuzz *fuzz)
{
    STR_AUTO record = {0};
    if (random_one_in(2000))
        large(&record);
    else
        loose(&record);
    if (record.data == NULL)
        str_text(&record, "");
    send(fuzz, &record, false);
}

static void run_name(char run[37])
{
    (void)snprintf(run, 37, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64,
                   random_next() & 0xffffffff, random_next() & 0xffff, random_next() & 0xfff,
                   random_next() & 0xfff, random_next() & 0xffffffffffff);
}

/* A run with an id: it begins and ends, and what is between is wrong now and then. A good one has at most so many further tasks. */
static void send_run(struct fuzz *fuzz, bool good, size_t most)
{
    char run[37];
    STR_AUTO record = {0};
    run_name(run);
    str_format(&record,
               "{\"run\":\"%s\",\"seq\":0,\"order\":1,\"previous_order\":0,\"name\":\"%s\",\"sql\":"
               "\"SELECT 1\"}",
               run, good ? "good" : "begins");
    send(fuzz, &record, true); /* else nothing would be known of it */
    int64_t order = 1, seq = 1;
    for (size_t n = good ? random_below(most) : 0; n > 0; n--) {
        str_clear(&record);
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64
                   ",\"order\":1,\"previous_order\":0,\"name\":\"good\",\"sql\":\"SELECT 1\"}",
                   run, seq++);
        send(fuzz, &record, true);
    }
    for (size_t n = good ? 0 : random_below(6); n > 0; n--) {
        str_clear(&record);
        bool further = random_one_in(2);
        int64_t previous = further ? order : order - 1;
        order += further;
        if (random_one_in(4))
            seq += (int64_t)random_below(3) - 1;
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64 ",\"order\":%" PRId64
                   ",\"previous_order\":%" PRId64,
                   run, seq++, order, previous);
        work(&record);
        if (random_one_in(4))
            field(&record);
        str_text(&record, "}");
        send(fuzz, &record, false);
        if (random_one_in(8))
            send(fuzz, &record, false); /* twice */
        if (random_one_in(8))
            send_loose(fuzz); /* in between */
    }
    str_clear(&record);
    if (good)
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64 ",\"type\":\"end\",\"tasks\":%" PRId64
                   ",\"phases\":1}",
                   run, seq, seq);
    else /* whatever came before, this one ends it */
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":9223372036854775805,\"type\":\"end\",\"aborted\":true}",
                   run);
    send(fuzz, &record, true);
    fuzz->good += good ? (size_t)seq : 0;
}

/* What stays where it is until somebody comes: all of it is named "held". */
static void send_held(struct fuzz *fuzz)
{
    char run[37];
    STR_AUTO record = {0};
    run_name(run);
    switch (random_below(4)) {
    case 0:
        str_text(&record,
                 "{\"order\":1,\"previous_order\":0,\"name\":\"held\",\"sql\":\"SELECT 1\","
                 "\"not_before\":\"3026-11-23T00:00:00Z\"}");
        break;
    case 1:
        str_text(&record,
                 "{\"order\":1,\"previous_order\":0,\"name\":\"held\",\"command\":\"nosuch\"}");
        break;
    default: { /* of a run without its end, or without its beginning */
        size_t from = random_one_in(2) ? 0 : 3;
        for (size_t seq = from; seq < from + 2; seq++) {
            str_clear(&record);
            str_format(
                &record,
                "{\"run\":\"%s\",\"seq\":%zu,\"order\":1,\"previous_order\":0,\"name\":\"held\","
                "\"sql\":\"SELECT 1\"}",
                run, seq);
            send(fuzz, &record, true);
        }
        return;
    }
    }
    send(fuzz, &record, true);
}

static void send_thicket(struct fuzz *fuzz)
{
    calm = 1;
    for (size_t n = random_below(400); n > 0 && fuzz->sent < fuzz->most; n--) {
        size_t kind = random_below(100);
        if (kind < 3)
            send_run(fuzz, true, 12);
        else if (kind < 6)
            send_run(fuzz, false, 0);
        else
            send_loose(fuzz);
    }
}

static void send_stretch(struct fuzz *fuzz)
{
    static const size_t wrong[] = {1, 1, 100, 1000};
    calm = 30;
    burst_left = random_below(2000);
    burst_order = any_of(orders);
    burst_wrong = any_of(wrong);
    while (burst_left > 0 && fuzz->sent < fuzz->most)
        send_loose(fuzz);
    send_run(fuzz, true, 300);
    send_run(fuzz, false, 0);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {0};
    struct kafka_properties props = {0};
    struct err err = {0};
    if (argc != 6) {
        (void)fprintf(stderr, "usage: fuzz_records BROKERS TOPIC COUNT SEED URL\n");
        return 2;
    }
    fuzz.topic = argv[2];
    fuzz.most = (size_t)strtoull(argv[3], NULL, 10);
    random_state = strtoull(argv[4], NULL, 10);
    url = argv[5];
    enum rc rc = kafka_properties_set(&props, "bootstrap.servers", argv[1], &err);
    if (rc == RC_OK)
        rc = kafka_properties_set(&props, "message.max.bytes", "2000000", &err);
    if (rc == RC_OK)
        rc = kafka_producer_open(&props, NULL, WAIT_MS, &fuzz.producer, &err);
    if (rc == RC_OK)
        rc = kafka_producer_meet(fuzz.producer, fuzz.topic, WAIT_MS, &err);
    while (rc == RC_OK && fuzz.sent < fuzz.most) {
        if (random_one_in(3))
            send_thicket(&fuzz);
        else
            send_stretch(&fuzz);
        if (random_one_in(8))
            send_held(&fuzz);
    }
    if (rc == RC_OK)
        rc = kafka_flush(fuzz.producer, WAIT_MS, &err);
    if (rc != RC_OK)
        (void)fprintf(stderr, "fuzz_records: %s\n", err.message);
    if (fuzz.producer != NULL)
        kafka_producer_close(fuzz.producer);
    kafka_properties_done(&props);
    (void)printf("%zu %zu\n", fuzz.sent, fuzz.good);
    return rc == RC_OK ? 0 : 1;
}

/* Input from outside, made by a seed: configuration files, numbers, sources of a publish.
 * Nothing of it may crash, hang or be taken for something else. LOCKSTEP_TEST_SEED makes others.
 * The live executor's share is tests/fuzz/live.sh.
 * ctest: notsan */
#include "base/number.h"
#include "base/str.h"
#include "config/config.h"
#include "producer/staged.h"
#include "task/message.h"
#include "tests/support/random.h"
#include "tests/support/rc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS       1000
#define COUNT(array) (sizeof(array) / sizeof *(array))

static char path[64];
static uint64_t seed = 1;
static struct err err;

static int begin(void **state)
{
    (void)state;
    const char *other = getenv("LOCKSTEP_TEST_SEED");
    if (other != NULL)
        seed = strtoull(other, NULL, 10);
    random_state = seed;
    (void)snprintf(path, sizeof path, "/tmp/lockstep_fuzz_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const struct str *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->len, file), text->len);
    assert_int_equal(fclose(file), 0);
}

static void make(struct str *text, const char *from, const char *const *tokens, size_t count)
{
    str_clear(text);
    str_text(text, from);
    for (size_t n = random_below(4); n > 0; n--)
        random_mutate(text, tokens, count);
    if (random_one_in(10))
        str_add(text, "\0behind", random_below(8));
    if (text->data == NULL)
        str_text(text, "");
}

static int line_of(const char *object)
{
    size_t len = strlen(path);
    if (strncmp(object, path, len) != 0)
        fail_msg("seed %" PRIu64 ": no place of the file: %s", seed, object);
    return object[len] == ':' ? atoi(object + len + 1) : 0;
}

static void a_configuration_file_is_read_or_refused_with_a_line_of_it(void **state)
{
    (void)state;
    static const char *const files[] = {
        "[postgres]\nconninfo = host=a dbname=b\n\n[executor]\nreaders = 4 ; four\nheartbeat = "
        "200ms\n",
        "; a comment\n[queue:sales]\nmax_readers = 3\non_failure = stop\nkeep_days = 30\n",
        "[commands]\nload = /usr/bin/load\n[command:load]\nenv.TOKEN = x\ntimeout = 3 min\n",
        "[http]\nallow = *.example.com:443, [::1]:9\n[http:a.b]\nheader.X = y\nplain = on\n",
        "[kafka]\nbootstrap.servers = a:1,b:2\nclient.id = c\n[log]\nlevel = warn\nformat = "
        "json\n"};
    static const char *const tokens[] = {"[",  "]", "=",    ":",    ";",    "#",
                                         "\n", " ", "\r",   "\t",   "\xff", "\xef\xbb\xbf",
                                         "99", "-", "\xc0", "true", "\"",   "[executor]\n"};
    STR_AUTO text = {0};
    for (int i = 0; i < ROUNDS; i++) {
        struct config *config = NULL;
        make(&text, files[random_below(COUNT(files))], tokens, COUNT(tokens));
        write_text(&text);
        struct config_request request = {.path = path};
        enum rc rc = config_load(&request, &config, &err);
        bool nul = memchr(text.data, '\0', text.len) != NULL;
        if (rc == RC_OK && nul)
            fail_msg("seed %" PRIu64 ", file %d: a NUL byte is taken", seed, i);
        int lines = 1;
        for (size_t n = 0; n < text.len; n++)
            lines += text.data[n] == '\n';
        if (rc != RC_OK && line_of(err.object) > lines)
            fail_msg("seed %" PRIu64 ", file %d: %s of %d lines", seed, i, err.object, lines);
        config_free(config);
    }
}

/* Digits without leading zeros, '-' before them if they are negative. */
static bool is_number(const char *text, struct number_range range, int64_t *ret_number)
{
    const char *digits = text + (*text == '-');
    size_t len = strspn(digits, "0123456789");
    if (len == 0 || digits[len] != '\0' || len > 19 ||
        (*digits == '0' && (len > 1 || *text == '-')))
        return false;
    uint64_t size = strtoull(digits, NULL, 10), most = (uint64_t)INT64_MAX + (*text == '-');
    if (size > most)
        return false;
    *ret_number = *text == '-' ? (int64_t)-size : (int64_t)size;
    return *ret_number >= range.least && *ret_number <= range.most;
}

static void a_typed_number_is_taken_as_it_stands_or_refused(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "1000",
                                          "2147483647",
                                          "-2147483648",
                                          "2147483648",
                                          "4294967296",
                                          "1000000000",
                                          "123456789",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775808",
                                          "18446744073709551616"};
    static const char *const tokens[] = {"0", "9", "-", "+", " ", "x", "e", ".", "\xd9\xa1", "\n"};
    static const struct number_range ranges[] = {
        {0, 1000}, {1, INT64_MAX}, {INT64_MIN, INT64_MAX}, {-5, 5}, {0, INT32_MAX}};
    STR_AUTO text = {0};
    for (int i = 0; i < ROUNDS * 10; i++) {
        str_clear(&text);
        str_text(&text, numbers[random_below(COUNT(numbers))]);
        if (text.len < 3)
            str_text(&text, random_one_in(2) ? "" : tokens[random_below(COUNT(tokens))]);
        else if (random_one_in(2))
            random_mutate(&text, tokens, COUNT(tokens));
        str_add(&text, "", 1); /* a NUL byte may be before it */
        struct number_range range = ranges[random_below(COUNT(ranges))];
        int64_t number = 77, wanted = 77;
        bool right = is_number(text.data, range, &wanted);
        enum rc rc = number_parse("queue", "n", text.data, range, &number, &err);
        if ((rc == RC_OK) != right || number != (right ? wanted : 77))
            fail_msg("seed %" PRIu64 ": \"%s\" became %" PRId64, seed, text.data, number);
    }
}

/* Each result is accepted by the codec; all that is refused is so with a line; and the
 * reading ends. */
static void read_all(enum publish_format format, size_t bytes, int i)
{
    struct staged *staged = NULL;
    struct staged_task task;
    size_t limit = (size_t)MESSAGE_MAX_BYTES - MESSAGE_TAG_BYTES, count = 0;
    enum rc rc = staged_open_file(path, format, limit, &staged, &err);
    while (rc == RC_OK || rc == RC_REJECT) {
        rc = staged_next(staged, -1, &task, &err);
        if (++count > bytes + 2)
            fail_msg("seed %" PRIu64 ", source %d: does not end", seed, i);
        if (rc == RC_REJECT && (staged_line(staged) < 1 || *err.message == '\0'))
            fail_msg("seed %" PRIu64 ", source %d: refused without a line", seed, i);
        if (rc != RC_OK)
            continue;
        struct message *msg = NULL;
        if (message_parse(task.text, task.len, MESSAGE_STAGED, &msg, &err) != RC_OK)
            fail_msg("seed %" PRIu64 ", source %d: %s comes out: %s", seed, i, task.text,
                     err.message);
        message_free(msg);
    }
    staged_close(staged);
}

static void a_source_is_read_to_its_end_or_refused_with_its_line(void **state)
{
    (void)state;
    static const char *const csv[] = {
        "order,sql,name\n1,SELECT 1,a\n2,\"SELECT \"\"x\"\", 2\",b\n",
        "order;sql;params\r\n1;SELECT $1;\"[1,\"\"a\"\"]\"\r\n\r\n2;\"SELECT\n2\";\r\n",
        "order,command,args,not_before\n1,true,\"[\"\"a\"\"]\",2024-02-29T00:00:00Z\n",
        "order,url,method,max_attempts\n1,http://a.example/,POST,2\n2,http://b.example/,,\n"};
    static const char *const jsonl[] = {
        "{\"order\":1,\"sql\":\"SELECT "
        "1\"}\n\n{\"order\":2,\"sql\":[\"A\",\"B\"],\"name\":\"\\u00e4\"}\n",
        "{\"order\":1,\"command\":\"true\",\"args\":[\"a\"]}\r\n{\"order\":1,\"url\":\"http://a/"
        "\"}",
        "{\"order\":3,\"steps\":[{\"name\":\"a\",\"sql\":\"SELECT 1\"}],\"key\":\"k\"}\n"};
    static const char *const tokens[] = {
        ",",    ";",    "\"",       "\"\"", "\n",    "\r",          "{",  "}",
        "[",    ":",    "\\u0000",  " ",    "\t",    "1",           "-1", "1e99",
        "null", "\xff", "\xe2\x82", "sql",  "order", "\xef\xbb\xbf"};
    STR_AUTO text = {0};
    for (int i = 0; i < ROUNDS; i++) {
        bool rows = random_one_in(2);
        make(&text, rows ? csv[random_below(COUNT(csv))] : jsonl[random_below(COUNT(jsonl))],
             tokens, COUNT(tokens));
        write_text(&text);
        read_all(rows ? PUBLISH_CSV : PUBLISH_JSONL, text.len, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_file_is_read_or_refused_with_a_line_of_it),
        cmocka_unit_test(a_typed_number_is_taken_as_it_stands_or_refused),
        cmocka_unit_test(a_source_is_read_to_its_end_or_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

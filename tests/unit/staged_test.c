/* Staged work as files: valid ones, and those that are refused with their line. */
#include "base/str.h"
#include "producer/columns.h"
#include "producer/staged.h"
#include "task/message.h"
#include "tests/support/rc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMIT ((size_t)MESSAGE_MAX_BYTES - MESSAGE_TAG_BYTES)

static char path[64];
static struct staged *staged;
static struct staged_task task;
static struct err err;

static int make_file(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/staged_test.XXXXXX");
    int fd = mkstemp(path);
    (void)close(fd);
    staged = NULL;
    return fd < 0;
}

static int remove_file(void **state)
{
    (void)state;
    staged_close(staged);
    return unlink(path);
}

static void write_bytes(const char *bytes, size_t len)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void open_bytes(const char *bytes, size_t len, enum publish_format format)
{
    write_bytes(bytes, len);
    assert_int_equal(staged_open_file(path, format, LIMIT, &staged, &err), RC_OK);
}

static void open_jsonl(const char *text)
{
    open_bytes(text, strlen(text), PUBLISH_JSONL);
}

static void open_csv(const char *text)
{
    open_bytes(text, strlen(text), PUBLISH_CSV);
}

static void expect_task(int64_t line, int64_t order, const char *text)
{
    enum rc rc = staged_next(staged, -1, &task, &err);
    if (rc != RC_OK)
        fail_msg("%s instead of a task: %s", rc_name(rc), rc == RC_NONE ? "" : err.message);
    assert_int_equal(task.line, line);
    assert_int_equal(task.order, order);
    if (text == NULL)
        return;
    assert_int_equal(task.len, strlen(text));
    assert_memory_equal(task.text, text, task.len);
}

static void expect_fault(int64_t line, const char *object, const char *part)
{
    assert_int_equal(staged_next(staged, -1, &task, &err), RC_REJECT);
    assert_int_equal(staged_line(staged), line);
    assert_string_equal(err.object, object);
    if (strstr(err.message, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, err.message);
}

static void expect_end(void)
{
    assert_int_equal(staged_next(staged, -1, &task, &err), RC_NONE);
    assert_int_equal(staged_next(staged, -1, &task, &err), RC_NONE);
}

static void lines_come_out_verbatim_with_their_numbers(void **state)
{
    (void)state;
    open_jsonl("{\"order\":2,\"sql\":\"SELECT 1\"}\n\n  \n"
               " { \"sql\" : \"SELECT 2\", \"order\" : 9223372036854775807 }\r\n"
               "{\"order\":1,\"sql\":\"SELECT 3\"}");
    expect_task(1, 2, "{\"order\":2,\"sql\":\"SELECT 1\"}");
    expect_task(4, INT64_MAX, " { \"sql\" : \"SELECT 2\", \"order\" : 9223372036854775807 }");
    expect_task(5, 1, "{\"order\":1,\"sql\":\"SELECT 3\"}");
    expect_end();
}

static void a_byte_order_mark_is_no_part_of_the_first_line(void **state)
{
    (void)state;
    open_jsonl("\xef\xbb\xbf{\"order\":1,\"sql\":\"SELECT 1\"}\n");
    expect_task(1, 1, "{\"order\":1,\"sql\":\"SELECT 1\"}");
    expect_end();
}

static void an_order_must_be_a_positive_int64(void **state)
{
    (void)state;
    open_jsonl("{\"sql\":\"SELECT 1\"}\n"
               "{\"order\":-1,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":0,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":1.5,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":\"1\",\"sql\":\"SELECT 1\"}\n"
               "{\"order\":null,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":9223372036854775808,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":7,\"sql\":\"SELECT 1\"}\n");
    expect_fault(1, "$.order", "missing");
    expect_fault(2, "$.order", "between 1 and 9223372036854775807");
    expect_fault(3, "$.order", "between 1");
    expect_fault(4, "$.order", "integer");
    expect_fault(5, "$.order", "integer");
    expect_fault(6, "$.order", "integer");
    expect_fault(7, "$.order", "between 1 and 9223372036854775807");
    expect_task(8, 7, NULL);
    expect_end();
}

static void tags_are_the_producers_to_write(void **state)
{
    (void)state;
    open_jsonl("{\"order\":1,\"previous_order\":0,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":1,\"seq\":0,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":1,\"type\":\"end\"}\n");
    expect_fault(1, "$.previous_order", "computed by the producer");
    expect_fault(2, "$.seq", "computed by the producer");
    assert_int_equal(staged_next(staged, -1, &task, &err), RC_REJECT);
    expect_end();
}

static void bytes_that_are_no_text_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char bytes[] = "{\"order\":1,\"sql\":\"SELECT 1\"}\n"
                                "{\"order\":1,\"sql\":\"SELECT '\xc3\x28'\"}\n"
                                "{\"order\":1,\"sql\":\"SELECT '\0'\"}\n"
                                "{\"order\":1,\"sql\":\"SELECT '\\u0000'\"}\n"
                                "not json\n";
    open_bytes(bytes, sizeof bytes - 1, PUBLISH_JSONL);
    expect_task(1, 1, NULL);
    expect_fault(2, "$", "UTF-8");
    for (int line = 3; line <= 5; line++) {
        assert_int_equal(staged_next(staged, -1, &task, &err), RC_REJECT);
        assert_int_equal(staged_line(staged), line);
    }
    expect_end();
}

static void an_empty_source_has_no_task(void **state)
{
    (void)state;
    open_jsonl("");
    expect_end();
}

static void a_csv_file_without_a_row_has_no_task(void **state)
{
    (void)state;
    open_csv("order,sql\n");
    expect_end();
}

/** A line of len bytes, the line break not counted. */
static void write_line(size_t len)
{
    static const char start[] = "{\"order\":1,\"sql\":\"", end[] = "\"}\n";
    write_bytes(start, sizeof start - 1);
    size_t left = len - (sizeof start - 1) - (sizeof end - 2);
    char *block = xmalloc(100000);
    memset(block, 'x', 100000);
    for (; left > 100000; left -= 100000)
        write_bytes(block, 100000);
    write_bytes(block, left);
    free(block);
    write_bytes(end, sizeof end - 1);
}

static long peak_kb(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void a_line_of_100_megabytes_is_refused_without_being_held(void **state)
{
    (void)state;
    write_line(100 * 1000 * 1000);
    long before = peak_kb();
    open_jsonl("{\"order\":2,\"sql\":\"SELECT 1\"}\n");
    expect_fault(1, "$", "100000000 bytes");
    expect_task(2, 2, NULL);
    expect_end();
    assert_in_range(peak_kb() - before, 0, 10000);
}

static void a_long_last_line_without_a_break_is_refused(void **state)
{
    (void)state;
    write_line(2 * 1000 * 1000);
    assert_int_equal(truncate(path, 2 * 1000 * 1000), 0);
    open_jsonl("");
    expect_fault(1, "$", "2000000 bytes");
    expect_end();
}

static void a_task_may_be_as_long_as_a_message_less_its_tags(void **state)
{
    (void)state;
    write_line(LIMIT);
    write_line(LIMIT + 1);
    write_line(MESSAGE_MAX_BYTES + 1);
    write_line(2 * 1000 * 1000);
    open_jsonl("{\"order\":2,\"sql\":\"SELECT 1\"}\n");
    expect_task(1, 1, NULL);
    assert_int_equal(task.len, LIMIT);
    expect_fault(2, "$", "at most");
    expect_fault(3, "$", "at most");
    expect_fault(4, "$", "2000000 bytes");
    expect_task(5, 2, NULL);
    expect_end();
}

static void the_topics_limit_counts_when_it_is_lower(void **state)
{
    (void)state;
    write_line(500);
    write_line(501);
    assert_int_equal(staged_open_file(path, PUBLISH_JSONL, 500, &staged, &err), RC_OK);
    expect_task(1, 1, NULL);
    expect_fault(2, "$", "501 bytes, this topic takes 500");
    expect_end();
}

static void csv_rows_become_tasks(void **state)
{
    (void)state;
    open_csv("\xef\xbb\xbf\"order\",sql,name,max_attempts,transaction,params\r\n"
             "100,\"SELECT 'a, \"\"b\"\"'\", two words ,3,false,\"[1,\"\"x\"\"]\"\r\n"
             "200,SELECT 2,,,,\r\n");
    expect_task(2, 100,
                "{\"order\":100,\"sql\":\"SELECT 'a, \\\"b\\\"'\",\"name\":\" two words \","
                "\"max_attempts\":3,\"transaction\":false,\"params\":[1,\"x\"]}");
    expect_task(3, 200, "{\"order\":200,\"sql\":\"SELECT 2\"}");
    expect_end();
}

static void csv_columns_say_when_and_whether_a_task_runs(void **state)
{
    (void)state;
    open_csv("order,sql,condition,retry_on,timeout,not_before,key\n"
             "1,SELECT 1,always,\"[\"\"all\"\",\"\"-42\"\"]\",2.5,2026-01-31T05:00:00Z,a b\n"
             "2,SELECT 1,,,,2026-01-31 05:00:00,\n");
    expect_task(2, 1,
                "{\"order\":1,\"sql\":\"SELECT "
                "1\",\"condition\":\"always\",\"retry_on\":[\"all\",\"-42\"],\"timeout\":2.5,"
                "\"not_before\":\"2026-01-31T05:00:00Z\",\"key\":\"a b\"}");
    expect_fault(3, "$.not_before", "RFC 3339");
    expect_end();
}

static void csv_lines_are_counted_across_quoted_and_empty_ones(void **state)
{
    (void)state;
    open_csv("\nsql,execution_order\n\n\"SELECT\n\n1\",10\n\nSELECT 2,x\r\n\r\n\"SELECT\r\n3\",30");
    expect_task(4, 10, "{\"sql\":\"SELECT\\n\\n1\",\"order\":10}");
    expect_fault(8, "execution_order", "integer");
    expect_task(10, 30, "{\"sql\":\"SELECT\\r\\n3\",\"order\":30}");
    expect_end();
}

static void csv_takes_carriage_returns_as_line_ends(void **state)
{
    (void)state;
    open_csv("order,sql\r1,SELECT 1\r2,SELECT 2\r");
    expect_task(2, 1, NULL);
    expect_task(3, 2, NULL);
    expect_end();
}

static void a_csv_header_needs_order_and_sql(void **state)
{
    (void)state;
    open_csv("order,name\n1,x\n");
    expect_fault(1, "sql", "\"sql\" is missing");
    expect_end();
}

static void a_csv_file_may_hold_commands_and_requests(void **state)
{
    (void)state;
    open_csv("order,sql,command,args,url,method\n1,SELECT 1,,,,\n2,,load,\"[\"\"a "
             "b\"\"]\",,\n3,,,,http://h/"
             ",PUT\n4,,,,,\n5,SELECT 1,load,,,\n");
    expect_task(2, 1, NULL);
    expect_task(3, 2, NULL);
    expect_task(4, 3, NULL);
    expect_fault(5, "$.sql", "is missing");
    expect_fault(6, "$.command", "does not belong");
    expect_end();
}

static void a_csv_header_without_order_is_refused(void **state)
{
    (void)state;
    open_csv("sql\nSELECT 1\n");
    expect_fault(1, "order", "\"order\" is missing");
    expect_end();
}

static void an_unknown_column_is_named(void **state)
{
    (void)state;
    open_csv("order,sql,colour\n1,SELECT 1,red\n");
    expect_fault(1, "colour", "\"colour\" is not known");
    assert_non_null(strstr(err.hint, "max_attempts"));
    expect_end();
}

static void a_column_may_stand_there_once(void **state)
{
    (void)state;
    open_csv("order,execution_order,sql\n1,1,SELECT 1\n");
    expect_fault(1, "execution_order", "twice");
    expect_end();
}

static void bad_csv_values_are_told_with_row_and_column(void **state)
{
    (void)state;
    static const char bytes[] = "order,sql,max_attempts,params\n"
                                ",SELECT 1,,\n"
                                "-5,SELECT 1,,\n"
                                "1.0,SELECT 1,,\n"
                                "9223372036854775808,SELECT 1,,\n"
                                "1,,,\n"
                                "1,SELECT '\xff',,\n"
                                "1,SELECT '\0',,\n"
                                "1,SELECT 1,\"3,\"\"sql\"\":\"\"x\"\"\",\n"
                                "1,SELECT 1,,[1\n"
                                "1,SELECT 1\n"
                                "1,SELECT 1,,\n";
    open_bytes(bytes, sizeof bytes - 1, PUBLISH_CSV);
    expect_fault(2, "order", "empty");
    expect_fault(3, "$.order", "between 1");
    expect_fault(4, "order", "integer");
    expect_fault(5, "order", "9223372036854775807");
    expect_fault(6, "sql", "empty");
    expect_fault(7, "sql", "0xff");
    expect_fault(8, "sql", "0x00");
    expect_fault(9, "max_attempts", "integer");
    expect_fault(10, "params", "must be a JSON array");
    expect_fault(11, "", "2 values, the header has 4 columns");
    expect_task(12, 1, NULL);
    expect_end();
}

static void a_stray_quote_ends_the_reading(void **state)
{
    (void)state;
    open_csv("order,sql\n1,SELECT 1\n2,\"SELECT\" 2\n3,SELECT 3\n");
    expect_task(2, 1, NULL);
    expect_fault(3, "", "not CSV");
    expect_end();
}

static void a_quote_that_is_never_closed_is_told_where_it_begins(void **state)
{
    (void)state;
    open_csv("order,sql\n1,\"SELECT 1\n2,SELECT 2\n");
    expect_fault(2, "", "never closed");
    expect_end();
}

static void an_endless_csv_row_is_refused_without_being_held(void **state)
{
    (void)state;
    open_csv("order,sql\n1,\"");
    write_line(30 * 1000 * 1000);
    long before = peak_kb();
    expect_fault(2, "", "longer than a message");
    expect_end();
    assert_in_range(peak_kb() - before, 0, 20000);
}

static void the_format_follows_the_files_name(void **state)
{
    (void)state;
    char csv[80];
    (void)snprintf(csv, sizeof csv, "%s.CSV", path);
    FILE *file = fopen(csv, "w");
    assert_non_null(file);
    assert_true(fputs("order,sql\n1,SELECT 1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    enum rc rc = staged_open_file(csv, PUBLISH_AUTO, LIMIT, &staged, &err);
    assert_int_equal(unlink(csv), 0);
    assert_int_equal(rc, RC_OK);
    expect_task(2, 1, "{\"order\":1,\"sql\":\"SELECT 1\"}");
    expect_end();
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    assert_int_equal(staged_open_file("/nowhere/x.jsonl", PUBLISH_AUTO, LIMIT, &staged, &err),
                     RC_REJECT);
    assert_string_equal(err.object, "/nowhere/x.jsonl");
    assert_string_equal(err.code, "ENOENT");
    assert_int_equal(staged_open_file("/tmp", PUBLISH_AUTO, LIMIT, &staged, &err), RC_REJECT);
}

static void a_slow_pipe_is_waited_for_in_slices(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(staged_open_file("-", PUBLISH_AUTO, LIMIT, &staged, &err), RC_OK);
    assert_string_equal(staged_name(staged), "stdin");
    assert_int_equal(staged_next(staged, 0, &task, &err), RC_RETRY);
    assert_int_equal(write(ends[1], "{\"order\":1,", 11), 11);
    assert_int_equal(staged_next(staged, 0, &task, &err), RC_RETRY);
    assert_int_equal(write(ends[1], "\"sql\":\"SELECT 1\"}\n{", 19), 19);
    assert_int_equal(staged_next(staged, 0, &task, &err), RC_OK);
    assert_int_equal(task.order, 1);
    assert_int_equal(staged_next(staged, 0, &task, &err), RC_RETRY);
    assert_int_equal(close(ends[1]), 0);
    expect_fault(2, "$", "byte");
    expect_end();
    char digest[33];
    int64_t bytes;
    assert_false(staged_digest(staged, digest, &bytes));
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void)close(saved);
    (void)close(ends[0]);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(lines_come_out_verbatim_with_their_numbers),
        STAGED(a_byte_order_mark_is_no_part_of_the_first_line),
        STAGED(an_order_must_be_a_positive_int64),
        STAGED(tags_are_the_producers_to_write),
        STAGED(bytes_that_are_no_text_are_refused_with_their_line),
        STAGED(an_empty_source_has_no_task),
        STAGED(a_csv_file_without_a_row_has_no_task),
        STAGED(a_line_of_100_megabytes_is_refused_without_being_held),
        STAGED(a_long_last_line_without_a_break_is_refused),
        STAGED(a_task_may_be_as_long_as_a_message_less_its_tags),
        STAGED(the_topics_limit_counts_when_it_is_lower),
        STAGED(csv_rows_become_tasks),
        STAGED(csv_columns_say_when_and_whether_a_task_runs),
        STAGED(csv_lines_are_counted_across_quoted_and_empty_ones),
        STAGED(csv_takes_carriage_returns_as_line_ends),
        STAGED(a_csv_header_needs_order_and_sql),
        STAGED(a_csv_file_may_hold_commands_and_requests),
        STAGED(a_csv_header_without_order_is_refused),
        STAGED(an_unknown_column_is_named),
        STAGED(a_column_may_stand_there_once),
        STAGED(bad_csv_values_are_told_with_row_and_column),
        STAGED(a_stray_quote_ends_the_reading),
        STAGED(a_quote_that_is_never_closed_is_told_where_it_begins),
        STAGED(an_endless_csv_row_is_refused_without_being_held),
        STAGED(the_format_follows_the_files_name),
        STAGED(a_file_that_is_not_there_is_named),
        STAGED(a_slow_pipe_is_waited_for_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

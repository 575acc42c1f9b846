/* A finite source in memory: its tasks are checked on several threads, come back as they were read,
 * and are sorted. */
#include "base/str.h"
#include "producer/batch.h"
#include "producer/checker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS (20 * CHECKER_CHUNK + 7)
#define WRONG (11 * CHECKER_CHUNK + 3)

static void a_batch_is_sorted_by_order_and_then_as_it_was_read(void **state)
{
    (void)state;
    BATCH_AUTO batch = {0};
    static const struct staged_task tasks[] = {
        {1, 200, "a", 1}, {2, 100, "b", 1}, {3, 200, "c", 1}, {4, 100, "dd", 2}, {5, 300, "e", 1}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        batch_add(&batch, &tasks[i]);
    assert_false(batch.sorted);
    batch_sort(&batch);
    STR_AUTO all = {0};
    for (size_t i = 0; i < batch.count; i++) {
        struct staged_task got = batch_task(&batch, i);
        str_format(&all, "%d=%.*s ", (int)got.order, (int)got.len, got.text);
    }
    assert_string_equal(all.data, "100=b 100=dd 200=a 200=c 300=e ");
}

static struct staged *open_empty(void)
{
    char path[] = "/tmp/batch_test.XXXXXX";
    struct staged *staged;
    struct err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(staged_open_file(path, PUBLISH_JSONL, 1000, &staged, &err), RC_OK);
    assert_int_equal(unlink(path), 0);
    return staged;
}

static void add(struct checker *checker, int number, const char *sql)
{
    char text[64];
    int len = snprintf(text, sizeof text, "{\"order\":%d,\"sql\":%s}", number + 1, sql);
    const struct staged_task task = {.line = number, .text = text, .len = (size_t)len};
    checker_add(checker, &task);
}

/** Takes the oldest chunk: its tasks are those from first on. */
static int take(struct checker *checker, int first)
{
    const struct checker_chunk *chunk = checker_oldest(checker);
    assert_non_null(chunk);
    assert_int_equal(chunk->faulty, first <= WRONG && WRONG < first + chunk->count);
    for (int i = 0; i < chunk->count; i++) {
        struct staged_task task = checker_task(chunk, i);
        assert_int_equal(task.line, first + i);
        assert_memory_equal(task.text, "{\"order\":", 9);
        if (!chunk->faulty)
            assert_int_equal(task.order, first + i + 1);
    }
    int count = chunk->count;
    checker_release(checker);
    return count;
}

static void what_is_checked_comes_back_in_order_and_a_faulty_chunk_is_marked(void **state)
{
    (void)state;
    struct staged *staged = open_empty();
    struct checker *checker = checker_open(staged);
    int taken = 0;
    for (int i = 0; i < TASKS; i++) {
        if (checker_full(checker))
            taken += take(checker, taken);
        add(checker, i, i == WRONG ? "1" : "\"SELECT 1\"");
    }
    checker_give(checker);
    while (taken < TASKS)
        taken += take(checker, taken);
    assert_null(checker_oldest(checker));
    checker_close(checker);
    staged_close(staged);
}

static void a_few_tasks_are_checked_without_waiting_for_more(void **state)
{
    (void)state;
    struct staged *staged = open_empty();
    struct checker *checker = checker_open(staged);
    assert_null(checker_oldest(checker));
    checker_give(checker);
    assert_null(checker_oldest(checker));
    for (int i = 0; i < 3; i++) {
        add(checker, i, "\"SELECT 1\"");
        checker_give(checker);
        assert_int_equal(take(checker, i), 1);
    }
    add(checker, 3, "\"SELECT 1\""); /* given up */
    checker_close(checker);
    staged_close(staged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_sorted_by_order_and_then_as_it_was_read),
        cmocka_unit_test(what_is_checked_comes_back_in_order_and_a_faulty_chunk_is_marked),
        cmocka_unit_test(a_few_tasks_are_checked_without_waiting_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

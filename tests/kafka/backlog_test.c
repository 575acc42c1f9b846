/* Many records: how fast they are read, and how much of them is in memory.
 * ctest: timed */
#include "base/memory.h"
#include "kafka/source.h"
#include "tests/kafka/reading.h"
#include "tests/support/sanitized.h"

#include <stdlib.h>

static void a_backlog_of_a_hundred_thousand_is_read_back_in_order(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "task ", COUNT);
    int64_t acked, last, begun_us = clock_boot_us();
    kafka_producer_acked(producer, &acked, &last);
    assert_int_equal(acked, COUNT);
    assert_int_equal(last, COUNT - 1);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_rc(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), RC_OK, &err);
        assert_int_equal(record.offset, i);
        kafka_record_free(&record);
    }
    read_end(&reader, reader.source, COUNT + 1);
    print_message("%d records read in %d ms\n", COUNT, (int)((clock_boot_us() - begun_us) / 1000));
    reader_close(&reader);
    kafka_producer_close(producer);
}

/* A reader of bursts finds the buffer full each time. librdkafka 2.0.2 by itself would fill it
 * again once a second. */
static void a_backlog_is_read_faster_than_one_buffer_a_second(void **state)
{
    (void)state;
    enum { BUFFER_KB = 2048, RECORDS = 24 * 1024 }; /* of 1 KB: twelve buffers */
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    char value[1025];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    assert_ok(kafka_begin(producer, &err), &err);
    for (int i = 0; i < RECORDS; i++)
        publish(producer, topic, value);
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    kafka_producer_close(producer);
    struct reader reader = reader_open_with(topic, "queued.max.messages.kbytes", "2048");
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    int64_t from_us = clock_boot_us();
    for (int i = 0; i < RECORDS; i++) {
        assert_int_equal(read_value(&reader, reader.source, value), i);
        if (i % BUFFER_KB == 0)
            (void)poll(NULL, 0, 100); /* at work, while librdkafka fills its buffer */
    }
    int64_t took_us = clock_boot_us() - from_us;
    const char *times = getenv("LOCKSTEP_TEST_PATIENCE"); /* with a sanitizer */
    int patience = times != NULL ? atoi(times) : 1;
    reader_close(&reader);
    printf("%d MB in %.1f s through a buffer of %d MB\n", RECORDS / 1024, (double)took_us / 1e6,
           BUFFER_KB / 1024);
    assert_true(took_us < RECORDS / BUFFER_KB * 1000000LL / 3 * patience);
}

/* The most that was resident since the last call. */
static int64_t peak_kb(void)
{
    char line[128];
    long long kb = -1;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %lld", &kb) == 1)
            break;
    (void)fclose(file);
    assert_true(kb > 0);
    file = fopen("/proc/self/clear_refs", "w");
    assert_non_null(file);
    assert_true(fputs("5", file) >= 0);
    assert_int_equal(fclose(file), 0);
    return kb;
}

/* librdkafka counts values only. */
static void what_is_read_ahead_is_bounded_whatever_the_keys_are(void **state)
{
    (void)state;
    enum { KEY = 900 * 1000, RECORDS = 300 };
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    char *key = xmalloc(KEY);
    memset(key, 'k', KEY);
    assert_ok(kafka_begin(producer, &err), &err);
    for (int i = 0; i < RECORDS; i++)
        assert_ok(kafka_publish(producer, topic, 0, key, KEY, "v", 1, NULL, &err), &err);
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    kafka_producer_close(producer);
    free(key);
    (void)peak_kb();
    int64_t before_kb = peak_kb();
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int i = 0; i < RECORDS; i++) {
        assert_rc(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), RC_OK, &err);
        assert_int_equal(record.key_len, KEY);
        kafka_record_free(&record);
        if (i == 0)
            (void)poll(NULL, 0, 500); /* at work, while librdkafka reads ahead */
    }
    int64_t grown_mb = (peak_kb() - before_kb) / 1024;
    reader_close(&reader);
    printf("%d MB of keys were read with %lld MB more\n", KEY / 1000 * RECORDS / 1000,
           (long long)grown_mb);
    assert_true(SANITIZED || grown_mb < KEY / 1000 * RECORDS / 1000 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First, because memory that other tests have freed could be used again. */
        cmocka_unit_test(what_is_read_ahead_is_bounded_whatever_the_keys_are),
        cmocka_unit_test(a_backlog_of_a_hundred_thousand_is_read_back_in_order),
        cmocka_unit_test(a_backlog_is_read_faster_than_one_buffer_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

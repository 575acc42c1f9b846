#include "kafka/record.h"
#include "kafka/source.h"
#include "tests/kafka/reading.h"

#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void a_traceparent_that_is_none_is_left_out(void **state)
{
    (void)state;
    static const char *const values[] = {"",
                                         "00-\xff\xfe",
                                         "00-x\r\nHost: evil.example",
                                         TRACE "-",
                                         "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                         "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                         "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                         "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                                         "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                         TRACE};
    enum { COUNT = sizeof values / sizeof *values };
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(NULL);
    for (int i = 0; i < COUNT; i++) {
        const struct kafka_header headers[] = {{"traceparent", values[i], strlen(values[i])}, {0}};
        assert_ok(kafka_publish(producer, topic, 0, NULL, 0, "v", 1, headers, &err), &err);
    }
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        assert_ok(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), &err);
        assert_int_equal(record.traceparent != NULL, i == COUNT - 1);
        kafka_record_free(&record);
    }
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void a_record_arrives_with_key_headers_and_time_or_as_a_tombstone(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    const struct kafka_header headers[] = {
        {"other", "x", 1}, {"traceparent", TRACE, TRACEPARENT_LEN}, {0}};
    struct kafka_producer *producer = writer_open(NULL);
    assert_ok(kafka_publish(producer, topic, 0, "k", 1, "v\0w", 3, headers, &err), &err);
    assert_ok(kafka_publish(producer, topic, 0, "k", 1, NULL, 0, NULL, &err), &err);
    assert_ok(kafka_publish(producer, topic, 0, NULL, 0, "", 0, NULL, &err), &err);
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    assert_ok(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), &err);
    assert_int_equal(record.value_len, 3);
    assert_memory_equal(record.value, "v\0w", 3);
    assert_int_equal(record.key_len, 1);
    assert_string_equal(record.traceparent, TRACE);
    assert_true(record.timestamp_ms > clock_wall_us() / 1000 - 600000);
    kafka_record_free(&record);
    assert_ok(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), &err);
    assert_null(record.value);
    assert_null(record.traceparent);
    kafka_record_free(&record);
    assert_ok(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), &err);
    assert_non_null(record.value);
    assert_int_equal(record.value_len, 0);
    assert_null(record.key);
    kafka_record_free(&record);
    reader_close(&reader);
    kafka_producer_close(producer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_that_is_none_is_left_out),
        cmocka_unit_test(a_record_arrives_with_key_headers_and_time_or_as_a_tombstone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

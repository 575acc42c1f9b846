/* ctest: timeout=120 long */
#include "kafka/source.h"
#include "tests/kafka/reading.h"

#include <stdlib.h>
#include <time.h>

static void a_second_producer_with_the_same_id_fences_the_first(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic(), *id = support_name("tx");
    struct kafka_producer *first = writer_open(id);
    assert_ok(kafka_begin(first, &err), &err);
    publish(first, topic, "of the first");
    assert_ok(kafka_flush(first, WAIT_MS, &err), &err);
    struct kafka_producer *second = writer_open(id);
    assert_rc(kafka_commit(first, WAIT_MS, &err), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_HELD);
    assert_true(err.hint[0] != '\0');
    assert_rc(kafka_begin(first, &err), RC_LOST, &err);
    assert_rc(kafka_publish(first, topic, 0, NULL, 0, "x", 1, NULL, &err), RC_LOST, &err);
    write_run(second, topic, "second", 1);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    (void)read_value(&reader, reader.source,
                     "second0"); /* the first one's transaction was aborted */
    reader_close(&reader);
    kafka_producer_close(first);
    kafka_producer_close(second);
}

static void a_record_beyond_the_local_limit_is_rejected_and_the_transaction_goes_on(void **state)
{
    (void)state;
    struct err err;
    const size_t len = 2000000;
    const char *topic = support_topic();
    char *large = calloc(1, len);
    struct kafka_producer *producer = writer_open(support_name("tx"));
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "before");
    assert_rc(kafka_publish(producer, topic, 0, NULL, 0, large, len, NULL, &err), RC_REJECT, &err);
    assert_string_equal(err.code, "MSG_SIZE_TOO_LARGE");
    publish(producer, topic, "after");
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    (void)read_value(&reader, reader.source, "before");
    (void)read_value(&reader, reader.source, "after");
    reader_close(&reader);
    kafka_producer_close(producer);
    free(large);
}

static void
a_record_whose_time_is_far_ahead_is_refused_and_the_error_does_not_quote_it(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic(), *id = support_name("tx");
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    struct kafka_producer *producer = writer_open(id);
    kafka_producer_time(producer, now_ms + 2 * 3600 * 1000LL);
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "secret");
    assert_rc(kafka_commit(producer, WAIT_MS, &err), RC_FATAL, &err);
    assert_string_equal(err.code, "INVALID_TIMESTAMP");
    assert_string_equal(err.object, topic);
    assert_null(strstr(err.message, "secret"));
    assert_non_null(strstr(err.hint, "message.timestamp.after.max.ms"));
    kafka_producer_close(producer);
    producer = writer_open(id);
    kafka_producer_time(producer, now_ms);
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "now");
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    struct kafka_record record;
    assert_rc(await_source(&reader, reader.source, false, WAIT_MS, &record, &err), RC_OK, &err);
    assert_memory_equal(record.value, "now", record.value_len);
    assert_int_equal(record.timestamp_ms, now_ms);
    kafka_record_free(&record);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void
a_record_the_broker_refuses_fails_the_transaction_and_a_new_producer_goes_on(void **state)
{
    (void)state;
    struct err err;
    const size_t len = 2000000; /* the broker's default limit is 1 MiB */
    const char *topic = support_topic(), *id = support_name("tx");
    char *large = calloc(1, len);
    struct kafka_properties props;
    struct kafka_producer *producer;
    support_properties(&props);
    assert_ok(kafka_properties_set(&props, "message.max.bytes", "4000000", &err), &err);
    assert_ok(kafka_producer_open(&props, id, WAIT_MS, &producer, &err), &err);
    assert_ok(kafka_begin(producer, &err), &err);
    assert_ok(kafka_publish(producer, topic, 0, NULL, 0, large, len, NULL, &err), &err);
    assert_rc(kafka_commit(producer, WAIT_MS, &err), RC_REJECT, &err);
    assert_string_equal(err.code, "MSG_SIZE_TOO_LARGE");
    assert_rc(kafka_publish(producer, topic, 0, NULL, 0, "x", 1, NULL, &err), RC_RETRY, &err);
    assert_string_equal(err.code, "MSG_SIZE_TOO_LARGE");
    assert_ok(kafka_abort(producer, WAIT_MS, &err), &err);
    assert_rc(kafka_begin(producer, &err), RC_REJECT, &err);
    kafka_producer_close(producer);
    producer = writer_open(id);
    write_run(producer, topic, "again", 1);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    (void)read_value(&reader, reader.source, "again0");
    reader_close(&reader);
    kafka_producer_close(producer);
    kafka_properties_done(&props);
    free(large);
}

static void closing_aborts_what_is_open(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "open");
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err);
    kafka_producer_close(producer);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    struct kafka_record record;
    assert_rc(await_source(&reader, reader.source, true, WAIT_MS, &record, &err), RC_NONE, &err);
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
    while (kafka_source_end(reader.source) < 2 &&
           clock_boot_us() < until_us) /* the abort marker arrives */
        assert_rc(await_source(&reader, reader.source, false, 100, &record, &err), RC_NONE, &err);
    assert_int_equal(kafka_source_end(reader.source), 2);
    reader_close(&reader);
}

static void a_partition_that_does_not_exist_fails_the_delivery(void **state)
{
    (void)state;
    struct err err;
    const struct kafka_header headers[] = {{"traceparent", "00", 2}, {0}};
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(NULL);
    publish(producer, topic, "known now"); /* an unknown topic would be waited for */
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err);
    enum rc rc = kafka_publish(producer, topic, 7, NULL, 0, "x", 1, headers, &err);
    if (rc == RC_OK)
        rc = kafka_flush(producer, WAIT_MS, &err);
    assert_true(rc != RC_OK);
    assert_string_equal(err.code, "_UNKNOWN_PARTITION");
    int64_t acked, last;
    kafka_producer_acked(producer, &acked, &last);
    assert_int_equal(acked, 1);
    assert_int_equal(last, 0);
    kafka_producer_close(producer);
}

static struct kafka_producer *writer_with_room_for_50(void)
{
    struct err err;
    struct kafka_properties props;
    struct kafka_producer *producer;
    support_properties(&props);
    assert_ok(kafka_properties_set(&props, "queue.buffering.max.messages", "50", &err), &err);
    assert_ok(kafka_producer_open(&props, support_name("tx"), WAIT_MS, &producer, &err), &err);
    kafka_properties_done(&props);
    return producer;
}

static void a_full_local_queue_is_waited_for(void **state)
{
    (void)state;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_with_room_for_50();
    write_run(producer, topic, "n", 2000);
    int64_t acked, last;
    kafka_producer_acked(producer, &acked, &last);
    assert_int_equal(acked, 2000);
    assert_int_equal(last, 1999);
    kafka_producer_close(producer);
}

/** So many of them from first on, in one call. */
static enum rc publish_numbers(struct kafka_producer *producer, const char *topic, int first,
                               struct err *err)
{
    char texts[KAFKA_MOST_VALUES][16];
    struct kafka_value values[KAFKA_MOST_VALUES];
    for (int i = 0; i < KAFKA_MOST_VALUES; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%d", first + i);
        values[i] = (struct kafka_value){texts[i], strlen(texts[i])};
    }
    return kafka_publish_values(producer, topic, 0, values, KAFKA_MOST_VALUES, err);
}

static void many_values_keep_their_order_when_the_local_queue_is_full(void **state)
{
    (void)state;
    enum { COUNT = 40 * KAFKA_MOST_VALUES };
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_with_room_for_50();
    assert_ok(kafka_begin(producer, &err), &err);
    for (int i = 0; i < COUNT; i += KAFKA_MOST_VALUES)
        assert_ok(publish_numbers(producer, topic, i, &err), &err);
    publish(producer, topic, "one by itself");
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        char value[16];
        (void)snprintf(value, sizeof value, "%d", i);
        assert_int_equal(read_value(&reader, reader.source, value), i);
    }
    (void)read_value(&reader, reader.source, "one by itself");
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void a_value_beyond_the_local_limit_is_told_of(void **state)
{
    (void)state;
    struct err err;
    const size_t len = 2000000;
    char *large = calloc(1, len), small[] = "small";
    const struct kafka_value values[] = {{small, 5}, {large, len}, {small, 5}};
    struct kafka_producer *producer = writer_open(support_name("tx"));
    assert_ok(kafka_begin(producer, &err), &err);
    assert_rc(kafka_publish_values(producer, support_topic(), 0, values, 3, &err), RC_REJECT, &err);
    assert_string_equal(err.code, "MSG_SIZE_TOO_LARGE");
    assert_ok(kafka_abort(producer, WAIT_MS, &err), &err);
    kafka_producer_close(producer);
    free(large);
}

static void many_small_transactions_keep_their_order(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    for (int i = 0; i < COUNT; i++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "%d.", i);
        write_run(producer, topic, prefix, 2);
    }
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        char value[32];
        for (int k = 0; k < 2; k++) {
            (void)snprintf(value, sizeof value, "%d.%d", i, k);
            assert_int_equal(read_value(&reader, reader.source, value), i * 3 + k);
        }
    }
    reader_close(&reader);
    kafka_producer_close(producer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_producer_with_the_same_id_fences_the_first),
        cmocka_unit_test(a_record_beyond_the_local_limit_is_rejected_and_the_transaction_goes_on),
        cmocka_unit_test(
            a_record_the_broker_refuses_fails_the_transaction_and_a_new_producer_goes_on),
        cmocka_unit_test(
            a_record_whose_time_is_far_ahead_is_refused_and_the_error_does_not_quote_it),
        cmocka_unit_test(closing_aborts_what_is_open),
        cmocka_unit_test(a_partition_that_does_not_exist_fails_the_delivery),
        cmocka_unit_test(a_full_local_queue_is_waited_for),
        cmocka_unit_test(many_values_keep_their_order_when_the_local_queue_is_full),
        cmocka_unit_test(a_value_beyond_the_local_limit_is_told_of),
        cmocka_unit_test(many_small_transactions_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

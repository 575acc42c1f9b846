/* ctest: long */
#include "kafka/source.h"
#include "tests/kafka/reading.h"

#include <librdkafka/rdkafka.h>

static void reading_starts_at_the_assigned_offset(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 5);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 3, &err), &err);
    assert_int_equal(read_value(&reader, reader.source, "a3"), 3);
    assert_int_equal(read_value(&reader, reader.source, "a4"), 4);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void commit_markers_are_gaps_and_the_end_lies_behind_them(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 2); /* 0 1, marker 2 */
    write_run(producer, topic, "b", 2); /* 3 4, marker 5 */
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 1, &err), &err);
    assert_int_equal(read_value(&reader, reader.source, "a1"), 1);
    assert_int_equal(kafka_source_end(reader.source), -1);
    assert_int_equal(read_value(&reader, reader.source, "b0"), 3);
    assert_int_equal(read_value(&reader, reader.source, "b1"), 4);
    read_end(&reader, reader.source, 6);
    int64_t low, high;
    kafka_source_watermarks(reader.source, &low, &high);
    assert_int_equal(high, 6);
    /* an offset that is a marker is a good place to start */
    assert_ok(kafka_source_assign(reader.source, 2, &err), &err);
    assert_int_equal(kafka_source_end(reader.source), -1);
    assert_int_equal(read_value(&reader, reader.source, "b0"), 3);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void the_end_is_unknown_again_after_a_new_record(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_end(&reader, reader.source, 0);
    write_run(producer, topic, "a", 1);
    (void)read_value(&reader, reader.source, "a0");
    assert_int_equal(kafka_source_end(reader.source), -1);
    read_end(&reader, reader.source, 2);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void an_aborted_transaction_is_never_seen(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "never");
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err); /* it is on the broker now */
    assert_ok(kafka_abort(producer, WAIT_MS, &err), &err);
    write_run(producer, topic, "a", 1);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    assert_int_equal(read_value(&reader, reader.source, "a0"), 2);
    read_end(&reader, reader.source, 4);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void an_open_transaction_keeps_the_end_below_the_high_watermark(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    assert_ok(kafka_begin(producer, &err), &err);
    publish(producer, topic, "open");
    assert_ok(kafka_flush(producer, WAIT_MS, &err), &err);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_end(&reader, reader.source, 0);
    int64_t low, high;
    kafka_source_watermarks(reader.source, &low, &high);
    assert_int_equal(high, 1);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void read_out_of_range(struct reader *reader)
{
    struct kafka_record record;
    struct err err;
    assert_rc(await_source(reader, reader->source, false, WAIT_MS, &record, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_KAFKA);
    assert_string_equal(err.code, "_AUTO_OFFSET_RESET");
    assert_true(err.hint[0] != '\0');
}

/* Removes what lies below offset, as retention would. */
static void cut_log(const char *topic, int64_t offset)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(
        rd_kafka_conf_set(conf, "bootstrap.servers", support_brokers(), text, sizeof text),
        RD_KAFKA_CONF_OK);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(rk);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = offset;
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(rk, &request, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(rk);
}

static void a_position_below_the_log_is_told_until_it_is_assigned_again(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 6);
    cut_log(topic, 4);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 1, &err), &err);
    read_out_of_range(&reader);
    write_run(producer, topic, "b", 1);
    assert_rc(kafka_source_poll(reader.source, &record, &err), RC_FATAL, &err);
    assert_ok(kafka_source_assign(reader.source, 4, &err), &err);
    assert_int_equal(read_value(&reader, reader.source, "a4"), 4);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void
a_position_above_the_log_is_told_and_nothing_is_read_even_when_the_log_grows(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 2);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 10, &err), &err);
    read_out_of_range(&reader);
    write_run(producer, topic, "b", 12);
    assert_rc(kafka_source_poll(reader.source, &record, &err), RC_FATAL, &err);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    assert_int_equal(read_value(&reader, reader.source, "a0"), 0);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void two_sources_of_one_consumer_are_independent(void **state)
{
    (void)state;
    struct err err;
    const char *one = support_topic(), *two = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, one, "a", 3);
    write_run(producer, two, "b", 3);
    struct reader reader = reader_open(one);
    struct kafka_source *other = NULL;
    assert_ok(kafka_source_open(reader.consumer, two, 0, &other, &err), &err);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    assert_ok(kafka_source_assign(other, 1, &err), &err);
    (void)read_value(&reader, other, "b1"); /* the first one is not read meanwhile */
    (void)read_value(&reader, reader.source, "a0");
    assert_ok(kafka_source_assign(other, 900, &err), &err);
    struct kafka_record record;
    assert_rc(await_source(&reader, other, false, WAIT_MS, &record, &err), RC_FATAL, &err);
    (void)read_value(&reader, reader.source, "a1"); /* trouble of one is not the other's */
    assert_ok(kafka_source_assign(other, 0, &err), &err);
    (void)read_value(&reader, other, "b0");
    kafka_source_close(other);
    (void)read_value(&reader, reader.source, "a2");
    assert_ok(kafka_source_open(reader.consumer, two, 0, &other, &err), &err);
    assert_ok(kafka_source_assign(other, 2, &err), &err);
    (void)read_value(&reader, other, "b2"); /* opened again on the same consumer */
    kafka_source_close(other);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void assigning_again_drops_what_was_buffered(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 1000);
    struct reader reader = reader_open(topic);
    for (int round = 0; round < 50; round++) {
        char back[16], on[16];
        (void)snprintf(back, sizeof back, "a%d", round);
        (void)snprintf(on, sizeof on, "a%d", round + 1);
        assert_ok(kafka_source_assign(reader.source, 500, &err), &err);
        (void)read_value(&reader, reader.source, "a500"); /* 501... are buffered or on their way */
        assert_ok(kafka_source_assign(reader.source, round, &err), &err);
        assert_int_equal(read_value(&reader, reader.source, back), round);
        assert_int_equal(read_value(&reader, reader.source, on), round + 1);
    }
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void the_eventfd_is_signalled_when_a_record_arrives(void **state)
{
    (void)state;
    struct err err;
    uint64_t count;
    struct kafka_record record;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_end(&reader, reader.source, 0);
    (void)!read(reader.fd, &count, sizeof count);
    struct pollfd wake = {.fd = reader.fd, .events = POLLIN};
    assert_int_equal(poll(&wake, 1, 0), 0);
    write_run(producer, topic, "a", 1);
    assert_int_equal(poll(&wake, 1, WAIT_MS), 1);
    assert_int_equal(read(reader.fd, &count, sizeof count), sizeof count);
    assert_ok(kafka_source_poll(reader.source, &record, &err), &err);
    kafka_record_free(&record);
    reader_close(&reader);
    kafka_producer_close(producer);
}

/* Until the consumer itself has the topic in its metadata: a source whose topic is still missing
 * would take it for deleted. */
static void await_topic(struct reader *reader, const char *topic)
{
    struct err err;
    int partitions = 0;
    for (int64_t until_us = 0; partitions != 1 && support_again(&until_us);)
        if (kafka_consumer_partitions(reader->consumer, topic, WAIT_MS, &partitions, &err) != RC_OK)
            partitions = 0;
    assert_int_equal(partitions, 1);
}

static void a_deleted_topic_is_told_and_can_be_assigned_again_when_it_is_back(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    struct kafka_admin *admin;
    const char *topic = support_topic();
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 1);
    struct reader reader = reader_open(topic);
    kafka_source_close(reader.source);
    kafka_consumer_close(reader.consumer);
    /* six times this is how long an unknown topic is taken for a hiccup */
    assert_ok(kafka_properties_set(&reader.props, "topic.metadata.propagation.max.ms", "500", &err),
              &err);
    assert_ok(
        kafka_properties_set(&reader.props, "topic.metadata.refresh.interval.ms", "200", &err),
        &err);
    assert_ok(kafka_consumer_open(&reader.props, reader.fd, &reader.consumer, &err), &err);
    assert_ok(kafka_source_open(reader.consumer, topic, 0, &reader.source, &err), &err);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    (void)read_value(&reader, reader.source, "a0");
    read_end(&reader, reader.source, 2);
    assert_ok(kafka_admin_open(&reader.props, &admin, &err), &err);
    assert_ok(kafka_topic_delete(admin, topic, WAIT_MS, &err), &err);
    enum rc rc = RC_NONE;
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
    while (rc == RC_NONE && clock_boot_us() < until_us)
        rc = await_source(&reader, reader.source, false, 100, &record, &err);
    assert_rc(rc, RC_FATAL, &err);
    assert_string_equal(err.code, "UNKNOWN_TOPIC_OR_PART");
    assert_ok(kafka_topic_create(admin, topic, 1, 1, WAIT_MS, &err), &err);
    await_topic(&reader, topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_end(&reader, reader.source, 0); /* and the source works again when the topic is back */
    kafka_producer_close(producer);
    producer = writer_open(support_name("tx"));
    write_run(producer, topic, "b", 1);
    assert_int_equal(read_value(&reader, reader.source, "b0"), 0);
    kafka_admin_close(admin);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static void a_consumer_closes_although_its_topic_was_deleted(void **state)
{
    (void)state;
    struct err err;
    struct kafka_admin *admin;
    const char *topic = support_topic();
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_end(&reader, reader.source, 0);
    assert_ok(kafka_admin_open(&reader.props, &admin, &err), &err);
    assert_ok(kafka_topic_delete(admin, topic, WAIT_MS, &err), &err);
    kafka_admin_close(admin);
    reader_close(&reader); /* 2.0.2 can hang here in rd_kafka_consumer_close */
}

static void the_cluster_id_is_known(void **state)
{
    (void)state;
    const char *topic = support_topic();
    struct reader reader = reader_open(topic);
    int partitions;
    struct err err;
    assert_int_equal(kafka_consumer_partitions(reader.consumer, topic, WAIT_MS, &partitions, &err),
                     RC_OK);
    const char *id = kafka_consumer_cluster_id(reader.consumer);
    assert_true(id[0] != '\0');
    assert_ptr_equal(id, kafka_consumer_cluster_id(reader.consumer));
    reader_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_starts_at_the_assigned_offset),
        cmocka_unit_test(commit_markers_are_gaps_and_the_end_lies_behind_them),
        cmocka_unit_test(the_end_is_unknown_again_after_a_new_record),
        cmocka_unit_test(an_aborted_transaction_is_never_seen),
        cmocka_unit_test(an_open_transaction_keeps_the_end_below_the_high_watermark),
        cmocka_unit_test(a_position_below_the_log_is_told_until_it_is_assigned_again),
        cmocka_unit_test(
            a_position_above_the_log_is_told_and_nothing_is_read_even_when_the_log_grows),
        cmocka_unit_test(two_sources_of_one_consumer_are_independent),
        cmocka_unit_test(assigning_again_drops_what_was_buffered),
        cmocka_unit_test(the_eventfd_is_signalled_when_a_record_arrives),
        cmocka_unit_test(a_deleted_topic_is_told_and_can_be_assigned_again_when_it_is_back),
        cmocka_unit_test(a_consumer_closes_although_its_topic_was_deleted),
        cmocka_unit_test(the_cluster_id_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

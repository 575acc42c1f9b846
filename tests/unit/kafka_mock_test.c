/* ctest: timeout=120 long */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/mock.h"
#include "kafka/producer.h"
#include "kafka/source.h"
#include "tests/support/rc.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 20000

static void ok(enum rc rc, const struct err *err)
{
    if (rc != RC_OK)
        fail_msg("%s: %s %s: %s (%s)", rc_name(rc), err->code, err->object, err->message,
                 err->detail);
}

static struct kafka_properties properties_of(const char *brokers)
{
    struct kafka_properties props = {0};
    struct err err;
    ok(kafka_properties_set(&props, "bootstrap.servers", brokers, &err), &err);
    ok(kafka_properties_set(&props, "max.in.flight", "1", &err),
       &err); /* the mock checks no sequence numbers */
    return props;
}

static struct kafka_mock *mock_open(const char *topic)
{
    struct kafka_mock *mock = NULL;
    struct err err;
    ok(kafka_mock_open(&mock, &err), &err);
    ok(kafka_mock_topic(mock, topic, 1, &err), &err);
    return mock;
}

static enum rc await(struct kafka_consumer *consumer, struct kafka_source *source, int fd,
                     struct kafka_record *ret_record, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
    for (;;) {
        uint64_t count;
        enum rc rc = kafka_source_poll(source, ret_record, err);
        if (rc != RC_NONE || clock_boot_us() > until_us)
            return rc;
        struct pollfd wake = {.fd = fd, .events = POLLIN};
        (void)poll(&wake, 1, 1000);
        (void)!read(fd, &count, sizeof count);
        kafka_consumer_serve(consumer);
    }
}

/* Publishes two records in a transaction and reads them back. */
static void publish_and_read(const char *brokers, const char *topic)
{
    struct err err;
    struct kafka_record record;
    struct kafka_properties props = properties_of(brokers);
    struct kafka_producer *producer;
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    int fd = eventfd(0, EFD_NONBLOCK);
    ok(kafka_producer_open(&props, "lockstep.q", WAIT_MS, &producer, &err), &err);
    ok(kafka_begin(producer, &err), &err);
    ok(kafka_publish(producer, topic, 0, NULL, 0, "one", 3, NULL, &err), &err);
    ok(kafka_publish(producer, topic, 0, NULL, 0, "two", 3, NULL, &err), &err);
    ok(kafka_commit(producer, WAIT_MS, &err), &err);
    ok(kafka_consumer_open(&props, fd, &consumer, &err), &err);
    ok(kafka_source_open(consumer, topic, 0, &source, &err), &err);
    ok(kafka_source_assign(source, 0, &err), &err);
    for (int i = 0; i < 2; i++) {
        ok(await(consumer, source, fd, &record, &err), &err);
        assert_int_equal(record.offset, i);
        assert_memory_equal(record.value, i == 0 ? "one" : "two", 3);
        kafka_record_free(&record);
    }
    kafka_source_close(source);
    kafka_consumer_close(consumer);
    kafka_producer_close(producer);
    kafka_properties_done(&props);
    close(fd);
}

static void a_transaction_goes_through_the_mock(void **state)
{
    (void)state;
    struct kafka_mock *mock = mock_open("t");
    publish_and_read(kafka_mock_brokers(mock), "t");
    kafka_mock_close(mock);
}

/* In the child: never returns. */
static void be_the_broker(int to_parent, int from_parent)
{
    struct kafka_mock *mock = NULL;
    struct err err;
    char byte;
    if (kafka_mock_open(&mock, &err) != RC_OK || kafka_mock_topic(mock, "t", 1, &err) != RC_OK)
        _exit(1);
    (void)!write(to_parent, kafka_mock_brokers(mock), strlen(kafka_mock_brokers(mock)));
    (void)close(to_parent);
    (void)!read(from_parent, &byte, 1); /* until the parent closes its end */
    kafka_mock_close(mock);
    _exit(0);
}

static void another_process_serves_as_the_broker(void **state)
{
    (void)state;
    int up[2], down[2], status;
    char brokers[64] = "";
    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(up[0]);
        (void)close(down[1]);
        be_the_broker(up[1], down[0]);
    }
    (void)close(up[1]);
    (void)close(down[0]);
    assert_true(read(up[0], brokers, sizeof brokers - 1) > 0);
    publish_and_read(brokers, "t");
    (void)close(down[1]);
    (void)close(up[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void the_mock_describes_a_topic_as_far_as_it_knows(void **state)
{
    (void)state;
    struct err err;
    struct kafka_topic_info info;
    struct kafka_admin *admin;
    int64_t low, high;
    struct kafka_mock *mock = mock_open("t");
    struct kafka_properties props = properties_of(kafka_mock_brokers(mock));
    assert_int_equal(kafka_mock_topic(mock, "t", 1, &err), RC_NONE);
    ok(kafka_admin_open(&props, &admin, &err), &err);
    ok(kafka_topic_describe(admin, "t", WAIT_MS, &info, &err), &err);
    assert_int_equal(info.partitions, 1);
    assert_string_equal(info.cleanup_policy, "");
    assert_int_equal(info.max_message_bytes, -1);
    assert_int_equal(kafka_topic_describe(admin, "unknown", WAIT_MS, &info, &err), RC_NONE);
    assert_int_equal(kafka_topic_describe(admin, "unknown", WAIT_MS, &info, &err),
                     RC_NONE); /* not made by looking */
    assert_int_equal(kafka_topic_create(admin, "new", 1, 1, 2000, &err), RC_FATAL);
    ok(kafka_watermarks(admin, "t", 0, WAIT_MS, &low, &high, &err), &err);
    assert_int_equal(high, 0);
    kafka_admin_close(admin);
    kafka_properties_done(&props);
    kafka_mock_close(mock);
}

/* A port on which no server listens: bound, so that no other process takes it, and never listening.
 * */
static int closed_port(char brokers[32])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(brokers, 32, "127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static void expect_down(enum rc rc, const struct err *err, const char *brokers, int64_t begun_us)
{
    assert_int_equal(rc, RC_LOST);
    assert_int_equal(err->kind, ERR_KAFKA_DOWN);
    assert_non_null(strstr(err->message, brokers));
    assert_non_null(strstr(err->detail, "refused"));
    assert_true(err->hint[0] != '\0');
    assert_true(clock_boot_us() - begun_us < 5000000);
}

static void a_broker_that_is_not_there_is_told_in_time(void **state)
{
    (void)state;
    struct err err;
    char brokers[32];
    int64_t low, high, begun_us = clock_boot_us();
    struct kafka_topic_info info;
    struct kafka_admin *admin;
    struct kafka_producer *producer = NULL;
    int fd = closed_port(brokers);
    struct kafka_properties props = properties_of(brokers);
    ok(kafka_admin_open(&props, &admin, &err), &err);
    expect_down(kafka_topic_describe(admin, "t", 1500, &info, &err), &err, brokers, begun_us);
    begun_us = clock_boot_us();
    expect_down(kafka_watermarks(admin, "t", 0, 1500, &low, &high, &err), &err, brokers, begun_us);
    begun_us = clock_boot_us();
    expect_down(kafka_topic_create(admin, "t", 1, 1, 1500, &err), &err, brokers, begun_us);
    begun_us = clock_boot_us();
    expect_down(kafka_topic_delete(admin, "t", 1500, &err), &err, brokers, begun_us);
    kafka_admin_close(admin);
    begun_us = clock_boot_us();
    expect_down(kafka_producer_open(&props, "tx", 1500, &producer, &err), &err, brokers, begun_us);
    begun_us = clock_boot_us();
    expect_down(kafka_producer_open(&props, NULL, 1500, &producer, &err), &err, brokers, begun_us);
    assert_null(producer);
    kafka_properties_done(&props);
    close(fd);
}

/* A producer that has sent "one" to the topic "t", and a consumer that has read it. */
struct reading {
    struct kafka_properties props;
    struct kafka_producer *producer;
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    int fd;
};

static void reading_open(struct reading *reading, struct kafka_properties props)
{
    struct err err;
    struct kafka_record record;
    *reading = (struct reading){.props = props, .fd = eventfd(0, EFD_NONBLOCK)};
    ok(kafka_producer_open(&reading->props, NULL, WAIT_MS, &reading->producer, &err), &err);
    ok(kafka_publish(reading->producer, "t", 0, NULL, 0, "one", 3, NULL, &err), &err);
    ok(kafka_flush(reading->producer, WAIT_MS, &err), &err);
    ok(kafka_consumer_open(&reading->props, reading->fd, &reading->consumer, &err), &err);
    ok(kafka_source_open(reading->consumer, "t", 0, &reading->source, &err), &err);
    ok(kafka_source_assign(reading->source, 0, &err), &err);
    ok(await(reading->consumer, reading->source, reading->fd, &record, &err), &err);
    kafka_record_free(&record);
}

static void reading_close(struct reading *reading)
{
    kafka_source_close(reading->source);
    kafka_consumer_close(reading->consumer);
    kafka_producer_close(reading->producer);
    kafka_properties_done(&reading->props);
    close(reading->fd);
}

static void a_broker_outage_is_waited_out(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    struct reading r;
    struct kafka_mock *mock = mock_open("t");
    reading_open(&r, properties_of(kafka_mock_brokers(mock)));
    ok(kafka_mock_reachable(mock, false, &err), &err);
    ok(kafka_publish(r.producer, "t", 0, NULL, 0, "two", 3, NULL, &err), &err);
    enum rc rc = kafka_flush(r.producer, 1500, &err);
    assert_true(rc == RC_LOST || rc == RC_RETRY);
    assert_int_equal(kafka_source_poll(r.source, &record, &err), RC_NONE);
    ok(kafka_mock_reachable(mock, true, &err), &err);
    ok(kafka_flush(r.producer, WAIT_MS, &err), &err);
    ok(await(r.consumer, r.source, r.fd, &record, &err), &err);
    assert_memory_equal(record.value, "two", 3);
    kafka_record_free(&record);
    reading_close(&r);
    kafka_mock_close(mock);
}

enum {
    API_FETCH = 1,
    API_INIT_PRODUCER_ID = 22,
    API_END_TXN = 26,
    CONNECTION_CUT = -195,
    COORDINATOR_NOT_AVAILABLE = 15,
    PRODUCER_FENCED = 90
};

/* The mock names itself by its address, so the connection to localhost is another one. It stays,
 * and librdkafka reports no outage. */
static void records_of_a_new_connection_come_behind_a_cut(void **state)
{
    (void)state;
    struct err err;
    struct kafka_record record;
    struct reading r;
    char brokers[32];
    struct kafka_mock *mock = mock_open("t");
    (void)snprintf(brokers, sizeof brokers, "localhost%s", strchr(kafka_mock_brokers(mock), ':'));
    struct kafka_properties props = properties_of(brokers);
    ok(kafka_properties_set(&props, "broker.address.family", "v4", &err), &err);
    reading_open(&r, props);
    assert_false(kafka_source_cut(r.source));
    ok(kafka_mock_inject(mock, API_FETCH, 1, CONNECTION_CUT, &err), &err);
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
    while (!kafka_source_cut(r.source) && clock_boot_us() < until_us)
        (void)poll(NULL, 0, 20);
    assert_true(kafka_source_cut(r.source));
    for (int i = 0; i < 2; i++) {
        ok(kafka_source_assign(r.source, 0, &err), &err);
        ok(await(r.consumer, r.source, r.fd, &record, &err), &err);
        assert_memory_equal(record.value, "one", 3);
        kafka_record_free(&record);
        assert_false(kafka_source_cut(r.source));
    }
    reading_close(&r);
    kafka_mock_close(mock);
}

static void a_busy_coordinator_is_asked_again_within_the_time(void **state)
{
    (void)state;
    struct err err;
    struct kafka_mock *mock = mock_open("t");
    struct kafka_properties props = properties_of(kafka_mock_brokers(mock));
    struct kafka_producer *producer;
    ok(kafka_mock_inject(mock, API_INIT_PRODUCER_ID, 2, COORDINATOR_NOT_AVAILABLE, &err), &err);
    ok(kafka_producer_open(&props, "tx", WAIT_MS, &producer, &err), &err);
    ok(kafka_begin(producer, &err), &err);
    ok(kafka_publish(producer, "t", 0, NULL, 0, "one", 3, NULL, &err), &err);
    ok(kafka_mock_inject(mock, API_END_TXN, 2, COORDINATOR_NOT_AVAILABLE, &err), &err);
    ok(kafka_commit(producer, WAIT_MS, &err), &err);
    kafka_producer_close(producer);
    kafka_properties_done(&props);
    kafka_mock_close(mock);
}

static void being_fenced_is_told_as_held_and_leaves_only_close(void **state)
{
    (void)state;
    struct err err;
    struct kafka_mock *mock = mock_open("t");
    struct kafka_properties props = properties_of(kafka_mock_brokers(mock));
    struct kafka_producer *producer;
    ok(kafka_producer_open(&props, "tx", WAIT_MS, &producer, &err), &err);
    ok(kafka_begin(producer, &err), &err);
    ok(kafka_publish(producer, "t", 0, NULL, 0, "one", 3, NULL, &err), &err);
    ok(kafka_mock_inject(mock, API_END_TXN, 1, PRODUCER_FENCED, &err), &err);
    assert_int_equal(kafka_commit(producer, WAIT_MS, &err), RC_LOST);
    assert_int_equal(err.kind, ERR_HELD);
    assert_int_equal(kafka_abort(producer, WAIT_MS, &err), RC_LOST);
    assert_int_equal(kafka_publish(producer, "t", 0, NULL, 0, "two", 3, NULL, &err), RC_LOST);
    kafka_producer_close(producer);
    kafka_properties_done(&props);
    kafka_mock_close(mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            another_process_serves_as_the_broker), /* first: forks while no thread runs */
        cmocka_unit_test(a_transaction_goes_through_the_mock),
        cmocka_unit_test(the_mock_describes_a_topic_as_far_as_it_knows),
        cmocka_unit_test(a_broker_that_is_not_there_is_told_in_time),
        cmocka_unit_test(a_broker_outage_is_waited_out),
        cmocka_unit_test(records_of_a_new_connection_come_behind_a_cut),
        cmocka_unit_test(a_busy_coordinator_is_asked_again_within_the_time),
        cmocka_unit_test(being_fenced_is_told_as_held_and_leaves_only_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

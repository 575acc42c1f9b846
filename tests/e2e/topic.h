/**
 * What: changes of a topic without Lockstep: it is deleted, made, cut, given a
 *   partition, and written to by a stranger.
 * Invariants: when make_topic returns, the topic is there, also right after delete_topic.
 * Threads: the test's own.
 * Ownership: stranger gives the client to the test (rd_kafka_destroy).
 * Failure: the test fails with the error's text.
 */
#ifndef TESTS_E2E_TOPIC_H
#define TESTS_E2E_TOPIC_H

#include "kafka/kafka.h"
#include "tests/support/support.h"

#define LIBRDKAFKA_TYPECHECKS 0 /* they are statement expressions, which clang calls an extension */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MS  30000
#define FIXED_MS 1700000000000

/* A task; %s: its row in the table effect. */
#define TASK                                                                                       \
    "{\"order\": 1, \"previous_order\": 0, "                                                       \
    "\"sql\": \"INSERT INTO effect VALUES ('%s')\"}"

static inline struct kafka_admin *admin_open(void)
{
    struct kafka_properties props = {0};
    struct kafka_admin *admin;
    struct err err;
    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    kafka_properties_done(&props);
    return admin;
}

static inline void delete_topic(const char *topic)
{
    struct kafka_admin *admin = admin_open();
    struct err err;
    assert_ok(kafka_topic_delete(admin, topic, WAIT_MS, &err), &err);
    kafka_admin_close(admin);
}

static inline void make_topic(const char *topic)
{
    struct kafka_admin *admin = admin_open();
    struct err err;
    enum rc rc = RC_RETRY;
    for (int64_t until_us = 0;
         rc != RC_OK && support_again(&until_us);) /* deleted in the background */
        rc = kafka_topic_create(admin, topic, 1, 1, WAIT_MS, &err);
    assert_ok(rc, &err);
    kafka_admin_close(admin);
}

/* A client of another program. */
static inline rd_kafka_t *stranger(const char *transactional_id)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", support_brokers(), text, sizeof text);
    if (transactional_id != NULL)
        (void)rd_kafka_conf_set(conf, "transactional.id", transactional_id, text, sizeof text);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(rk);
    return rk;
}

static inline void write_tasks(rd_kafka_t *rk, const char *topic, int count, int64_t timestamp_ms)
{
    char value[256];
    (void)snprintf(value, sizeof value, TASK, topic);
    for (int i = 0; i < count; i++)
        assert_int_equal(rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
                                           RD_KAFKA_V_VALUE(value, strlen(value)),
                                           RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                           RD_KAFKA_V_TIMESTAMP(timestamp_ms), RD_KAFKA_V_END),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(rk, WAIT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Tasks without a run and so without seq: nothing in them shows a gap. */
static inline void write_loose(const char *topic, int count)
{
    rd_kafka_t *rk = stranger(NULL);
    write_tasks(rk, topic, count, FIXED_MS);
    rd_kafka_destroy(rk);
}

static inline void cut_log(const char *topic, int64_t offset)
{
    rd_kafka_t *rk = stranger(NULL);
    rd_kafka_queue_t *answers = rd_kafka_queue_new(rk);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = offset;
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(rk, &request, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, WAIT_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(answers);
    rd_kafka_destroy(rk);
}

static inline void add_partition(const char *topic)
{
    char text[256];
    rd_kafka_t *rk = stranger(NULL);
    rd_kafka_queue_t *answers = rd_kafka_queue_new(rk);
    rd_kafka_NewPartitions_t *more = rd_kafka_NewPartitions_new(topic, 2, text, sizeof text);
    assert_non_null(more);
    rd_kafka_CreatePartitions(rk, &more, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, WAIT_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_NewPartitions_destroy(more);
    rd_kafka_queue_destroy(answers);
    rd_kafka_destroy(rk);
}

#endif

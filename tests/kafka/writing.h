/**
 * What: shared by the tests in this folder: publishing, in a transaction that is seen to be
 *   complete.
 * Invariants: when write_run returns, the marker of its transaction is on the partition.
 * Threads: the test's own.
 * Ownership: writer_open gives the producer to the test.
 * Failure: the test fails with the error's text.
 */
#ifndef TESTS_KAFKA_WRITING_H
#define TESTS_KAFKA_WRITING_H

#include "kafka/kafka.h"
#include "kafka/producer.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

#define WAIT_MS 20000

static inline struct kafka_producer *writer_open(const char *transactional_id)
{
    struct kafka_producer *producer = NULL;
    struct kafka_properties props;
    struct err err;
    support_properties(&props);
    assert_ok(kafka_producer_open(&props, transactional_id, WAIT_MS, &producer, &err), &err);
    kafka_properties_done(&props);
    return producer;
}

static inline void publish(struct kafka_producer *producer, const char *topic, const char *value)
{
    struct err err;
    assert_ok(kafka_publish(producer, topic, 0, NULL, 0, value, strlen(value), NULL, &err), &err);
}

/** The offset behind the newest record of partition 0, committed or not. */
static inline int64_t log_end(const char *topic)
{
    struct kafka_properties props;
    struct kafka_admin *admin = NULL;
    struct err err;
    int64_t low, high = -1;
    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    for (int64_t until_us = 0; high < 0 && support_again(&until_us);)
        if (kafka_watermarks(admin, topic, 0, WAIT_MS, &low, &high, &err) != RC_OK)
            high = -1;
    kafka_admin_close(admin);
    kafka_properties_done(&props);
    assert_true(high >= 0);
    return high;
}

/** prefix0 ... prefix(count - 1), as one transaction, whose marker is on the partition then: the
 * commit is answered before. */
static inline void write_run(struct kafka_producer *producer, const char *topic, const char *prefix,
                             int count)
{
    struct err err;
    int64_t end = log_end(topic) + count + 1, until_us = 0;
    assert_ok(kafka_begin(producer, &err), &err);
    for (int i = 0; i < count; i++) {
        char value[64];
        (void)snprintf(value, sizeof value, "%s%d", prefix, i);
        publish(producer, topic, value);
    }
    assert_ok(kafka_commit(producer, WAIT_MS, &err), &err);
    while (log_end(topic) < end && support_again(&until_us)) {
    }
    assert_true(log_end(topic) >= end);
}

#endif

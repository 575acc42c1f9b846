/**
 * What: the embedded broker (librdkafka's mock cluster) for a first look and for injected errors.
 *   It needs no Java. It knows no isolation, no fencing, no persistence and no admin requests,
 *   and keeps 5 MiB a partition. Other processes reach it like any broker.
 * Invariants: listens on 127.0.0.1 only.
 * Threads: own threads inside; the functions from one thread.
 * Ownership: kafka_mock_close takes it.
 * Failure: as kafka.h.
 */
#ifndef KAFKA_MOCK_H
#define KAFKA_MOCK_H

#include "kafka/kafka.h"

struct kafka_mock;
MUST_CHECK enum rc kafka_mock_open(struct kafka_mock **ret_mock, struct err *err);
void kafka_mock_close(struct kafka_mock *mock);
const char *kafka_mock_brokers(const struct kafka_mock *mock); /* "127.0.0.1:PORT" */
/**
 * A topic exists from here on; RC_NONE: it did already. Name every topic here: one that a producer
 * merely uses comes into being with 4 partitions (librdkafka offers no way to change that), and
 * kafka_topic_create cannot make one on the mock.
 */
MUST_CHECK enum rc kafka_mock_topic(struct kafka_mock *mock, const char *topic, int partitions,
                                    struct err *err);

/**
 * The next count requests of the kind api_key (Kafka's protocol: 0 Produce, 1 Fetch, 3 Metadata, 22
 * InitProducerId, 26 EndTxn, ...) are answered with Kafka's error_code; -195 (librdkafka's
 * _TRANSPORT) cuts the connection instead.
 */
MUST_CHECK enum rc kafka_mock_inject(struct kafka_mock *mock, int api_key, int count,
                                     int error_code, struct err *err);

/** false: every connection is cut and refused; true: accepted again. */
MUST_CHECK enum rc kafka_mock_reachable(struct kafka_mock *mock, bool reachable, struct err *err);

#endif

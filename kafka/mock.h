/**
 * What: the embedded broker (librdkafka's mock cluster) for a first look and for injected errors. It needs no Java. It knows no
 *   isolation, no fencing and no persistence and keeps 5 MiB a partition.
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
/** A topic exists from here on; others come into being with one partition when first used, if librdkafka lets us. */
MUST_CHECK enum rc kafka_mock_topic(struct kafka_mock *mock, const char *topic, int partitions, struct err *err);

#endif

/**
 * What: reads partitions from offsets that the caller names; never a subscribed group. One
 *   consumer (one librdkafka handle) per cluster; a source is one partition read through it, with
 *   a queue of its own, so that a source that is not read does not hold up the others.
 * Invariants: isolation.level=read_committed, auto.offset.reset=error, enable.auto.commit=false,
 *   check.crcs=true, all read back at open. The buffer of librdkafka is bounded per source: values
 *   by queued.max.messages.kbytes (6144), records with their keys and headers by
 *   queued.min.messages (64), each by one fetch more: fetch.message.max.bytes (64 kB, as they are
 *   compressed), or one batch.
 * Threads: all calls on a consumer and its sources (kafka/source.h) from one thread. wake_fd (an
 *   eventfd, EFD_NONBLOCK; -1: none) gets 8 bytes from librdkafka's threads when the *empty* queue
 *   of a source gets something: poll a source until RC_NONE before waiting for it.
 * Ownership: kafka_consumer_close takes the consumer, after its sources were closed. wake_fd stays
 *   the caller's and must outlive the consumer.
 * Failure: broker outages are waited out by librdkafka and only logged. A topic that becomes
 *   unknown is waited for, too (2.0.2 takes a metadata hiccup for it), for KAFKA_TOPIC_GONE_FACTOR
 *   times topic.metadata.propagation.max.ms (3 minutes by default); then it is RC_FATAL,
 *   UNKNOWN_TOPIC_OR_PART.
 */
#ifndef KAFKA_CONSUMER_H
#define KAFKA_CONSUMER_H

#include "kafka/kafka.h"

/** See Failure. */
#define KAFKA_TOPIC_GONE_FACTOR 6

struct kafka_consumer;

MUST_CHECK enum rc kafka_consumer_open(const struct kafka_properties *props, int wake_fd,
                                       struct kafka_consumer **ret_consumer, struct err *err);
void kafka_consumer_close(struct kafka_consumer *consumer);

/** Serves the handle's own events (errors, logs). Call at each wake-up and every few seconds. */
void kafka_consumer_serve(struct kafka_consumer *consumer);

/** From now on fn gets librdkafka's statistics (STATISTICS.md there), a JSON document, every
 * statistics.interval.ms (10 s), while the consumer is served. */
void kafka_consumer_statistics(struct kafka_consumer *consumer,
                               void (*fn)(void *context, const char *json, size_t len),
                               void *context);

/** The cluster's id, "" until kafka_consumer_partitions has had an answer. Lives as long as the
 * consumer. */
const char *kafka_consumer_cluster_id(struct kafka_consumer *consumer);

/**
 * How many partitions the topic has now, 0 if there is no such topic. Asked before an assign it
 * also spares librdkafka the second that it otherwise takes to find the partition's leader.
 */
MUST_CHECK enum rc kafka_consumer_partitions(struct kafka_consumer *consumer, const char *topic,
                                             int timeout_ms, int *ret_count, struct err *err);

#endif

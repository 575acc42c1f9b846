/**
 * What: reads partitions from offsets that the caller names; never a subscribed group. One consumer (one librdkafka
 *   handle) per cluster; a source is one partition read through it.
 * Invariants: isolation.level=read_committed, auto.offset.reset=error, enable.auto.commit=false, check.crcs=true; records
 *   come in offset order, gaps are normal, an offset never comes twice between two calls of source_assign. What
 *   librdkafka buffers ahead is bounded (queued.max.messages.kbytes).
 * Threads: consumer_open/close and all calls on its sources from one thread. wake_fd (an eventfd, 8 bytes are written) is
 *   signalled by librdkafka's threads whenever a source may have something new.
 * Ownership: the caller owns records it got (kafka_record_free); a source is freed by source_close before its consumer.
 * Failure: kafka_source_poll tells RC_FATAL when the position is out of range or the data is corrupt: the source stands
 *   still until it is assigned again. Broker outages are waited out by librdkafka and only logged.
 */
#ifndef KAFKA_CONSUMER_H
#define KAFKA_CONSUMER_H

#include "kafka/kafka.h"

struct kafka_consumer;
struct kafka_source;

struct kafka_record {
    int64_t offset, timestamp_ms;  /* timestamp -1: none */
    const char *value;             /* NULL: tombstone */
    size_t value_len;
    const char *key;
    size_t key_len;
    const char *traceparent; /* the header of that name, NULL if absent */
    void *owner;             /* librdkafka's message */
};

MUST_CHECK enum rc kafka_consumer_open(const struct kafka_properties *props, int wake_fd,
                                       struct kafka_consumer **ret_consumer, struct err *err);
void kafka_consumer_close(struct kafka_consumer *consumer);

MUST_CHECK enum rc kafka_source_open(struct kafka_consumer *consumer, const char *topic, int partition,
                                     struct kafka_source **ret_source, struct err *err);
void kafka_source_close(struct kafka_source *source);

/** Starts, or starts anew, at offset; what was buffered is dropped. */
MUST_CHECK enum rc kafka_source_assign(struct kafka_source *source, int64_t offset, struct err *err);

/**
 * The next record without waiting. RC_NONE: nothing now. RC_FATAL (ERR_KAFKA): offset out of range, bad CRC, topic gone:
 * err says which; err->code is librdkafka's name of it.
 */
MUST_CHECK enum rc kafka_source_poll(struct kafka_source *source, struct kafka_record *ret_record, struct err *err);
void kafka_record_free(struct kafka_record *record);

/** The offset at which the end of the partition was last reported, -1 while it is not known to be at the end. */
int64_t kafka_source_end(const struct kafka_source *source);

/** Serves the handle's own events (errors, logs). Call at each wake-up and every few seconds. */
void kafka_consumer_serve(struct kafka_consumer *consumer);

/** The cluster's id, "" if not known within timeout_ms. Lives as long as the consumer. */
const char *kafka_consumer_cluster_id(struct kafka_consumer *consumer, int timeout_ms);

/** Low and high watermark as last seen by the consumer, without asking the broker; -1 if not known. */
void kafka_source_watermarks(const struct kafka_source *source, int64_t *ret_low, int64_t *ret_high);

/** 128-bit digest (XXH3) of key and value of a record: its fingerprint. */
void kafka_record_digest(const struct kafka_record *record, unsigned char ret_digest[16]);

/** Commits next_offset to group for people's lag tools; asynchronous, failures are only logged. */
void kafka_source_publish_lag(struct kafka_source *source, const char *group, int64_t next_offset);

#endif

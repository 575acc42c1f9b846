/**
 * What: reads partitions from offsets that the caller names; never a subscribed group. One
 *   consumer (one librdkafka handle) per cluster; a source is one partition read through it, with
 *   a queue of its own, so that a source that is not read does not hold up the others.
 * Invariants: isolation.level=read_committed, auto.offset.reset=error, enable.auto.commit=false,
 *   check.crcs=true, all read back at open; records come in offset order, gaps are normal, an
 *   offset never comes twice between two calls of source_assign. What librdkafka buffers ahead is
 *   bounded per source: values by queued.max.messages.kbytes (6144), records with their keys and
 *   headers by queued.min.messages (64), each by one fetch more: fetch.message.max.bytes (64 kB, as
 *   they are compressed), or one batch.
 * Threads: consumer_open/close and all calls on its sources from one thread; kafka_record_free
 *   from any. wake_fd (an eventfd, EFD_NONBLOCK; -1: none) gets 8 bytes from librdkafka's threads
 *   when the *empty* queue of a source gets something: poll a source until RC_NONE before waiting
 *   for it.
 * Ownership: the caller owns records it got (kafka_record_free, before the consumer is closed); a
 *   source is freed by source_close before its consumer. wake_fd stays the caller's and must
 *   outlive the consumer.
 * Failure: kafka_source_poll tells RC_FATAL when the position is out of range or the data is
 *   corrupt, and tells it again: the source stands still until it is assigned again. Broker
 *   outages are waited out by librdkafka and only logged. A topic that becomes unknown is waited
 *   for, too (2.0.2 takes a metadata hiccup for it), for KAFKA_TOPIC_GONE_FACTOR times
 *   topic.metadata.propagation.max.ms (3 minutes by default); then it is RC_FATAL,
 *   UNKNOWN_TOPIC_OR_PART.
 */
#ifndef KAFKA_CONSUMER_H
#define KAFKA_CONSUMER_H

#include "kafka/kafka.h"

/** See Failure. */
#define KAFKA_TOPIC_GONE_FACTOR 6

struct kafka_consumer;
struct kafka_source;

#define TRACEPARENT_LEN 55

/** Whether text, which ends with a NUL behind its len bytes, is a traceparent of W3C Trace
 * Context. */
bool kafka_traceparent_valid(const char *text, size_t len);

struct kafka_record {
    int64_t offset, timestamp_ms; /* timestamp -1: none */
    const char *value;            /* NULL: tombstone */
    size_t value_len;
    const char *key;
    size_t key_len;
    const char *traceparent; /* the header of that name; NULL: absent, or not as W3C wants it */
    void *headers;           /* librdkafka's list, NULL: none; see kafka_record_header */
    void *owner;             /* librdkafka's message */
};

MUST_CHECK enum rc kafka_consumer_open(const struct kafka_properties *props, int wake_fd,
                                       struct kafka_consumer **ret_consumer, struct err *err);
void kafka_consumer_close(struct kafka_consumer *consumer);

MUST_CHECK enum rc kafka_source_open(struct kafka_consumer *consumer, const char *topic,
                                     int partition, struct kafka_source **ret_source,
                                     struct err *err);
void kafka_source_close(struct kafka_source *source);

/** Starts, or starts anew, at offset; what was buffered is dropped. */
MUST_CHECK enum rc kafka_source_assign(struct kafka_source *source, int64_t offset,
                                       struct err *err);

/**
 * The next record without waiting. RC_NONE: nothing now. RC_FATAL (ERR_KAFKA): offset out of range,
 * bad CRC, topic gone: err says which; err->code is librdkafka's name of it.
 */
MUST_CHECK enum rc kafka_source_poll(struct kafka_source *source, struct kafka_record *ret_record,
                                     struct err *err);
void kafka_record_free(struct kafka_record *record);

/** The header at index, from 0, in the order of the record, repeated names included; false after
 * the last. It lives as long as the record. */
bool kafka_record_header(const struct kafka_record *record, size_t index,
                         struct kafka_header *ret_header);

/** The offset at which the end of the partition was last reported, -1 while it is not known to be
 * at the end. */
int64_t kafka_source_end(const struct kafka_source *source);

/** How often all brokers went away since the consumer was opened, as far as kafka_consumer_serve
 * was told. It is told before anything that was fetched after it comes. */
int kafka_consumer_outages(const struct kafka_consumer *consumer);

/** Serves the handle's own events (errors, logs). Call at each wake-up and every few seconds. */
void kafka_consumer_serve(struct kafka_consumer *consumer);

/** The cluster's id, "" until kafka_consumer_partitions has had an answer. Lives as long as the
 * consumer. */
const char *kafka_consumer_cluster_id(struct kafka_consumer *consumer);

/**
 * How many partitions the topic has now, 0 if there is no such topic. Asked before an assign it
 * also spares librdkafka the second that it otherwise takes to find the partition's leader.
 */
MUST_CHECK enum rc kafka_consumer_partitions(struct kafka_consumer *consumer, const char *topic,
                                             int timeout_ms, int *ret_count, struct err *err);

/**
 * Low and high watermark as last seen by the consumer, without asking the broker; -1 if not known.
 * high is as of the last fetch, low is renewed in the background every statistics.interval.ms (10 s
 * at least).
 */
void kafka_source_watermarks(const struct kafka_source *source, int64_t *ret_low,
                             int64_t *ret_high);

/** 128-bit digest (XXH3, canonical byte order) of key and value of a record, each with its length:
 * its fingerprint. */
void kafka_record_digest(const struct kafka_record *record, unsigned char ret_digest[16]);

/**
 * Commits next_offset to group for people's lag tools; asynchronous (kafka_consumer_serve takes the
 * answer), failures are only logged. One request per group is under way at a time; a newer offset
 * replaces one that waits.
 */
void kafka_source_publish_lag(struct kafka_source *source, const char *group, int64_t next_offset);

#endif

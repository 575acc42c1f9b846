/**
 * What: one partition, read through a consumer from an offset that the caller names, and the
 *   records that come from it.
 * Invariants: records come in the order of their offsets; gaps are normal; an offset never comes
 *   twice between two calls of kafka_source_assign. What is buffered ahead is bounded
 *   (kafka/consumer.h).
 * Threads: the consumer's thread; kafka_record_free from any.
 * Ownership: the caller owns the records that it got (kafka_record_free, before the consumer is
 *   closed) and closes a source before its consumer.
 * Failure: kafka_source_poll returns RC_FATAL when the position is out of range or the data is
 *   corrupt, and returns it again: the source does not move until it is assigned again. Outages and
 *   missing topics: see kafka/consumer.h.
 */
#ifndef KAFKA_SOURCE_H
#define KAFKA_SOURCE_H

#include "kafka/kafka.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

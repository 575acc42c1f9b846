/**
 * What: publishes to one partition, idempotent, acks=all, within transactions.
 * Invariants: order of kafka_publish and kafka_publish_values is the order on the partition.
 *   kafka_producer_open fences and settles a predecessor with the same transactional id. After the
 *   first failed delivery, or an error that librdkafka calls fatal or abortable, every later call
 *   fails with that error; only abort and close are left (the next transaction of such a producer
 *   would fail for skipped sequence numbers in 2.0.2).
 * Threads: one; librdkafka's delivery reports are served inside the calls.
 * Ownership: copies what is published.
 * Failure: RC_LOST + ERR_KAFKA_DOWN: broker not reachable within the time-out. RC_LOST + ERR_HELD:
 *   fenced by another producer with the same transactional id. RC_LOST otherwise: open again and
 *   continue after the last record of the log. RC_RETRY + ERR_TIMEOUT: the same call may be made
 *   again; RC_RETRY otherwise: abort, publish again with a new producer. RC_REJECT: record too
 *   large. From kafka_publish it is this record, refused by librdkafka itself, which leaves the
 *   transaction whole; after an earlier record that the broker refused it returns RC_RETRY.
 */
#ifndef KAFKA_PRODUCER_H
#define KAFKA_PRODUCER_H

#include "kafka/kafka.h"

struct kafka_producer;

/** transactional_id NULL: idempotent only. Waits for the coordinator at most timeout_ms. */
MUST_CHECK enum rc kafka_producer_open(const struct kafka_properties *props,
                                       const char *transactional_id, int timeout_ms,
                                       struct kafka_producer **ret_producer, struct err *err);
void kafka_producer_close(struct kafka_producer *producer); /* aborts what is open */
/** From now on no wait of this producer continues when the time of *until_us (clock_boot_us) has
 * come; 0: not yet known. Another thread may set it, and a wait that has begun notices it within
 * half a second; an open transaction is then left to the next producer with the transactional id.
 * Borrowed until the producer is closed. */
void kafka_producer_until(struct kafka_producer *producer, const _Atomic int64_t *until_us);

/** The time stamp, in milliseconds since 1970, of the records that kafka_publish takes from now on;
 * 0, as in the beginning: this host's clock. A broker refuses a record that is more than
 * message.timestamp.after.max.ms (an hour, by default) ahead of its own clock. */
void kafka_producer_time(struct kafka_producer *producer, int64_t time_ms);

/** Learns who leads the topic's partitions, at once; otherwise the first record waits a second for
 * it in 2.0.2. The first delivery reports a topic that does not exist. */
MUST_CHECK enum rc kafka_producer_meet(struct kafka_producer *producer, const char *topic,
                                       int timeout_ms, struct err *err);
MUST_CHECK enum rc kafka_begin(struct kafka_producer *producer, struct err *err);
/** Waits while the local queue is full. headers: ended by one without a name; or NULL. value NULL:
 * a tombstone. */
MUST_CHECK enum rc kafka_publish(struct kafka_producer *producer, const char *topic, int partition,
                                 const char *key, size_t key_len, const char *value,
                                 size_t value_len, const struct kafka_header *headers,
                                 struct err *err);
/** As kafka_publish, of values that have neither key nor headers: librdkafka takes
 * KAFKA_MOST_VALUES of them in half the time that it takes for one by one. RC_REJECT: those behind
 * the one that is too large may have been taken. */
struct kafka_value {
    char *bytes; /* not changed */
    size_t len;
};
#define KAFKA_MOST_VALUES 64
MUST_CHECK enum rc kafka_publish_values(struct kafka_producer *producer, const char *topic,
                                        int partition, const struct kafka_value *values, int count,
                                        struct err *err);
/** All delivered, then committed; RC_OK means both. */
MUST_CHECK enum rc kafka_commit(struct kafka_producer *producer, int timeout_ms, struct err *err);
MUST_CHECK enum rc kafka_abort(struct kafka_producer *producer, int timeout_ms, struct err *err);
/** Without transactions: waits until all is delivered. */
MUST_CHECK enum rc kafka_flush(struct kafka_producer *producer, int timeout_ms, struct err *err);

/** Records acknowledged so far, those of aborted transactions too, and the offset of the newest of
 * them (-1: none). */
void kafka_producer_acked(const struct kafka_producer *producer, int64_t *ret_count,
                          int64_t *ret_last_offset);

#endif

/**
 * What: where a run goes: the queue as its row describes it, and the partition of its topic.
 * Invariants: only target.c writes the fields. limit is set once target_check has found the topic
 *   fit.
 * Threads: the caller's own.
 * Ownership: plain data; queue and kafka are borrowed.
 * Failure: ERR_USAGE: no such queue; ERR_CONFIG: the topic is not fit, or the database is a copy of
 *   the one in which the queue was worked on; as kafka/admin.h.
 */
#ifndef PRODUCER_TARGET_H
#define PRODUCER_TARGET_H

#include "db/db.h"
#include "kafka/kafka.h"

struct target {
    const char *queue;
    const struct kafka_properties *kafka;
    int queue_id, partition;
    int partitions; /* of the topic, as the queue's row has them; 0: not known yet */
    char topic[256], cluster_id[64];
    char on_failure[16]; /* of the queue's runs, unless a run has its own */
    size_t limit;        /* bytes that a staged task may have */
};

/** What the caller knows without the queue's row. */
struct target target_known(const char *queue, const struct kafka_properties *kafka, int queue_id,
                           const char *topic, int partition);
/** Reads the row of the queue that target names. */
MUST_CHECK enum rc target_find(struct target *target, struct db *db, struct err *err);
/** The topic is fit for the queue. Sets limit. */
MUST_CHECK enum rc target_check(struct target *target, struct err *err);
/** The partition's low and high watermark. */
MUST_CHECK enum rc target_ends(const struct target *target, int64_t *ret_low, int64_t *ret_high,
                               struct err *err);
/** transaction.timeout.ms: the broker aborts a transaction that is open for longer. */
int64_t target_timeout_ms(const struct target *target);

/**
 * The transactional id of the publishers of a queue: lockstep.QUEUE. That of its relay is
 * lockstep.QUEUE.relay, so for a queue whose own name ends in .relay a colon follows, which no name
 * of a queue has.
 */
void producer_id(const char *queue, char *ret_id, size_t size);

#endif

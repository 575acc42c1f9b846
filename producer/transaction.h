/**
 * What: the Kafka producer of a queue's transactional id, and the transaction that it has open.
 *
 *     NONE -- first record --> OPEN -- transaction_commit, transaction_drop --> NONE
 *                               |
 *                               '-- a call about it failed --> DOUBT -- the topic was read --> NONE
 *
 * Invariants: only transaction.c writes the fields. A transaction in DOUBT may or may not be
 *   committed. The topic shows it, once transaction_open has taken the transactional id again and
 *   has thereby ended the transaction.
 * Threads: the caller's own.
 * Ownership: transaction_open gives, transaction_close takes; a borrowed producer is closed by its
 *   owner.
 * Failure: as kafka/producer.h.
 */
#ifndef PRODUCER_TRANSACTION_H
#define PRODUCER_TRANSACTION_H

#include "producer/outbox.h"
#include "producer/session.h"

enum transaction_state { TRANSACTION_NONE, TRANSACTION_OPEN, TRANSACTION_DOUBT };

/** What a transaction may have before it is due. */
struct transaction_limits {
    int64_t us, tasks;
    size_t bytes;
};

struct transaction {
    struct kafka_producer *producer;
    struct outbox outbox;
    struct transaction_limits limits;
    enum transaction_state state;
    int64_t begun_us, tasks;
    size_t bytes;
    int64_t end_offset;   /* the partition's end before the first record of the run */
    int64_t acked_before; /* records of the producer's that are not of the run */
};

struct transaction transaction_borrowed(struct kafka_producer *producer);
void transaction_limit(struct transaction *transaction, struct transaction_limits limits);
/** Takes the transactional id, which fences a predecessor and ends its open transaction. */
MUST_CHECK enum rc transaction_open(struct transaction *transaction, const struct target *target,
                                    struct err *err);
/** Ends what is open. */
void transaction_close(struct transaction *transaction);
/** The partition ends there. Records that the producer has sent so far do not belong to the run. */
void transaction_mark(struct transaction *transaction, int64_t end_offset);
/** Records of the run that the broker has acknowledged, and the offset of the producer's last
 * one. */
int64_t transaction_acked(const struct transaction *transaction, int64_t *ret_last_offset);
/** Takes what was appended to the outbox as a record of len bytes with that many tasks. Begins a
 * transaction if none is open. */
MUST_CHECK enum rc transaction_add(struct transaction *transaction, size_t len, int tasks,
                                   struct err *err);
/** Hands librdkafka what is in the outbox. */
MUST_CHECK enum rc transaction_send(struct transaction *transaction, const struct target *target,
                                    struct err *err);
/** Commits what is open. The session is asked for once more just before: a successor must not meet
 * a commit that comes after it. */
MUST_CHECK enum rc transaction_commit(struct transaction *transaction, const struct target *target,
                                      const struct session *session, struct err *err);
/** Aborts what is open. In DOUBT afterwards, unless that is certain. */
void transaction_drop(struct transaction *transaction);
/** The topic was read, and shows the outcome. */
void transaction_settled(struct transaction *transaction);
/** When it must be committed, on the clock of clock_boot_us: 0: now; INT64_MAX: nothing is open. */
int64_t transaction_due_us(const struct transaction *transaction);

#endif

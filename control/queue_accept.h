/**
 * What: an operator accepts the topic of a halted queue as it is now, by command and by request:
 *   the log is asked for the place where the queue continues, and the row is changed.
 * Invariants: an offset outside the log is refused, as far as Kafka can be asked: the queue would
 *   be halted again at once.
 * Threads: any.
 * Ownership: borrows the texts.
 * Failure: RC_NONE: the queue is not halted for its topic. RC_REJECT + ERR_USAGE: the offset is
 *   outside the log. Where Kafka does not answer, only earliest and latest fail.
 */
#ifndef CONTROL_QUEUE_ACCEPT_H
#define CONTROL_QUEUE_ACCEPT_H

#include "db/db.h"
#include "kafka/kafka.h"

struct queue_acceptance {
    const char *name, *topic;
    int partition;
    int64_t cursor;          /* where the queue is now */
    const char *from_offset; /* a number, earliest or latest; NULL: the cursor */
    const char *reason;
    int patience_ms; /* for each question to Kafka */
};
struct queue_accepted {
    int64_t next_offset;
    char warning[400]; /* the offset could not be compared with the log: why; "": it was */
};

/** Whether the queue is to continue at an end of the log, earliest or latest, which only Kafka
 * knows; NULL is none. */
bool queue_accept_is_end(const char *from_offset);

/** kafka: without a broker, or NULL, the log is not asked. ret_accepted: its warning is set in any
 * case. */
MUST_CHECK enum rc queue_accept(struct db *db, const struct kafka_properties *kafka,
                                const struct queue_acceptance *what,
                                struct queue_accepted *ret_accepted, struct err *err);

#endif

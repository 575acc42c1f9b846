/**
 * What: finds the records of a run on its partition, from some offset on. A predecessor, or a
 *   commit that was never answered, may have left them. Private to this folder.
 * Invariants: reads committed records only, up to the high watermark as it is when the reading
 *   begins: an open transaction of another producer, behind which nothing can be read, is waited
 *   for, reported, and in the end an error, never taken for the end. Right only while no other
 *   producer publishes the run: under the lock, when no transaction of a producer of the queue is
 *   open or when the one that is will be settled by the producer that fenced it.
 * Threads: the caller's own.
 * Ownership: plain data.
 * Failure: as kafka/consumer.h; ERR_HELD: an open transaction, longer than options->lock_wait_ms;
 *   ERR_CANCELLED; RC_RETRY when the end is not reached in time.
 */
#ifndef PRODUCER_TAIL_H
#define PRODUCER_TAIL_H

#include "producer/chain.h"
#include "producer/progress.h"
#include "producer/target.h"

struct tail {
    int64_t next_seq; /* behind the last record of the run; as it was given, if there is none */
    /* of the records before next_seq, if it was given that of those before the given one */
    struct chain chain;
    int64_t last_offset;   /* of the last record; -1: none */
    int64_t missing;       /* the first seq between them that is not there; -1: none */
    bool ended, aborted;   /* the last record is an end, of which kind */
    int64_t tasks, phases; /* that it counts */
};

/** The caller sets next_seq and chain to the position that it knows already. */
MUST_CHECK enum rc tail_read(const struct target *target, const struct progress *progress,
                             int64_t from_offset, const char *run, struct tail *ret_tail,
                             struct err *err);
/** An end was sent behind it. */
void tail_ends(struct tail *tail);

#endif

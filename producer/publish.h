/**
 * What: publishes staged work (a file, standard input, a query) as one run: orders and tags it,
 *   sends it to the queue's partition, ends it with the counts, and may wait for the outcome.
 * Invariants: one producer at a time per queue (an exclusive advisory lock, class of producers,
 *   queue_id) and one transactional.id "lockstep.<queue>", whose taking fences and settles a
 *   predecessor. The run's row is flushed in PostgreSQL before the first record is sent. A finite
 *   source is wholly read and checked before anything is sent; a streamed one is sent while it is
 *   read, in small transactions and constant memory.
 * Threads: the caller's own; callbacks run on it.
 * Ownership: borrows the options and everything that they name.
 * Failure: ERR_USAGE: the options or the source are wrong; ERR_HELD: another producer, on the
 *   queue, with its transactional id, or with a transaction that hides the topic's end; ERR_CONFIG:
 *   the topic is not fit; ERR_CANCELLED: the caller's wish; ERR_FAILED: the run waited for ended
 *   badly; ERR_TIMEOUT: it did not end in time, or it must be one transaction and takes longer than
 *   one may last. Records that were sent and not committed are never visible; a run of which a part
 *   is committed is ended as aborted, or, where that cannot be done (the process, Kafka or the lock
 *   is gone), left to be resumed or to be closed by the next producer.
 */
#ifndef PRODUCER_PUBLISH_H
#define PRODUCER_PUBLISH_H

#include "producer/options.h"

struct publish_result {
    char run[37];          /* "" until the run's row is written, and in a dry run */
    int64_t tasks, phases; /* of the source; of a failed stream: those that are committed */
    int64_t first_offset, last_offset; /* of the run's records; -1 = not known */
    char status[32];                   /* lockstep.run.status as last seen by wait, otherwise "" */
};

/** *ret_result is filled as far as it goes, on failure, too. RC_REJECT with ERR_FAILED: waited, and
 * the run ended badly. */
MUST_CHECK enum rc publish_run(const struct publish_options *options,
                               struct publish_result *ret_result, struct err *err);

#endif

/**
 * What: the counts of control for the metrics (metrics/tally.h): attempts that returned,
 *   barriers, rejections, and whether a lane can be worked on. A few nanoseconds each; nothing when
 *   there are no metrics.
 * Invariants: counting decides nothing.
 * Threads: control; counts_tally: the main thread, before there is one.
 * Ownership: the tally is the options'; counts_tally gives it to their owner.
 * Failure: none.
 */
#ifndef EXECUTOR_COUNTS_H
#define EXECUTOR_COUNTS_H

#include <stdint.h>

struct executor;
struct lane;
struct phase;
struct tally;
struct work;

/** Each reason of a rejection is in it, with 0. The caller frees it (tally_free). */
struct tally *counts_tally(const char *const *queues, int count);
/** The consumer's statistics are kept, too. */
void counts_begin(struct executor *ex);
/** It has come back, before it leaves its reader and its phase. */
void counts_work(const struct lane *lane, const struct work *work);
/** The database counts an attempt as lost: the task may be the cause (lost_num). */
void counts_lost(const struct lane *lane);
/** The phase behind this one was opened by its release. */
void counts_barrier(const struct lane *lane, const struct phase *phase);
void counts_rejected(const struct lane *lane, const char *reason);
void counts_high(const struct lane *lane, int64_t offset);
/** In each turn. */
void counts_state(const struct lane *lane);
/** The incarnation is over. */
void counts_stop(const struct executor *ex);

#endif

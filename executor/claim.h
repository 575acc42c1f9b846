/**
 * What: claims: the head of the buffer becomes tasks of this executor, in the transaction that
 *   moves the cursor.
 * Invariants: each verdict of the database has its case in one switch (follow). Nothing is claimed
 *   before the topic was checked.
 * Guarantee: each offset of the topic becomes one task or one rejected row, in the order of the
 *   log, even if executors or servers fail.
 * Mechanism: one statement (lockstep.claim) locks the queue's row, judges the tags of a segment,
 *   tries S of its phase, inserts the tasks with this executor as their owner, and moves
 *   next_offset. A buffer that does not begin there claims nothing.
 * Not its concern: whether the phase is open. A claimed task waits in its phase until a claim, an
 *   adoption or a gate has seen the phase open.
 * Example: a run has the phases 1 (a, b), 2 (c) and 3 (d). X claims a and b; the first phase of a
 *   run is open from its claim on, so both start. Y claims c and then d, has S of phases 2 and 3,
 *   and waits at a gate. When X dies, the cursor is behind d: no executor claims a and b again.
 *   Their rows name X, and Y adopts them (recover.h).
 * Threads: control.
 * Ownership: a claimed task belongs to its phase.
 * Failure: as db.h; a claim that is refused for its data is halved (refusal.h).
 */
#ifndef EXECUTOR_CLAIM_H
#define EXECUTOR_CLAIM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lane;
struct phase;

MUST_CHECK enum rc claim(struct lane *lane, bool *ret_progress, struct err *err);
/** The cursor in the database went back: the next turn reads the topic again from there. */
void claim_went_back(struct lane *lane, int64_t next_offset);
/* The buffer's head would be claimed now. */
bool claim_waits(struct lane *lane);
/* The buffer's head is of this phase, and will be claimed. */
bool claims_more(struct lane *lane, const struct phase *phase);

#endif

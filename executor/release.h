/**
 * What: S of a phase goes when none of its tasks is left here and no more of them will come from
 *   the buffer's head.
 * Invariants: if no other executor has S and this one has tasks of the next phase, the same round
 *   trip opens that phase.
 * Threads: control.
 * Ownership: frees the phase.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_RELEASE_H
#define EXECUTOR_RELEASE_H

#include "base/err.h"

struct lane;

MUST_CHECK enum rc release(struct lane *lane, struct err *err);

#endif

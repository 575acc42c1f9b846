/**
 * What: shared (S) and intent-exclusive (IX) locks of a phase, out of PostgreSQL's shared and
 *   exclusive advisory locks. Compatible within a group, conflicting across: many tasks of one
 *   phase run together (S), and the next phase starts (IX on the previous one) only when none of
 *   them is left.
 *       S  : lock_shared(A); lock(B); unlock(B)        IX : lock(A); lock_shared(B); unlock(A)
 *   Both take A before B, so they cannot deadlock, and the lock queue makes it fair
 *   (tests/model/shared_intent.pml). They are taken where the decision is made that needs them,
 *   inside the database, by the functions of sql/functions/lock/:
 *       lock_class, phase_key        the two integers of a key (tests/unit/lock_classes.sh)
 *       lock_shared_xact             tries S, for claim and adopt
 *       keep_shared, unlock_shared   S is the session's; releases it
 *       lock_intent_xact             waits a slice for IX, or tries it, for gate
 *       keep_intent, unlock_intent   IX is the session's; releases it
 *       locks_settle                 the locks of a session after a statement that failed
 *       lock_takers                  who has locks that only executors should take
 *   lock_intent_xact says why the wait is at transaction level. Locks are released by
 *   sql/functions/gate/release.sql with the end of a phase, and by phaselock_release_intent. The
 *   locks that a statement has taken or released stay so when it fails: lock/locks_settle.sql finds
 *   them in pg_locks (executor/locks.h). Slots: phaselock/slot.h, sql/functions/slot/.
 * Invariants: waiting is done at transaction level in slices of at most PHASELOCK_SLICE_MS (a
 *   session-level wait that times out may return an error with the lock held; a waiter pins the
 *   vacuum horizon); a lock that is kept is kept at session level. A lock belongs to the session
 *   that took it and ends with it. Locks count: n takes need n releases.
 * Threads: the session's own.
 * Ownership: borrows the session.
 * Failure: RC_LOST: drop the session. A full lock table is RC_RETRY with a hint.
 */
#ifndef PHASELOCK_PHASELOCK_H
#define PHASELOCK_PHASELOCK_H

#include "db/db.h"

#define PHASELOCK_SLICE_MS 500

/** RC_FATAL when the session did not hold IX of the phase: a bug of Lockstep. */
MUST_CHECK enum rc phaselock_release_intent(struct db *db, int64_t phase_id, struct err *err);

/** Holders and waiters: one row per lock and session; see sql/api/lock_list.sql for the
 * columns. */
MUST_CHECK enum rc phaselock_list(struct db *db, struct db_result **ret_result, struct err *err);

/** RC_RETRY with a hint (max_locks_per_transaction) when fewer than `needed` locks are free for
 * this cluster. */
MUST_CHECK enum rc phaselock_headroom(struct db *db, int needed, struct err *err);

#endif

/**
 * What: the lock functions of the database as single calls, for tests of claim, gate and adopt
 *   (phaselock/phaselock.h explains S and IX; the functions are sql/functions/lock/).
 * Invariants: as phaselock.h; a wait longer than a slice is several calls.
 * Threads: the session's own.
 * Ownership: borrows the session.
 * Failure: RC_NONE: not granted within wait_ms. RC_LOST: drop the session. A full lock table is
 *   RC_RETRY with a hint.
 */
#ifndef TESTS_SUPPORT_LOCKS_H
#define TESTS_SUPPORT_LOCKS_H

#include "db/db.h"

enum locks_mode { LOCKS_SHARED, LOCKS_INTENT };

/** Creates the schema lockstep_test with the functions of locks.sql; support_database has it. */
void locks_install(struct db *db);
/** Takes S(phase). wait_ms 0: tries only. */
MUST_CHECK enum rc locks_shared(struct db *db, int64_t phase_id, int wait_ms, struct err *err);
/** Takes IX(phase). wait_ms 0: one millisecond. */
MUST_CHECK enum rc locks_intent(struct db *db, int64_t phase_id, int wait_ms, struct err *err);
/** RC_FATAL when the session does not hold it. */
MUST_CHECK enum rc locks_release(struct db *db, int64_t phase_id, enum locks_mode mode,
                                 struct err *err);
/** Takes the lock that is an executor's life, as executor_register does. */
MUST_CHECK enum rc locks_life(struct db *db, int executor_no, struct err *err);
/** Is there a session that has it? lockstep.executor_lives. */
bool locks_lives(struct db *db, int executor_no);

#endif

/**
 * What: the lock that is an executor's life. Whoever finds it free knows that the session which held it is gone, and with
 *   it the right to go on: the executor's unfinished tasks are orphans.
 * Invariants: held at session level by the liveness session, from before the executor's row can be seen until the end:
 *   insert the row, alive_lock, commit, in one transaction; then nobody sees a row whose executor only seems dead. It says
 *   nothing about a frozen process, whose session stays: for that there is the heartbeat.
 * Threads: the session's own.
 * Ownership: borrows the session, which owns the lock.
 * Failure: as of a lock (phaselock.h): RC_LOST, drop the session.
 */
#ifndef PHASELOCK_ALIVE_H
#define PHASELOCK_ALIVE_H

#include "db/db.h"

/** Never waits. RC_FATAL when somebody else holds it: executor_no is fresh for each start, so that is a bug. */
MUST_CHECK enum rc alive_lock(struct db *db, int executor_no, struct err *err);

/**
 * Is the executor's session there? A shared try that ends with its statement, so two who ask do not see each other. Ask
 * outside a transaction (it would keep the answer's lock to its end), and never on the liveness session of the executor in
 * question, to which its own lock is no obstacle.
 */
MUST_CHECK enum rc alive_check(struct db *db, int executor_no, bool *ret_alive, struct err *err);

#endif

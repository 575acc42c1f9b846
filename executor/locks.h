/**
 * What: the locks of phases that a session holds, made again those that the executor knows of.
 * Mechanism: a statement that failed may have kept or released a lock of its session, which no
 *   rollback undoes, even when the server refused only the commit. One statement releases the locks
 *   that are not known and answers those that are missing (sql/functions/lock/locks_settle.sql).
 * Invariants: a lock that no executor knows would close its phase to all others, for as long as the
 *   session lives. The locks of control's session are those of the lanes' phases; a gate, which
 *   takes nothing but IX, has a list of its own.
 * Threads: locks_settle: control; the others: the thread of the gate.
 * Ownership: intents_done frees the list.
 * Failure: as db_run.
 */
#ifndef EXECUTOR_LOCKS_H
#define EXECUTOR_LOCKS_H

#include "base/err.h"

#include <stdint.h>

struct db;
struct executor;

/** After a statement of control's session that failed. */
MUST_CHECK enum rc locks_settle(struct executor *ex, struct err *err);

/** The phases of which a gate's session has IX. */
struct intents {
    int64_t *ids;
    int count, room;
};

void intents_add(struct intents *intents, int64_t phase_id);
void intents_remove(struct intents *intents, int64_t phase_id);
MUST_CHECK enum rc intents_settle(const struct intents *intents, struct db *db, struct err *err);
void intents_done(struct intents *intents);

#endif

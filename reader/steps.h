/**
 * What: a task with steps: each step is a part of its own or acts outside the database, and the
 *   task's row says which step comes next.
 * Invariants: a step that is recorded is not run again.
 * Threads: the reader's own.
 * Ownership: borrows session and work.
 * Failure: as reader/attempt.h.
 */
#ifndef READER_STEPS_H
#define READER_STEPS_H

#include "base/err.h"

struct message;
struct reader_thread;
struct work;

/** Runs all steps that are left. RC_OK: work->outcome is set; OUTCOME_LOST also when the task was
 * cancelled or the executor stops. */
MUST_CHECK enum rc steps_run(struct reader_thread *reader, struct work *work, struct err *why);
/** The step to which a text of the message belongs; -1: it has none. */
int steps_find(const struct message *msg, int text);
/** Says in *why that it happened in this step, if it is one. */
void steps_add_context(const struct message *msg, int step, struct err *why);

#endif

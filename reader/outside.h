/**
 * What: an attempt outside the database (action/action.h) on a reader, or a step of one: the
 *   records before and behind the command or the request.
 * Invariants: before it starts, the row says so and is on disk; its end is recorded by the token,
 *   durably. An answer whose record was not confirmed is recorded again on the reader's next
 *   session: then a stale token means that it was.
 * Threads: the reader's own.
 * Ownership: the answer belongs to the work until it is recorded.
 * Failure: RC_LOST: the session is gone; work->answer set: the answer is known and to be recorded
 *   on the next one.
 */
#ifndef READER_OUTSIDE_H
#define READER_OUTSIDE_H

#include "reader/state.h"

/** The task itself, without steps. */
static inline bool outside(const struct work *work)
{
    return work->msg->type == MESSAGE_COMMAND || work->msg->type == MESSAGE_HTTP;
}

/** The whole attempt; sets work->outcome. */
MUST_CHECK enum rc outside_run(struct reader_thread *reader, struct work *work, struct err *err);
/** The step of an attempt. RC_OK: its end is recorded, and in the outcome of the work: CONTINUES,
 * if steps are left. RC_LOST: as outside_run. Otherwise nothing was done, and why has the
 * reason. */
MUST_CHECK enum rc outside_step(struct reader_thread *reader, struct work *work, int step,
                                struct err *why);
/** Records work->answer, and sets the outcome of the work. */
MUST_CHECK enum rc outside_record(struct db *db, struct work *work, struct err *err);

#endif

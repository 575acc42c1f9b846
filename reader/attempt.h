/**
 * What: one attempt on a reader's session outside the pipeline: SQL that needs a transaction
 *   block of its own, or none. And how a failed attempt is recorded.
 * Invariants: an effect never commits without its record, but for `transaction: false`, where
 *   the record follows, made durable at once.
 * Threads: the reader's own.
 * Ownership: borrows session and work.
 * Failure: RC_LOST: the session is gone and the outcome unknown. Anything else ends as the
 *   work's outcome.
 */
#ifndef READER_ATTEMPT_H
#define READER_ATTEMPT_H

#include "db/db.h"
#include "task/statement.h"

struct message;
struct reader_thread;
struct work;

/** The statements of a task, split and judged. */
struct plan {
    struct statement *statements; /* owned */
    int *texts;                   /* owned: of which text of the message each is */
    int count;
    bool pipelined;       /* one plain statement: goes into the pipeline */
    bool changes_session; /* reset the session afterwards */
};

/** Of count texts of the message, from first on; whose statements are refused: nothing of the task
 * is to run. */
MUST_CHECK enum rc plan_make(struct plan *plan, const struct message *msg, int first, int count,
                             struct err *err);
/** It may leave something in its session, or change what the database defines, also if its text
 * does not show it. */
bool plan_risky(const struct plan *plan, const struct work *work);
void plan_done(struct plan *plan);

/** What is done and recorded together: a whole task, or one of its steps. */
struct part {
    int first, count; /* texts of the message */
    bool transaction;
    const char *next;    /* the step that follows; NULL: the task is completed by this part */
    const char *started; /* when the attempt began; NULL: with this part */
    bool continues;      /* set when it is recorded: the task was not cancelled meanwhile */
};

/** Runs it on a session that is clean, and leaves it so if nothing failed. */
MUST_CHECK enum rc part_run(struct db *db, const struct work *work, struct part *part,
                            struct err *why);

/** Runs the whole attempt and records its end in work->end. An attempt that the executor itself has
 * cancelled is lost, not failed. */
MUST_CHECK enum rc attempt_run(struct reader_thread *reader, struct work *work, struct err *err);

/** A statement of ours behind the task's own was refused: when the transaction is read-only that is
 * the task's failure, and *why says so. */
enum rc attempt_read_only(const struct work *work, enum rc rc, struct err *why);
/** Records why the attempt failed: sets work->outcome; LOST: the database does not take it. The
 * session is clean. */
MUST_CHECK enum rc attempt_fail(struct db *db, struct work *work, const struct err *why,
                                bool permanent, struct err *err);

/** Whether it was cancelled, by this executor (ours) or by another session, and so is lost and not
 * failed. A time-out that the task has set has the same SQLSTATE; where the server's messages are
 * not English, a task that names statement_timeout in its text is taken to have met it. */
bool attempt_cancelled(const struct work *work, const struct err *why, bool ours);

/** Whether it failed because its time was over; then *why says so. */
bool attempt_timed_out(const struct work *work, struct err *why);

/** The parameters of a work's i-th statement, as db functions take them; freed by the caller. */
const char **attempt_params(const struct work *work, int i, int *ret_count);

#endif

/**
 * What: SQL of users that a job needs: a look at the table of its trigger, or the mark and the
 *   query of a firing. Each runs in a session of the tasks' login, never in one of ours, and comes
 *   back with the token that was taken for it.
 * Invariants: a look cannot write, and has ASK_LOOK_MS. A firing is one statement, which fires or
 *   fails as a whole (sql/functions/job/ask_fire.sql): nothing is left open when its client dies.
 *   DISCARD ALL follows the statements, so nothing of them is left in the session.
 * Threads: ask_new where the row is; the rest where the session is.
 * Ownership: an ask is one piece of memory, from malloc to free; it is mail, and travels between
 *   threads.
 * Failure: a refusal is a field of the ask: failed, again and why. RC_LOST: the session is gone,
 *   too; close it.
 */
#ifndef SCHEDULER_ASK_H
#define SCHEDULER_ASK_H

#include "base/err.h"
#include "base/mailbox.h"
#include "db/db.h"

/** The time-out of a look, which fails with SQLSTATE_QUERY_CANCELED at it; SQL of a firing has ten
 * minutes. */
#define ASK_LOOK_MS  2000
#define ASK_TOO_LONG "the look took longer than %d s"

struct ask {
    struct mail mail;
    const char *token, *look, *mark, *query, *words; /* NULL: none; look: it is one */
    const char *job, *schedule, *scheduled_for;      /* for the log; NULL: not known */
    /* what has come of it */
    bool failed;
    /* nothing is known against the job: another session was in the way, or this one was lost */
    bool again;
    struct err why;
    char rows[24], oldest[40], newest[40]; /* of a look; "": none */
    char run[40];                          /* of a firing; "": it is skipped */
};

/** The columns of a row, by their numbers; -1: it has none. */
struct ask_columns {
    int token, look, mark, query, words, job, schedule, scheduled_for;
};
struct ask *ask_new(const struct db_result *rows, int row, const struct ask_columns *columns);

/** For how long a session is to have patience with it (db_patience): the server ends a statement
 * that is late; one that says nothing is given up later. */
int ask_patience_ms(const struct ask *ask);

/** Runs it. RC_LOST: as above. */
MUST_CHECK enum rc ask_run(struct db *db, struct ask *ask);

/** The session could not be opened, because of *why. */
void ask_refuse(struct ask *ask, const struct err *why);

/** Why it failed, in words for the job's log: SQLSTATE and message. */
void ask_why(const struct ask *ask, char *text, size_t size);

#endif

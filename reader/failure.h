/**
 * What: how a failed attempt is put into words for its row: all that the server said, and where in
 *   the task it was.
 * Invariants: a failure can always be recorded: texts that the database refuses are left out, and
 *   at last the attempt is given up as lost. Texts are UTF-8 and bounded, as in db.
 * Threads: the reader's own.
 * Ownership: struct failure borrows from the work, from *why and from its own context, which
 *   failure_done frees.
 * Failure: none.
 */
#ifndef READER_FAILURE_H
#define READER_FAILURE_H

#include "base/err.h"
#include "base/str.h"

struct work;

/** The parameters of lockstep.fail; NULL: none. */
struct failure {
    const char *sqlstate, *error, *detail, *hint, *where;
    bool permanent,
        raised;         /* raised: by the task's SQL, so its SQLSTATE says nothing of the server */
    struct str context; /* where points there */
    char refused[120];
    int tries;
};

/** From *why, and from the error report of the server, if *why is that. */
void failure_make(struct failure *failure, const struct work *work, const struct err *why,
                  bool permanent);
/** This instead of the error (NULL: it stays) and of its detail; borrowed. */
void failure_replace(struct failure *failure, const char *error, const char *detail);
/**
 * The database refused to record it, and said why. True: it is to be sent once more; it has a fixed
 * text now, and at last it is permanent, so that nothing of the message is read. False: it cannot
 * be recorded; or it is another's by now, or the session is to blame.
 */
bool failure_again(struct failure *failure, enum rc rc, const struct err *refused);
void failure_done(struct failure *failure);

/** The token is no longer the task's. */
bool failure_stale(enum rc rc, const struct err *refused);
/** The server lacks what the statement calls, or does not let this login call it. Of a statement of
 * Lockstep: the task has no part in it, and no session of this login can record anything. The SQL
 * of a task may fail with the same codes: fitness_check finds out (reader/fitness.h). */
bool failure_barred(const struct err *why);

#endif

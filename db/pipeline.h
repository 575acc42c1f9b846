/**
 * What: libpq's pipeline mode: statements are sent ahead and their results read as they come.
 * Invariants: the statements between two syncs are one implicit transaction (PostgreSQL manual,
 *   section 34.5); a failed statement skips the rest up to its sync. Rows of results are thrown
 *   away as they arrive, so memory stays flat.
 * Threads: the session's own.
 * Ownership: borrows the session; parameters are copied into its send buffer.
 * Failure: as db.h. RC_LOST: everything under way is of unknown outcome.
 */
#ifndef DB_PIPELINE_H
#define DB_PIPELINE_H

#include "db/db.h"

/** Into and out of pipeline mode. Out: only when every sync was answered. */
MUST_CHECK enum rc pipeline_start(struct db *db, struct err *err);
MUST_CHECK enum rc pipeline_stop(struct db *db, struct err *err);

/** Sends one command of the user's, with text parameters (NULL = SQL NULL). */
MUST_CHECK enum rc pipeline_send(struct db *db, const char *sql, int param_count,
                                 const char *const *params, struct err *err);
/** The same for a command without a NUL in text[0 .. len), prepared when it comes again in the same
 * scope. *ret_replies: how many there will be, the command's own the last one; *ret_prepared: it is
 * executed by a name, which may fail where the command itself would not (SQLSTATE 0A000): then send
 * it with pipeline_send. */
MUST_CHECK enum rc pipeline_send_recalled(struct db *db, int64_t scope, const char *text,
                                          size_t len, int param_count, const char *const *params,
                                          int *ret_replies, bool *ret_prepared, struct err *err);
/** Sends a statement of sql/. *ret_replies: how many replies it will have, 2 when it is prepared on
 * the way. A failure before it leaves it unprepared without db knowing: then reset the session. */
MUST_CHECK enum rc pipeline_send_stmt(struct db *db, const struct sql_statement *stmt,
                                      const char *const *params, int *ret_replies, struct err *err);
MUST_CHECK enum rc pipeline_sync(struct db *db, struct err *err);

/** Pushes out what is buffered. *ret_more: poll the socket for writing, too. */
MUST_CHECK enum rc pipeline_flush(struct db *db, bool *ret_more, struct err *err);

enum pipeline_reply { PIPELINE_OK, PIPELINE_ERROR, PIPELINE_SKIPPED, PIPELINE_SYNC, PIPELINE_COPY };

/**
 * Reads what the socket has (pipeline_read), then hands out one reply after the other without
 * waiting. RC_NONE: no reply is complete yet. PIPELINE_ERROR fills *ret_failed with the server's
 * words.
 */
MUST_CHECK enum rc pipeline_read(struct db *db, struct err *err);
MUST_CHECK enum rc pipeline_next(struct db *db, enum pipeline_reply *ret_reply,
                                 struct err *ret_failed, struct err *err);

/** Prepares a statement of sql/ on this session now. Not in pipeline mode. */
MUST_CHECK enum rc db_prepare(struct db *db, const struct sql_statement *stmt, struct err *err);

/** Sends what puts the session back to how it was opened, but keeps what is prepared. In a
 * transaction of its own. */
MUST_CHECK enum rc pipeline_send_clean(struct db *db, int *ret_replies, struct err *err);

#endif

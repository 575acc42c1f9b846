/**
 * What: one PostgreSQL session, and how a statement of sql/ is run on it. Only this folder
 *   includes libpq.
 * Invariants: every session is set up alike (READ COMMITTED, UTF-8, time-outs, search_path,
 *   dead-peer parameters: db/packet.h and sql/session/settings.sql), independent of a DBA's
 *   defaults; a session behind a pooler is refused. Statements are prepared on first use. A session
 *   that failed without an SQLSTATE is lost: only db_close is left to call.
 * Threads: a session, and so an advisory lock, belongs to one thread; other threads reach it
 *   through db/canceller.h.
 * Ownership: db_open gives the session to the caller; db_close takes it. A result belongs to
 *   the caller (db/result.h).
 * Failure: RC_LOST: close and open again. RC_RETRY: contention or a time-out; from db_open: the
 *   server accepts no session now (all connections in use, starting, a standby). RC_REJECT: the
 *   statement or its data are wrong. RC_FATAL: rights, schema, a standby. db/sqlstate.c has the
 *   table. err->code is the SQLSTATE.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "base/err.h"
#include "db/parameter.h"
#include "db/result.h"
#include "sql/sql.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;

/** What a session is for; sets its application_name "lockstep/<role>". DB_READER and DB_QUERY run
 * SQL of the user's: their search_path is the login's own. */
enum db_role {
    DB_CLI,
    DB_CONTROL,
    DB_GATE,
    DB_LIVENESS,
    DB_READER,
    DB_PRODUCER,
    DB_QUERY,
    DB_RELAY,
    DB_RETENTION,
    DB_DISPATCHER,
    DB_MONITOR,
    DB_METRICS,
    DB_CONSOLE,
    DB_MIGRATE
};

/** Connects (10 s at most per host), refuses poolers, and standbys but for DB_CLI, sets the session
 * up. conninfo "" = libpq's defaults. */
MUST_CHECK enum rc db_open(const char *conninfo, enum db_role role, struct db **ret_db,
                           struct err *err);

/** What a session leads to. */
struct db_server {
    char system_id[24]; /* of the cluster, kept by its copies; "": this server does not report it */
    int64_t database;   /* oid */
    int64_t timeline;   /* grows with each promotion and each restore; 0 on a standby */
};
const struct db_server *db_server(const struct db *db);

/** As db_open, but only to that server: DB_SAME: cluster, database and timeline are the same.
 * DB_NOT_OLDER: it is another cluster, or its timeline is not lower: an old primary that came back
 * is refused. Of several hosts in conninfo each is tried, not only the first that answers. RC_LOST:
 * none of them is it. */
enum db_match { DB_SAME, DB_NOT_OLDER };
MUST_CHECK enum rc db_open_on(const char *conninfo, enum db_role role,
                              const struct db_server *server, enum db_match match,
                              struct db **ret_db, struct err *err);
/** As db_open_on, and gives up, with RC_LOST, within a quarter of a second when *unwanted becomes
 * true while a server takes the connection and does not answer. */
MUST_CHECK enum rc db_open_wanted(const char *conninfo, enum db_role role,
                                  const struct db_server *server, enum db_match match,
                                  const _Atomic bool *unwanted, struct db **ret_db,
                                  struct err *err);
void db_close(struct db *db); /* NULL is fine */

/** From now on a call that the server has not answered after patience_ms fails with RC_LOST and
 * kind ERR_TIMEOUT, and so does every later one: a stopped backend or a line that is cut sends no
 * notice. 0: no limit, as after db_open. For sessions whose statements are short; not in pipeline
 * mode. */
void db_patience(struct db *db, int patience_ms);

/**
 * For commands. When fd becomes readable, a statement of a person's or a producer's session that
 * still runs two seconds later is cancelled: it fails with RC_REJECT and kind ERR_CANCELLED. Ten
 * seconds later still the session is given up, as db_patience does it. A later statement is not
 * cancelled, because it tidies up. Called once for the process, before it has other threads.
 */
void db_interrupt(int fd);

/** Runs one statement with stmt->params text-format parameters (NULL = SQL NULL). RC_OK, or RC_NONE
 * when a :maybe statement found no row. ret_result may be NULL. Repeats, a few times and ever
 * later, a statement that the server has undone in a deadlock or a serialization failure, but not
 * within a transaction block. */
MUST_CHECK enum rc db_run(struct db *db, const struct sql_statement *stmt,
                          const char *const *params, struct db_result **ret_result,
                          struct err *err);

/**
 * The same, for a session with patience; while its answer is waited for, beside->fn is called
 * whenever beside->fd can be read. It has to read it, and must not use this session.
 */
struct db_beside {
    int fd;
    void (*fn)(void *context);
    void *context;
};
MUST_CHECK enum rc db_run_beside(struct db *db, const struct sql_statement *stmt,
                                 const char *const *params, const struct db_beside *beside,
                                 struct db_result **ret_result, struct err *err);

/** Runs text as a simple query, several statements allowed: migrations, and tests. */
MUST_CHECK enum rc db_script(struct db *db, const char *text, struct db_result **ret_result,
                             struct err *err);

#endif

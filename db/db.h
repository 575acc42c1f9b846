/**
 * What: one PostgreSQL session, and how a statement of sql/ is run on it. Only this folder
 *   includes libpq.
 * Invariants: every session is set up alike (READ COMMITTED, UTF-8, time-outs, search_path, dead-peer parameters: db/packet.h
 *   and sql/session/settings.sql), whatever a DBA's defaults are; a session behind a
 *   pooler is refused. Statements are prepared on first use. A session that failed
 *   without an SQLSTATE is lost: only db_close is left to call.
 * Threads: a session, and so an advisory lock, belongs to one thread; db_canceller may be used
 *   from any other.
 * Ownership: db_open gives the session to the caller; db_close takes it. A result belongs to
 *   the caller (db_free).
 * Failure: RC_LOST: close and open again. RC_RETRY: contention or a time-out; from db_open: the server is there, but takes
 *   nobody now (all connections in use, starting, a standby). RC_REJECT: the
 *   statement or its data are wrong. RC_FATAL: rights, schema, a standby. db/sqlstate.c has the
 *   table. err->code is the SQLSTATE.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "base/err.h"
#include "base/str.h"
#include "sql/sql.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_result;

/** What a session is for; sets its application_name "lockstep/<role>". DB_READER and DB_QUERY run SQL of the user's: their
 * search_path is the login's own. */
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
    DB_MIGRATE
};

/** Connects (10 s at most per host), refuses poolers, and standbys but for DB_CLI, sets the session up. conninfo "" = libpq's
 * defaults. */
MUST_CHECK enum rc db_open(const char *conninfo, enum db_role role, struct db **ret_db,
                           struct err *err);

/** What a session leads to. */
struct db_server {
    char system_id[24]; /* of the cluster, kept by its copies; "": this server does not tell */
    int64_t database;   /* oid */
    int64_t timeline;   /* grows with each promotion and each restore; 0 on a standby */
};
const struct db_server *db_server(const struct db *db);

/**
 * As db_open, but only to that server: DB_SAME: cluster, database and timeline are the same. DB_NOT_OLDER: it is another
 * cluster, or its timeline is not lower: an old primary that came back is refused. Of several hosts in conninfo each is
 * looked at, not only the first that answers. RC_LOST: none of them is it.
 */
enum db_match { DB_SAME, DB_NOT_OLDER };
MUST_CHECK enum rc db_open_on(const char *conninfo, enum db_role role,
                              const struct db_server *server, enum db_match match,
                              struct db **ret_db, struct err *err);
void db_close(struct db *db); /* NULL is fine */

/**
 * From now on a call that the server has not answered after patience_ms fails with RC_LOST and kind ERR_TIMEOUT, and so does
 * every later one: a stopped backend or a line that is cut tells nobody. 0: no limit, as after db_open. For sessions whose
 * statements are short; not in pipeline mode.
 */
void db_patience(struct db *db, int patience_ms);

/**
 * For commands: what a person's or a producer's session waits for when fd becomes readable, and two seconds later still, is
 * cancelled and fails with RC_REJECT and kind ERR_CANCELLED; what is asked later is not, because it tidies up. Once for the process, before it has other threads.
 */
void db_interrupt(int fd);

/**
 * Runs one statement with stmt->params text-format parameters (NULL = SQL NULL).
 * RC_OK, or RC_NONE when a :maybe statement found no row. ret_result may be NULL.
 * Repeats, a few times and ever later, what the server has undone in a deadlock or a serialization failure, but not within a transaction block.
 */
MUST_CHECK enum rc db_run(struct db *db, const struct sql_statement *stmt,
                          const char *const *params, struct db_result **ret_result,
                          struct err *err);

/**
 * The same, for a session with patience; while its answer is waited for, beside->fn is called whenever beside->fd can be read.
 * It has to read it, and must not use this session.
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

/** Rows are 0-based; columns have the names that the statement's contract gives them (sql/sql.h). db_text is "" for NULL (see
 * db_null) and lives as long as the result. */
int db_rows(const struct db_result *result);
int db_columns(const struct db_result *result);
const char *db_column_name(const struct db_result *result, int column);
unsigned db_column_type(const struct db_result *result, int column); /* pg_type.oid */
bool db_null(const struct db_result *result, int row, int column);
const char *db_text(const struct db_result *result, int row, int column);
int db_length(const struct db_result *result, int row, int column);  /* bytes */
int64_t db_int(const struct db_result *result, int row, int column); /* 0 for NULL */
bool db_bool(const struct db_result *result, int row, int column);
double db_double(const struct db_result *result, int row, int column);
/** Which of the words of the statement's contract a column holds; -1 for NULL. There is no other: db_run refuses an answer whose
 * word the contract does not know with RC_FATAL. Only of columns that have words. */
int db_word(const struct db_result *result, int row, int column);
void db_free(struct db_result *result); /* NULL is fine */
void db_result_auto(struct db_result **result);
#define DB_RESULT_AUTO __attribute__((cleanup(db_result_auto))) struct db_result

/** An integer as a parameter; lives until the end of the enclosing block. */
#define DB_INT(value) int64_text((char[INT64_TEXT_SIZE]){0}, (int64_t)(value))

/** The socket, for poll(2); changes when the session is opened anew. */
int db_socket(const struct db *db);

/** Who the session is logged in as. */
const char *db_login(const struct db *db);
/** The backend's process id. */
int db_backend_pid(const struct db *db);
const char *
db_backend_start(const struct db *db); /* timestamptz; with the pid it names the backend for good */

/** A notification has come already, with the answer to a statement: the socket does not tell of it any more. To be asked before
 * the socket is waited for. */
bool db_notified(struct db *db);

/** Reads what the server sent unasked. RC_OK with channel and payload (live until the next call),
 * RC_NONE if nothing. */
MUST_CHECK enum rc db_notification(struct db *db, const char **ret_channel,
                                   const char **ret_payload, struct err *err);

/**
 * For other threads. db_cancel asks the server to cancel what the session runs, and waits for nothing: the request has a
 * thread of its own. db_sever cuts the session's socket: a call that waits on it returns RC_LOST at once, and the server
 * cancels what it runs within a second (client_connection_check_interval). The canceller outlives the session; while it is
 * there, closing the session does not close the socket.
 */
struct db_canceller;
struct db_canceller *db_canceller_new(struct db *db);
void db_canceller_free(struct db_canceller *canceller);
void db_cancel(struct db_canceller *canceller);
/** Waits until each request that was made has ended: from then on none hits what the session is given. False: not within so long. */
bool db_cancel_wait(struct db_canceller *canceller, int patience_ms);
void db_sever(struct db_canceller *canceller);
/** Its descriptor of the session's socket, for others to hold open: the server does not see us go before they do. */
int db_canceller_socket(const struct db_canceller *canceller);

/** Array literals for parameters of type int8[], text[], bytea[]: db_array_start, then elements,
 * then db_array_end. */
struct str;
void db_array_start(struct str *str);
void db_array_int(struct str *str, int64_t value);
void db_array_text(struct str *str, const char *text, size_t len); /* text NULL = SQL NULL */
void db_array_bytes(struct str *str, const void *bytes, size_t len);
void db_array_end(struct str *str);
/** A bytea parameter in hex format, appended. */
void db_bytea(struct str *str, const void *bytes, size_t len);

#endif

/* Statements, one at a time; begin with db_run() and run_once(): prepare on first use, send, read
 * (answer.c), check the result against the contract of the statement. Text parameters and text
 * results only: the server's types decide, and a cast is in the statement. Errors become reactions
 * in sqlstate.c. Batches of tasks go through pipeline.c. */
#include "db/session.h"

#include "base/log.h"
#include "base/remedies.h"
#include "base/remedies_rights.h"
#include "base/str.h"
#include "base/utf8.h"
#include "db/backend.h"
#include "db/notification.h"
#include "db/pipeline.h"
#include "db/sqlstate.h"
#include "db/task_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const db_role_names[] = {"cli",      "control", "gate",    "liveness",  "reader",
                                     "producer", "query",   "relay",   "retention", "dispatcher",
                                     "monitor",  "metrics", "console", "migrate"};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void copy_line(char *to, size_t size, const char *from)
{
    /* libpq explains a lost connection over several lines; the first says it. */
    size_t n = from ? strcspn(from, "\n") : 0;
    n = utf8_fit(from ? from : "", n, size - 1);
    memcpy(to, from ? from : "", n);
    to[n] = '\0';
    while (n > 0 && (to[n - 1] == '\n' || to[n - 1] == ' '))
        to[--n] = '\0';
}

/* The functions of PL/pgSQL, PL/Python, PL/Tcl and PL/Perl by which SQL raises errors. */
static bool raised(const PGresult *result)
{
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    static const char *const raising[] = {"exec_stmt_raise", "PLy_elog_impl", "PLy_elog",
                                          "throw_tcl_error", "plperl_call_perl_func"};
    for (size_t i = 0; function != NULL && i < sizeof raising / sizeof *raising; i++)
        if (strcmp(function, raising[i]) == 0)
            return true;
    return false;
}

/* A session of an executor or of a monitor needs one group, so its hint can name it, and the login.
 */
static void hint_group(const struct db *db, struct err *err)
{
    static const struct {
        enum db_role role;
        const char *group;
    } needs[] = {{DB_CONTROL, "lockstep_executor"},   {DB_GATE, "lockstep_executor"},
                 {DB_LIVENESS, "lockstep_executor"},  {DB_RELAY, "lockstep_executor"},
                 {DB_RETENTION, "lockstep_executor"}, {DB_DISPATCHER, "lockstep_executor"},
                 {DB_MONITOR, "lockstep_operator"}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (db->role == needs[i].role)
            utf8_format(err->hint, sizeof err->hint,
                        REMEDY_GRANT_GROUP(needs[i].group, db_login(db)));
}

enum rc db_fail(struct db *db, const char *object, const PGresult *result, struct err *err)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    /* A session that the server has ended gave the reason in a notice (on_notice). */
    bool ended = state == NULL && !db->late && db->ended_state[0] != '\0';
    if (ended)
        state = db->ended_state;
    enum err_kind kind;
    const char *hint;
    enum rc rc = sqlstate_reaction(state, &kind, &hint);
    /* 57014 is RC_RETRY: a cancel by Ctrl-C must not be retried as if a time-out had done it. */
    bool interrupted = db->interrupted && rc == RC_RETRY;
    if (interrupted) {
        rc = RC_REJECT;
        kind = ERR_CANCELLED;
    }
    if (err == NULL)
        return rc;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (result == NULL && db->late) {
        kind = ERR_TIMEOUT;
        text = "the server does not answer";
    } else if (ended)
        text = db->ended_why;
    else if (text == NULL)
        text = PQerrorMessage(db->conn);
    if (interrupted)
        text = "interrupted";
    const char *server_hint = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) : NULL;
    (void)err_set(err, rc, kind, object, server_hint ? server_hint : hint, "%s",
                  text && *text ? text : "the connection to the server was lost");
    copy_line(err->message, sizeof err->message, err->message[0] ? text : NULL);
    if (err->message[0] == '\0')
        copy_line(err->message, sizeof err->message, "the connection to the server was lost");
    err_code(err, state);
    if (server_hint == NULL && sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE))
        hint_group(db, err);
    if (result != NULL) {
        err->raised = raised(result);
        err->hinted = server_hint != NULL;
        copy_line(err->detail, sizeof err->detail,
                  PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
        utf8_copy(err->context, sizeof err->context,
                  or_empty(PQresultErrorField(result, PG_DIAG_CONTEXT)));
    }
    return rc;
}

/* libpq calls this while it reads, in the thread of the session. The reason of a session's end
 * arrives as a notice before the connection breaks, so it is kept for the error that the next call
 * reports. */
static void on_notice(void *context, const PGresult *result)
{
    struct db *db = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (severity == NULL || message == NULL)
        return;
    const char *state = or_empty(PQresultErrorField(result, PG_DIAG_SQLSTATE));
    /* A server that crashes or is stopped at once only warns its sessions. A warning that SQL
     * raises has a context. */
    bool warned = (strcmp(state, "57P01") == 0 || strcmp(state, "57P02") == 0) &&
                  PQresultErrorField(result, PG_DIAG_CONTEXT) == NULL;
    if (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0 || warned) {
        (void)snprintf(db->ended_state, sizeof db->ended_state, "%s", state);
        copy_line(db->ended_why, sizeof db->ended_why, message);
        return; /* the next call on this session reports it */
    }
    if (db->diag != NULL)
        db_diag_notice(db->diag, severity, result);
    if (strcmp(severity, "WARNING") == 0 && db->role != DB_READER)
        log_event(LOG_WARN, "database_warning", "session", db_role_names[db->role], "message",
                  message, NULL);
}

void db_receive_notices(struct db *db)
{
    (void)PQsetNoticeReceiver(db->conn, on_notice, db);
}

struct db_result *db_result_new(PGresult *result, const struct sql_statement *stmt)
{
    struct db_result *wrapped = xmalloc(sizeof *wrapped);
    wrapped->result = result;
    wrapped->stmt = stmt;
    return wrapped;
}

/** Also after DISCARD ALL: the server has then forgotten all prepared statements and settings. */
enum rc db_setup(struct db *db, struct err *err)
{
    memset(db->prepared, 0, sizeof db->prepared);
    db->wary = false;
    recall_clear(&db->recall);
    PGresult *result = db_answer(
        db, PQsendQueryParams(db->conn, sql_session_settings.text, 0, NULL, NULL, NULL, NULL, 0));
    enum rc rc = RC_OK;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        rc = db_fail(db, "session settings", result, err);
    PQclear(result);
    return rc;
}

void db_close(struct db *db)
{
    if (db == NULL)
        return;
    if (db->notify != NULL)
        PQfreemem(db->notify);
    if (db->pending != NULL)
        PQfreemem(db->pending);
    PQfinish(db->conn);
    /* The server ends the prepared statements with the session. */
    recall_clear(&db->recall);
    free(db);
}

void db_has_prepared(struct db *db, const struct sql_statement *stmt)
{
    db->prepared[stmt->index] = true;
}

void db_wary(struct db *db, bool wary)
{
    db->wary = wary;
}

enum rc db_prepare(struct db *db, const struct sql_statement *stmt, struct err *err)
{
    if (db->prepared[stmt->index])
        return RC_OK;
    PGresult *result = db_answer(db, PQsendPrepare(db->conn, stmt->name, stmt->text, 0, NULL));
    enum rc rc = RC_OK;
    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        db_has_prepared(db, stmt);
    else
        rc = db_fail(db, stmt->name, result, err);
    PQclear(result);
    return rc;
}

/** The cardinality in the first line of the statement's file is a contract, and a violation a
 * defect. */
static enum rc check_rows(const struct sql_statement *stmt, int rows, struct err *err)
{
    if (stmt->rows == SQL_MAYBE && rows == 0)
        return RC_NONE;
    if ((stmt->rows == SQL_ONE && rows != 1) || (stmt->rows == SQL_MAYBE && rows > 1))
        return err_set(err, RC_FATAL, ERR_INTERNAL, stmt->name, "Please report this.",
                       "the statement returned %d rows", rows);
    return RC_OK;
}

/* The word that a cell holds; -1: none that the statement's contract knows. */
static int find_word(const PGresult *result, int row, const struct sql_words *known)
{
    for (int i = 0; known->column >= 0 && known->words[i] != NULL; i++)
        if (strcmp(PQgetvalue(result, row, known->column), known->words[i]) == 0)
            return i;
    return -1;
}

/* A verdict that this program does not know would otherwise be taken for the default of a switch.
 * It means that functions and program are of different versions. */
static enum rc check_words(const struct sql_statement *stmt, const PGresult *result,
                           struct err *err)
{
    for (const struct sql_words *known = stmt->words; known != NULL && known->column >= 0; known++)
        for (int row = 0; row < PQntuples(result); row++)
            if (!PQgetisnull(result, row, known->column) && find_word(result, row, known) < 0)
                return err_set(err, RC_FATAL, ERR_INTERNAL, stmt->name,
                               "The database's functions are of another version: `lockstep "
                               "migrate list` shows which.",
                               "\"%s\" says \"%s\", which this version does not know",
                               stmt->names[known->column], PQgetvalue(result, row, known->column));
    return RC_OK;
}

static enum rc check_contract(const struct sql_statement *stmt, const PGresult *result,
                              struct err *err)
{
    enum rc rc = check_rows(stmt, PQntuples(result), err);
    return rc == RC_OK ? check_words(stmt, result, err) : rc;
}

int db_word(const struct db_result *result, int row, int column)
{
    if (PQgetisnull(result->result, row, column))
        return -1;
    const struct sql_words *known = result->stmt->words;
    while (known->column >= 0 && known->column != column)
        known++;
    return find_word(result->result, row, known);
}

static enum rc refused(struct db *db, const struct sql_statement *stmt, const PGresult *result,
                       struct err *err)
{
    enum rc rc = db_fail(db, stmt->name, result, err);
    err->at_commit = db->done;
    return rc;
}

static enum rc run_once(struct db *db, const struct sql_statement *stmt, const char *const *params,
                        struct db_result **ret_result, struct err *err)
{
    db_asks(db);
    /* Wary: a user's SQL may have changed the session. Its DEALLOCATE ALL, or a statement of the
     * same name, must not make ours fail or be another one. */
    enum rc rc = db->wary ? RC_OK : db_prepare(db, stmt, err);
    if (rc != RC_OK)
        return rc;
    int sent =
        db->wary
            ? PQsendQueryParams(db->conn, stmt->text, stmt->params, NULL, params, NULL, NULL, 0)
            : PQsendQueryPrepared(db->conn, stmt->name, stmt->params, params, NULL, NULL, 0);
    PGresult *result = db_answer(db, sent);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        rc = refused(db, stmt, result, err);
    else if (status == PGRES_TUPLES_OK)
        rc = check_contract(stmt, result, err);
    if ((rc == RC_OK || rc == RC_NONE) && ret_result != NULL)
        *ret_result = db_result_new(result, stmt);
    else
        PQclear(result);
    return rc;
}

/* The server has undone the statement, and nothing of it is left. That includes locks of the
 * session, because a statement that acquires or releases some does it last; but not if the server
 * refused only the commit: then the caller settles them. Within a transaction block the statements
 * before it are undone, too, so it may not be repeated alone. */
static bool again(const struct db *db, const struct sql_statement *stmt, enum rc rc,
                  const struct err *err)
{
    return rc == RC_RETRY && sqlstate_undone(err) && !(stmt->locks && err->at_commit) &&
           PQtransactionStatus(db->conn) == PQTRANS_IDLE;
}

/* Names the session that holds the row that this one has waited for. Only for people and producers:
 * they can act on it. */
static void name_holder(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    struct err ignored;
    const char *const params[] = {err->detail, err->context};
    if (run_once(db, &sql_session_row_waited, params, &row, &ignored) != RC_OK)
        return; /* older functions, or it has just ended */
    const char *pid = db_text(row, 0, SESSION_ROW_WAITED_PID);
    utf8_format(err->hint, sizeof err->hint, REMEDY_ROW_WAITED, pid,
                db_text(row, 0, SESSION_ROW_WAITED_WHO), pid);
}

static bool waited(const struct db *db, enum rc rc, const struct err *err)
{
    return rc == RC_RETRY && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE) &&
           (db->role == DB_CLI || db->role == DB_PRODUCER) &&
           PQtransactionStatus(db->conn) == PQTRANS_IDLE;
}

/* UNDONE_MOST tries: the other party of a deadlock needs its time, too, and a transaction that is
 * undone each time is a conflict that a person must see (tests/db/deadlock_test.c,
 * tests/e2e/undone.sh). */
enum rc db_run(struct db *db, const struct sql_statement *stmt, const char *const *params,
               struct db_result **ret_result, struct err *err)
{
    struct err own;
    err = err != NULL ? err : &own;
    enum rc rc = run_once(db, stmt, params, ret_result, err);
    for (int i = 0; i < UNDONE_MOST && again(db, stmt, rc, err); i++) {
        /* A person who waits for a command does not need this line. */
        if (db->role != DB_CLI)
            log_event(LOG_INFO, "statement_repeated", "statement", stmt->name, "code", err->code,
                      "detail", err->detail, NULL);
        sqlstate_undone_wait(i);
        rc = run_once(db, stmt, params, ret_result, err);
    }
    if (waited(db, rc, err))
        name_holder(db, err);
    return rc;
}

enum rc db_run_beside(struct db *db, const struct sql_statement *stmt, const char *const *params,
                      const struct db_beside *beside, struct db_result **ret_result,
                      struct err *err)
{
    db->beside = beside;
    enum rc rc = db_run(db, stmt, params, ret_result, err);
    db->beside = NULL;
    return rc;
}

/** The simple protocol: several statements in one text, without parameters. For migrations and
 * BEGIN, COMMIT, DISCARD. */
enum rc db_script(struct db *db, const char *text, struct db_result **ret_result, struct err *err)
{
    db_asks(db);
    PGresult *result = db_answer(db, PQsendQuery(db->conn, text));
    ExecStatusType status = PQresultStatus(result);
    enum rc rc = RC_OK;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
        rc = db_fail(db, "script", result, err);
    if (rc == RC_OK && ret_result != NULL)
        *ret_result = db_result_new(result, NULL);
    else
        PQclear(result);
    return rc;
}

int db_socket(const struct db *db)
{
    return PQsocket(db->conn);
}

const char *db_login(const struct db *db)
{
    return PQuser(db->conn);
}

struct db_place db_place(const struct db *db)
{
    return (struct db_place){PQhost(db->conn), PQport(db->conn), PQdb(db->conn)};
}

bool db_used_password(const struct db *db)
{
    return PQconnectionUsedPassword(db->conn) != 0;
}

int db_backend_pid(const struct db *db)
{
    return db->backend_pid;
}

const char *db_backend_start(const struct db *db)
{
    return db->backend_start;
}

const struct db_server *db_server(const struct db *db)
{
    return &db->server;
}

bool db_has_ended(struct db *db)
{
    bool reads = PQconsumeInput(db->conn) == 1;
    (void)PQisBusy(db->conn); /* parses what came: the server's last word is a notice */
    return !reads || PQstatus(db->conn) == CONNECTION_BAD || db->ended_state[0] != '\0';
}

bool db_notified(struct db *db)
{
    if (db->pending == NULL)
        db->pending = PQnotifies(db->conn);
    return db->pending != NULL;
}

enum rc db_notification(struct db *db, const char **ret_channel, const char **ret_payload,
                        struct err *err)
{
    if (db->notify != NULL)
        PQfreemem(db->notify);
    db->notify = NULL;
    /* Notifications that libpq has read already come first; only then the socket is read. */
    if (!db_notified(db) && !PQconsumeInput(db->conn))
        return db_fail(db, "notifications", NULL, err);
    if (!db_notified(db))
        return RC_NONE;
    db->notify = db->pending;
    db->pending = NULL;
    *ret_channel = db->notify->relname;
    *ret_payload = db->notify->extra;
    return RC_OK;
}

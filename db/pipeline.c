/* libpq's pipeline mode (manual, Pipeline Mode), and commands of tasks outside it. Rules of the
 * manual that shape this file: results come in the order of the commands, a NULL follows each
 * result, an error skips everything up to the next sync, and single-row mode must be asked for
 * again for each command. */
#include "db/pipeline.h"

#include "base/str.h"
#include "db/session.h"
#include "db/task_session.h"

#include <stdio.h>

#include <string.h>

enum rc pipeline_start(struct db *db, struct err *err)
{
    /* Nonblocking, as the manual advises for pipelines: a blocking send may wait for a server that
     * waits for its answers to be read. */
    if (PQenterPipelineMode(db->conn) != 1 || PQsetnonblocking(db->conn, 1) != 0)
        return db_fail(db, "pipeline", NULL, err);
    db->syncs = 0;
    db->fresh = true;
    return RC_OK;
}

enum rc pipeline_stop(struct db *db, struct err *err)
{
    if (PQexitPipelineMode(db->conn) != 1 || PQsetnonblocking(db->conn, 0) != 0)
        return db_fail(db, "pipeline", NULL, err);
    return RC_OK;
}

enum rc pipeline_send(struct db *db, const char *sql, int param_count, const char *const *params,
                      struct err *err)
{
    if (PQsendQueryParams(db->conn, sql, param_count, NULL, params, NULL, NULL, 0) != 1)
        return db_fail(db, "pipeline", NULL, err);
    return RC_OK;
}

/* The statements of sql/ have names that end in no number, so the two kinds cannot be the same. */
static const char *name_of(unsigned id, char name[24])
{
    (void)snprintf(name, 24, "task_%u", id);
    return name;
}

/** The place of the dropped text is free in the table; its plan would stay in the server until the
 * session ends. */
static enum rc deallocate(struct db *db, unsigned id, struct err *err)
{
    char name[24], sql[48];
    (void)snprintf(sql, sizeof sql, "DEALLOCATE %s", name_of(id, name));
    return pipeline_send(db, sql, 0, NULL, err);
}

enum rc pipeline_send_recalled(struct db *db, int64_t scope, const char *text, size_t len,
                               int param_count, const char *const *params, int *ret_replies,
                               bool *ret_prepared, struct err *err)
{
    char name[24];
    unsigned id = 0, dropped;
    STR_AUTO sql = {0};
    enum recall_advice advice = recall(&db->recall, scope, text, len, &id, &dropped);
    enum rc rc = dropped != 0 ? deallocate(db, dropped, err) : RC_OK;
    /* The caller reads so many replies: DEALLOCATE, Parse and Execute have one each. */
    *ret_replies = 1 + (dropped != 0) + (advice == RECALL_PREPARE);
    *ret_prepared = advice != RECALL_PLAIN;
    if (advice != RECALL_EXECUTE)
        str_add(&sql, text, len);
    if (rc != RC_OK || advice == RECALL_PLAIN)
        return rc != RC_OK ? rc : pipeline_send(db, sql.data, param_count, params, err);
    if (advice == RECALL_PREPARE &&
        PQsendPrepare(db->conn, name_of(id, name), sql.data, 0, NULL) != 1)
        return db_fail(db, "pipeline", NULL, err);
    if (PQsendQueryPrepared(db->conn, name_of(id, name), param_count, params, NULL, NULL, 0) != 1)
        return db_fail(db, "pipeline", NULL, err);
    return RC_OK;
}

/* The statement counts as prepared as soon as Parse is sent, although an error before it may make
 * the server skip it: after an error the session is reset, and db_setup() forgets all that was
 * prepared. */
enum rc pipeline_send_stmt(struct db *db, const struct sql_statement *stmt,
                           const char *const *params, int *ret_replies, struct err *err)
{
    *ret_replies = 1;
    if (db->wary)
        return pipeline_send(db, stmt->text, stmt->params, params, err);
    if (!db->prepared[stmt->index]) {
        if (PQsendPrepare(db->conn, stmt->name, stmt->text, 0, NULL) != 1)
            return db_fail(db, stmt->name, NULL, err);
        db_has_prepared(db, stmt);
        *ret_replies = 2;
    }
    if (PQsendQueryPrepared(db->conn, stmt->name, stmt->params, params, NULL, NULL, 0) != 1)
        return db_fail(db, stmt->name, NULL, err);
    return RC_OK;
}

enum rc pipeline_sync(struct db *db, struct err *err)
{
    if (PQpipelineSync(db->conn) != 1)
        return db_fail(db, "pipeline", NULL, err);
    db->syncs++;
    return RC_OK;
}

enum rc pipeline_flush(struct db *db, bool *ret_more, struct err *err)
{
    int left = PQflush(db->conn);
    if (left < 0)
        return db_fail(db, "pipeline", NULL, err);
    *ret_more = left == 1;
    return RC_OK;
}

enum rc pipeline_read(struct db *db, struct err *err)
{
    if (PQconsumeInput(db->conn) != 1)
        return db_fail(db, "pipeline", NULL, err);
    return RC_OK;
}

/* Rows read or written, as the command's tag says; -1: it says nothing of the kind. */
static int64_t rows_of(PGresult *result)
{
    const char *rows = PQcmdTuples(result);
    int64_t count = -1;
    return int64_parse(rows, strlen(rows), &count) ? count : -1;
}

/* Rows of a task are of no interest and may be many: in single-row mode each is freed as it
 * arrives, so the memory of a result is that of its largest row. */
static bool classify(const PGresult *result, enum pipeline_reply *ret_reply)
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_SINGLE_TUPLE)
        return false;
    if (status == PGRES_PIPELINE_SYNC)
        *ret_reply = PIPELINE_SYNC;
    else if (status == PGRES_PIPELINE_ABORTED)
        *ret_reply = PIPELINE_SKIPPED;
    else if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY)
        *ret_reply = PIPELINE_OK;
    else if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH)
        *ret_reply = PIPELINE_COPY;
    else
        *ret_reply = PIPELINE_ERROR;
    return true;
}

/* An error of a task is its own affair, with any SQLSTATE: a task may raise 57P01 itself. Only a
 * session that ends is lost, which the severity shows. The hints of our table are about statements
 * of ours. */
static enum rc task_failed(struct db *db, const PGresult *result, struct err *ret_failed)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    bool ends =
        severity == NULL || strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0;
    (void)db_fail(db, "task", result, ret_failed);
    if (ret_failed != NULL && !ends && PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) == NULL)
        ret_failed->hint[0] = '\0';
    if (db->diag != NULL) {
        db_diag_error(db->diag, result);
        if (ret_failed != NULL)
            ret_failed->context[0] = '\0'; /* all of it is there */
    }
    return ends ? RC_LOST : RC_REJECT;
}

enum rc pipeline_next(struct db *db, enum pipeline_reply *ret_reply, struct err *ret_failed,
                      struct err *err)
{
    while (db->syncs > 0) {
        if (db->fresh) /* refused when no result is due yet; then it is asked again */
            (void)PQsetSingleRowMode(db->conn);
        if (PQisBusy(db->conn))
            return RC_NONE;
        PGresult *result = PQgetResult(db->conn);
        db->fresh = result == NULL;
        if (result == NULL) {
            if (PQstatus(db->conn) == CONNECTION_BAD)
                return db_fail(db, "pipeline", NULL, err);
            continue;
        }
        bool complete = classify(result, ret_reply);
        enum rc rc = RC_OK;
        if (complete && *ret_reply == PIPELINE_ERROR) {
            rc = task_failed(db, result, ret_failed) == RC_LOST ? RC_LOST : RC_OK;
            if (rc == RC_LOST && err != NULL)
                *err = *ret_failed;
        }
        if (complete && *ret_reply == PIPELINE_OK && db->diag != NULL)
            db_diag_rows(db->diag, rows_of(result));
        if (complete && *ret_reply == PIPELINE_SYNC) {
            db->syncs--;
            db->fresh = true;
        }
        PQclear(result);
        if (complete)
            return rc;
    }
    return RC_NONE;
}

enum rc pipeline_send_clean(struct db *db, int *ret_replies, struct err *err)
{
    int more = 0;
    enum rc rc = pipeline_send_stmt(db, &sql_session_clean, NULL, ret_replies, err);
    /* It drops what a user's SQL has prepared; a name of ours that is gone is an error. */
    db_wary(db, false);
    if (rc == RC_OK)
        rc = pipeline_send_stmt(db, &sql_session_settings, NULL, &more, err);
    *ret_replies += more;
    return rc;
}

enum rc db_clean(struct db *db, struct err *err)
{
    enum rc rc = db_run(db, &sql_session_clean, NULL, NULL, err);
    db_wary(db, false);
    return rc == RC_OK ? db_run(db, &sql_session_settings, NULL, NULL, err) : rc;
}

enum rc db_reset(struct db *db, struct err *err)
{
    enum rc rc = db_script(db, "DISCARD ALL", NULL, err);
    return rc == RC_OK ? db_setup(db, err) : rc;
}

enum rc db_command(struct db *db, const char *sql, int param_count, const char *const *params,
                   struct err *err)
{
    if (PQsendQueryParams(db->conn, sql, param_count, NULL, params, NULL, NULL, 0) != 1)
        return db_fail(db, "task", NULL, err);
    /* See classify(): the rows are freed one by one. */
    (void)PQsetSingleRowMode(db->conn);
    enum rc rc = RC_OK;
    PGresult *result;
    while ((result = PQgetResult(db->conn)) != NULL) {
        enum pipeline_reply reply = PIPELINE_OK;
        bool complete = classify(result, &reply);
        PGresult *done = result;
        int64_t rows = complete && reply == PIPELINE_OK ? rows_of(result) : -1;
        if (rows >= 0 && db->diag != NULL)
            db_diag_rows(db->diag, (db->diag->rows > 0 ? db->diag->rows : 0) + rows);
        if (complete && reply == PIPELINE_ERROR && rc == RC_OK)
            rc = task_failed(db, result, err);
        PQclear(done);
        /* The results are not read to their end: a session in COPY mode waits for data that nothing
         * sends. */
        if (complete && reply == PIPELINE_COPY)
            return err_set(err, RC_LOST, ERR_DB, "task",
                           "Load files with COPY FROM a path or a program, or with INSERT.",
                           "COPY to or from the client is not possible in a task");
    }
    if (rc == RC_OK && PQstatus(db->conn) == CONNECTION_BAD)
        rc = db_fail(db, "task", NULL, err);
    return rc;
}

bool db_in_transaction(const struct db *db)
{
    return PQtransactionStatus(db->conn) != PQTRANS_IDLE;
}

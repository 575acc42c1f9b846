/* The rows of a SELECT, fetched through a cursor in a read-only transaction: one snapshot for the
 * whole run, and no more rows in memory than one FETCH brings. The SQL is a user's and runs on a
 * session of its own. */
#include "base/str.h"
#include "db/columns.h"
#include "db/sqlstate.h"
#include "producer/columns.h"
#include "producer/staged_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct query {
    struct db *db;
    struct db_result *rows; /* the batch, NULL before the first */
    int at;                 /* the next row of it */
    int64_t row;            /* of the whole, from 1 */
    bool over;
    struct columns columns; /* count 0: not read yet */
    struct str task;
};

/** Turns an error of the user's own SQL into a usage error. PostgreSQL names the function that runs
 * the SQL in the context of the error. */
static enum rc query_failed(enum rc rc, struct err *err)
{
    if (err->kind == ERR_CANCELLED) /* by the user: the SQL is not at fault */
        return RC_FATAL;
    bool writes = sqlstate_is(
        err, SQLSTATE_READ_ONLY_SQL_TRANSACTION); /* the transaction is read-only, not the server */
    bool theirs = rc == RC_REJECT || writes || strstr(err->context, "publish_open") != NULL;
    if (!theirs || (rc == RC_LOST && !writes))
        return rc;
    err->kind = ERR_USAGE;
    err->context[0] = '\0';
    (void)snprintf(err->object, sizeof err->object, "query");
    (void)snprintf(
        err->hint, sizeof err->hint,
        "it is one SELECT (or WITH, VALUES) with the columns order and sql, run read-only");
    return RC_FATAL;
}

static enum rc read_columns(struct query *query, struct err *err)
{
    struct column_value names[COLUMNS_MAX] = {0};
    int count = db_columns(query->rows);
    for (int i = 0; i < count && i < COLUMNS_MAX; i++) {
        names[i].text = db_column_name(query->rows, i);
        names[i].len = strlen(names[i].text);
    }
    enum rc rc =
        columns_header(names, count < COLUMNS_MAX ? count : COLUMNS_MAX, &query->columns, err);
    query->over = rc != RC_OK;
    return rc;
}

static enum rc fetch(struct query *query, struct err *err)
{
    db_free(query->rows);
    query->rows = NULL;
    query->at = 0;
    enum rc rc = db_run(query->db, &sql_publish_read_fetch, NULL, &query->rows, err);
    if (rc != RC_OK)
        return rc == RC_RETRY ? RC_FATAL : query_failed(rc, err); /* RC_RETRY means no row yet */
    if (query->columns.count == 0 && (rc = read_columns(query, err)) != RC_OK)
        return rc;
    query->over = db_rows(query->rows) == 0;
    return query->over ? RC_NONE : RC_OK;
}

/* A FETCH cannot be waited for with a time-out, so a caller that has one gets RC_RETRY first and
 * commits what is open; then it calls without one. */
static enum rc query_next(void *state, int timeout_ms, struct staged_text *ret_text,
                          struct err *err)
{
    struct query *query = state;
    if (query->over)
        return RC_NONE;
    if (query->rows == NULL || query->at == db_rows(query->rows)) {
        ret_text->line = 0;
        if (timeout_ms >= 0)
            return err_set(err, RC_RETRY, ERR_TIMEOUT, "query", NULL, "no row is here yet");
        enum rc rc = fetch(query, err);
        if (rc != RC_OK)
            return rc;
    }
    struct column_value values[COLUMNS_MAX] = {0};
    for (int i = 0; i < query->columns.count; i++)
        if (!db_null(query->rows, query->at, i))
            values[i] = (struct column_value){db_text(query->rows, query->at, i),
                                              (size_t)db_length(query->rows, query->at, i)};
    query->at++;
    str_clear(&query->task);
    enum rc rc = columns_row(&query->columns, values, query->columns.count, &query->task, err);
    *ret_text = (struct staged_text){++query->row, query->task.data, query->task.len};
    return rc;
}

static void query_close(void *state)
{
    struct query *query = state;
    struct err err;
    db_free(query->rows);
    /* a session that is lost has ended its transaction by itself */
    enum rc rc = db_run(query->db, &sql_publish_read_end, NULL, NULL, &err);
    (void)rc;
    str_done(&query->task);
    free(query);
}

enum rc staged_query(struct db *db, const char *query_text, struct staged_reader *ret_reader,
                     struct err *err)
{
    enum rc rc = db_run(db, &sql_publish_read_begin, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    struct query *query = xcalloc(1, sizeof *query);
    query->db = db;
    rc = db_run(db, &sql_publish_read_query, &query_text, NULL, err);
    if (rc != RC_OK) {
        query_close(query);
        return query_failed(rc, err);
    }
    *ret_reader = (struct staged_reader){query_next, query_close, query};
    return RC_OK;
}

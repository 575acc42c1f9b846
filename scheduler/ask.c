/* Runs one ask in the tasks' session, in three steps: the limits of the session, the user's
 * statement, DISCARD ALL. This file decides one thing: whether a failure is the job's own fault or
 * another session's. It does not report the outcome: scheduler/firing.c does, in the dispatcher's
 * session. */
#include "scheduler/ask.h"

#include "base/memory.h"
#include "base/probe.h"
#include "base/str.h"
#include "db/sqlstate.h"
#include "db/task_session.h"

#include <stdio.h>
#include <string.h>

/* Both are shorter than the lease of the token, 1 minute for a look and 15 minutes for a firing:
 * the server ends the statement before another session may decide the schedule. */
#define FIRE_MS  600000
#define GRACE_MS 30000

/* With its terminating zero; 0 of a column that the row does not have. */
static size_t size_of(const struct db_result *rows, int row, int column)
{
    return column >= 0 && !db_null(rows, row, column) ? (size_t)db_length(rows, row, column) + 1
                                                      : 0;
}

/* The texts follow the struct in one piece of memory, so that free() of the mail frees all of them:
 * the mailbox that drops it does not know of its parts. */
static const char *pack(char **at, const struct db_result *rows, int row, int column)
{
    size_t size = size_of(rows, row, column);
    const char *text = *at;
    if (size == 0)
        return NULL;
    memcpy(*at, db_text(rows, row, column), size);
    *at += size;
    return text;
}

struct ask *ask_new(const struct db_result *rows, int row, const struct ask_columns *columns)
{
    size_t texts = size_of(rows, row, columns->token) + size_of(rows, row, columns->look) +
                   size_of(rows, row, columns->mark) + size_of(rows, row, columns->query) +
                   size_of(rows, row, columns->words) + size_of(rows, row, columns->job) +
                   size_of(rows, row, columns->schedule) +
                   size_of(rows, row, columns->scheduled_for);
    struct ask *ask = xcalloc(1, sizeof *ask + texts);
    char *at = (char *)(ask + 1);
    ask->token = pack(&at, rows, row, columns->token);
    ask->look = pack(&at, rows, row, columns->look);
    ask->mark = pack(&at, rows, row, columns->mark);
    ask->query = pack(&at, rows, row, columns->query);
    ask->words = pack(&at, rows, row, columns->words);
    ask->job = pack(&at, rows, row, columns->job);
    ask->schedule = pack(&at, rows, row, columns->schedule);
    ask->scheduled_for = pack(&at, rows, row, columns->scheduled_for);
    return ask;
}

static void keep(char *to, size_t size, const struct db_result *row, int column)
{
    (void)snprintf(to, size, "%s", db_text(row, 0, column));
}

static enum rc run_look(struct db *db, struct ask *ask)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_ask_look, (const char *const[]){ask->look}, &row, &ask->why);
    if (rc == RC_OK) {
        keep(ask->rows, sizeof ask->rows, row, JOB_ASK_LOOK_ROWS);
        keep(ask->oldest, sizeof ask->oldest, row, JOB_ASK_LOOK_OLDEST);
        keep(ask->newest, sizeof ask->newest, row, JOB_ASK_LOOK_NEWEST);
    }
    return rc;
}

static enum rc fire(struct db *db, struct ask *ask)
{
    DB_RESULT_AUTO *row = NULL;
    const char *params[] = {ask->token, ask->mark, ask->query, ask->words};
    enum rc rc = db_run(db, &sql_job_ask_fire, params, &row, &ask->why);
    if (rc == RC_OK)
        keep(ask->run, sizeof ask->run, row, JOB_ASK_FIRE_RUN);
    return rc;
}

/* Nothing that the job's statements have done. Without an SQLSTATE the session is lost, and the
 * outcome is not known. */
static bool is_no_fault(const struct err *why)
{
    static const enum sqlstate others[] = {
        SQLSTATE_SERIALIZATION_FAILURE,  SQLSTATE_DEADLOCK_DETECTED, SQLSTATE_LOCK_NOT_AVAILABLE,
        SQLSTATE_INSUFFICIENT_RESOURCES, SQLSTATE_SYSTEM_ERROR,      SQLSTATE_ADMIN_SHUTDOWN,
        SQLSTATE_CRASH_SHUTDOWN,         SQLSTATE_CANNOT_CONNECT_NOW};
    /* 53400 belongs to class 53, which is in the list, but only the statement itself exceeds this
     * limit. */
    if (sqlstate_is(why, SQLSTATE_CONFIGURATION_LIMIT_EXCEEDED)) /* 53400 */
        return false;
    /* An SQLSTATE that the job's SQL has raised says nothing of the server; 40001 and 40P01 ask for
     * another try. */
    if (why->raised && !sqlstate_undone(why))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sqlstate_is(why, others[i]))
            return true;
    return why->code[0] == '\0';
}

static int timeout_ms(const struct ask *ask)
{
    return ask->look != NULL ? ASK_LOOK_MS : FIRE_MS;
}

int ask_patience_ms(const struct ask *ask)
{
    return timeout_ms(ask) + GRACE_MS;
}

enum rc ask_run(struct db *db, struct ask *ask)
{
    struct err err;
    bool is_look = ask->look != NULL;
    probe("ask.send");
    enum rc rc = db_run(db, &sql_job_ask_settings,
                        (const char *const[]){DB_INT(timeout_ms(ask)), is_look ? "on" : "off"},
                        NULL, &ask->why);
    if (rc == RC_OK)
        /* The settings were a statement of their own, because default_transaction_read_only takes
         * effect with the next transaction (PostgreSQL, "Statement Behavior"). */
        rc = is_look ? run_look(db, ask) : fire(db, ask);
    probe("ask.done");
    ask->failed = rc != RC_OK;
    ask->again = ask->failed && is_no_fault(&ask->why);
    /* The next ask may be another job's. Without the reset it would find this one's settings,
     * temporary tables and session locks. */
    return db_reset(db, &err) == RC_OK ? RC_OK : RC_LOST;
}

void ask_refuse(struct ask *ask, const struct err *why)
{
    ask->failed = true;
    /* A firing without a session has changed nothing, so its time stays undecided. A look is
     * reported as failed: the database then looks at this trigger less and less often. */
    ask->again = ask->look == NULL;
    ask->why = *why;
}

void ask_why(const struct ask *ask, char *text, size_t size)
{
    if (ask->look != NULL && sqlstate_is(&ask->why, SQLSTATE_QUERY_CANCELED)) {
        (void)snprintf(text, size, "%s: " ASK_TOO_LONG, ask->why.code, ASK_LOOK_MS / 1000);
        return;
    }
    (void)snprintf(text, size, "%s%s%s", ask->why.code, ask->why.code[0] != '\0' ? ": " : "",
                   ask->why.message);
}

/* The SQL of a job, tried as the login that will run it and in a read-only transaction with a
 * time-out: a statement that this login may not run would otherwise fail at night and not when the
 * job is saved. Begin with job_check(). A function of the database tries the statements
 * (lockstep.ask_check); nothing of them runs with the rights of the person who saves the job. */
#include "control/job_check.h"

#include "base/remedies_rights.h"
#include "base/utf8.h"
#include "db/backend.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

enum rc tasks_open(const char *conninfo, const struct db *db, bool tries, struct db **ret_tasks,
                   struct err *err)
{
    struct db *tasks = NULL;
    /* On the same server and database as the caller's session: task_conninfo may have another host
     * list. */
    enum rc rc = db_open_on(conninfo, DB_QUERY, db_server(db), DB_SAME, &tasks, err);
    if (rc == RC_OK && tries)
        rc = db_run(tasks, &sql_job_ask_settings, (const char *const[]){TASKS_CHECK_MS, "on"}, NULL,
                    err);
    if (rc == RC_OK)
        *ret_tasks = tasks;
    else
        db_close(tasks);
    return rc;
}

/* What a person can do about it. A hint of the server knows more. */
static void advise(const struct db *tasks, struct err *err)
{
    const char *login = db_login(tasks);
    if (err->hinted)
        return;
    /* The statement that calls it is the first to need a right of the group. */
    if (sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) &&
        (strstr(err->message, "schema lockstep") != NULL ||
         strstr(err->message, "function ask_") != NULL))
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_TASK(login));
    else if (sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE))
        utf8_format(err->hint, sizeof err->hint,
                    "It runs as \"%s\", the login of [postgres] task_conninfo: grant that login "
                    "what it needs.",
                    login);
    else if (sqlstate_is(err, SQLSTATE_SYNTAX_ERROR))
        utf8_copy(err->hint, sizeof err->hint,
                  "Write one statement, without quotes around a placeholder: ${job}.");
    else if (sqlstate_is(err, SQLSTATE_QUERY_CANCELED))
        utf8_copy(err->hint, sizeof err->hint,
                  "If it took too long, make it faster, or leave the work to the tasks.");
    else
        utf8_format(err->hint, sizeof err->hint,
                    "Correct the job's SQL. It runs as \"%s\", the login of [postgres] "
                    "task_conninfo.",
                    login);
}

enum rc tasks_refused(enum rc rc, const struct db *tasks, const char *field, struct err *err)
{
    /* Without an SQLSTATE the connection is the trouble and not the statement. */
    if (rc == RC_OK || err == NULL || err->code[0] == '\0')
        return rc;
    err->kind = ERR_USAGE;
    utf8_copy(err->object, sizeof err->object, field);
    err->context[0] = '\0';
    advise(tasks, err);
    return RC_REJECT;
}

enum rc job_check(struct db *db, const char *task_conninfo, const char *jobs, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct db *tasks = NULL;
    /* The tasks run as the executor's own login, which this process does not know. */
    if (*task_conninfo == '\0')
        return RC_OK;
    enum rc rc = db_run(db, &sql_job_statements, (const char *const[]){jobs}, &rows, err);
    if (rc != RC_OK || db_rows(rows) == 0)
        return rc;
    rc = tasks_open(task_conninfo, db, true, &tasks, err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++) {
        char field[160];
        (void)snprintf(field, sizeof field, "%s: %s", db_text(rows, i, JOB_STATEMENTS_JOB),
                       db_text(rows, i, JOB_STATEMENTS_FIELD));
        rc = tasks_refused(
            db_run(tasks, &sql_job_ask_check,
                   (const char *const[]){db_text(rows, i, JOB_STATEMENTS_STATEMENT),
                                         db_text(rows, i, JOB_STATEMENTS_WORDS),
                                         db_text(rows, i, JOB_STATEMENTS_MAKES_TASKS)},
                   NULL, err),
            tasks, field, err);
    }
    db_close(tasks);
    return rc;
}

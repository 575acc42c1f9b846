/* SQL of users in jobs, run by a command: always in a session of the tasks' login, with the
 * functions of scheduler/ask.c and control/job_check.c that the dispatcher and the console use. The
 * results go back through the command's own session, which has other rights.
 *
 * job test and the checks run statements that cannot write (`tries`); only job run fires. */
#include "cli/job_sql.h"

#include "base/remedies.h"
#include "base/utf8.h"
#include "cli/control.h"
#include "cli/job.h"
#include "config/conninfo.h"
#include "control/job_check.h"
#include "db/sqlstate.h"
#include "scheduler/ask.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

const char *job_tasks_login(struct cli *cli, struct str *conninfo)
{
    const char *own = config_get_text(cli->config, "postgres", "task_conninfo");
    config_conninfo(cli->config, conninfo);
    return *own ? own : conninfo->data != NULL ? conninfo->data : "";
}

static enum rc open_tasks(struct cli *cli, bool tries, struct db **ret_db, struct err *err)
{
    STR_AUTO conninfo = {0};
    return tasks_open(job_tasks_login(cli, &conninfo), cli->db, tries, ret_db, err);
}

bool job_sql_lacks_login(struct cli *cli, const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) &&
           *config_get_text(cli->config, "postgres", "task_conninfo") == '\0';
}

/* Without task_conninfo there is no tasks' login that could be corrected. An error that only the
 * data or the moment has caused is no fault of the command line. */
static enum rc refused(struct cli *cli, enum rc rc, const struct db *tasks, const char *field,
                       struct err *err)
{
    rc = tasks_refused(rc, tasks, field, err);
    if (rc == RC_OK)
        return rc;
    if (err->kind == ERR_USAGE && !sqlstate_is(err, SQLSTATE_SYNTAX_OR_ACCESS) &&
        !sqlstate_is(err, SQLSTATE_INVALID_PARAMETER_VALUE))
        err->kind = ERR_FAILED;
    if (job_sql_lacks_login(cli, err))
        utf8_copy(err->hint, sizeof err->hint,
                  "task_conninfo is not set, and the login of this command was used: set "
                  "[postgres] task_conninfo to a login of lockstep_task.");
    return rc;
}

static enum rc not_fired(struct cli *cli, const struct db *tasks, const struct ask *ask,
                         struct err *err)
{
    *err = ask->why;
    if (err->kind == ERR_CANCELLED)
        return err_set(err, RC_REJECT, ERR_CANCELLED, cli->arguments[0], "Nothing has fired.",
                       "its SQL was interrupted");
    if (err->raised &&
        (sqlstate_is(err, SQLSTATE_NO_SENSE) || sqlstate_is(err, SQLSTATE_OVERTAKEN)))
        return control_done(RC_REJECT, err);
    if (!ask->again)
        return refused(cli, RC_REJECT, tasks, cli->arguments[0], err);
    utf8_copy(err->object, sizeof err->object, cli->arguments[0]);
    if (*err->hint == '\0')
        utf8_copy(err->hint, sizeof err->hint,
                  "The job is not at fault: run the same command again.");
    return RC_RETRY;
}

enum rc job_sql_fire(struct cli *cli, struct ask *ask, char *run, struct err *err)
{
    struct db *db = NULL;
    enum rc rc = open_tasks(cli, false, &db, err);
    if (rc == RC_OK) {
        /* Without patience: a person waits, and may interrupt it. Only the ask's own failure
         * counts; the session is closed in any case. */
        (void)!ask_run(db, ask);
        if (ask->failed)
            rc = not_fired(cli, db, ask, err);
        (void)snprintf(run, sizeof ask->run, "%s", ask->run);
        db_close(db);
    }
    free(ask);
    return rc;
}

static const char *text_or_null(const struct db_result *row, int column)
{
    return row != NULL && !db_null(row, 0, column) ? db_text(row, 0, column) : NULL;
}

/* With the dispatcher's time-out: a look that is too slow for it would never fire. */
static enum rc run_look(struct cli *cli, struct db *db, const char *text,
                        struct db_result **ret_look, struct err *err)
{
    enum rc rc = db_run(db, &sql_job_ask_settings, (const char *const[]){DB_INT(ASK_LOOK_MS), "on"},
                        NULL, err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_job_ask_look, (const char *const[]){text}, ret_look, err);
    if (rc != RC_OK && sqlstate_is(err, SQLSTATE_QUERY_CANCELED))
        return err_set(err, RC_REJECT, ERR_USAGE, "trigger.pending",
                       "Make it faster, for example by an index for its condition, or end the "
                       "session that locks its table.",
                       ASK_TOO_LONG, ASK_LOOK_MS / 1000);
    return refused(cli, rc, db, "trigger.pending", err);
}

/* {"schedule": [row, ...], ...} */
static enum rc run_queries(struct cli *cli, struct db *db, const struct db_result *asked,
                           char **ret_rows, struct err *err)
{
    cJSON *rows = cJSON_CreateObject();
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < db_rows(asked); i++) {
        DB_RESULT_AUTO *row = NULL;
        const char *params[] = {db_text(asked, i, JOB_TEST_ASK_QUERY),
                                db_text(asked, i, JOB_TEST_ASK_WORDS)};
        rc = refused(cli, db_run(db, &sql_job_ask_query, params, &row, err), db, "query", err);
        if (rc != RC_OK && sqlstate_is(err, SQLSTATE_QUERY_CANCELED))
            utf8_copy(err->hint, sizeof err->hint,
                      "A test ends a query after 5 s; at a firing it has ten minutes. The lock of "
                      "another session on its table may be the cause, too.");
        if (rc != RC_OK && sqlstate_is(err, SQLSTATE_READ_ONLY_SQL_TRANSACTION))
            utf8_format(err->hint, sizeof err->hint, REMEDY_JOB_RUN, cli->arguments[0]);
        if (rc == RC_OK)
            (void)cJSON_AddRawToObject(rows, db_text(asked, i, JOB_TEST_ASK_SCHEDULE),
                                       db_text(row, 0, JOB_ASK_QUERY_ROWS));
    }
    if (rc == RC_OK)
        *ret_rows = cJSON_PrintUnformatted(rows);
    cJSON_Delete(rows);
    return rc;
}

/* The words of a query depend on the result of the look and on the time of the firing. */
static enum rc ask_queries(struct cli *cli, struct db *db, const char *job, const char *at,
                           struct job_found *found, struct err *err)
{
    DB_RESULT_AUTO *asked = NULL;
    const char *params[] = {job, at, found->rows, found->oldest, found->newest};
    enum rc rc = job_refused(db_run(cli->db, &sql_job_test_ask, params, &asked, err), err);
    if (rc == RC_OK) /* the look before it had a time-out of its own */
        rc = db_run(db, &sql_job_ask_settings, (const char *const[]){TASKS_CHECK_MS, "on"}, NULL,
                    err);
    return rc == RC_OK && db_rows(asked) > 0 ? run_queries(cli, db, asked, &found->queried, err)
                                             : rc;
}

enum rc job_sql_find(struct cli *cli, const char *job, const char *at, struct job_found *ret_found,
                     struct err *err)
{
    DB_RESULT_AUTO *asked = NULL;
    struct db *db = NULL;
    *ret_found = (struct job_found){0};
    enum rc rc = job_refused(
        db_run(cli->db, &sql_job_test_look, (const char *const[]){job}, &asked, err), err);
    if (rc != RC_OK || !db_bool(asked, 0, JOB_TEST_LOOK_RUNS))
        return rc;
    rc = open_tasks(cli, true, &db, err);
    if (rc == RC_OK && !db_null(asked, 0, JOB_TEST_LOOK_LOOK))
        rc = run_look(cli, db, db_text(asked, 0, JOB_TEST_LOOK_LOOK), &ret_found->row, err);
    ret_found->rows = text_or_null(ret_found->row, JOB_ASK_LOOK_ROWS);
    ret_found->oldest = text_or_null(ret_found->row, JOB_ASK_LOOK_OLDEST);
    ret_found->newest = text_or_null(ret_found->row, JOB_ASK_LOOK_NEWEST);
    if (rc == RC_OK)
        rc = ask_queries(cli, db, job, at, ret_found, err);
    db_close(db);
    return rc;
}

void job_found_done(struct job_found *found)
{
    db_free(found->row);
    cJSON_free(found->queried);
}

/* A statement that is refused keeps the server's words; only a fault of the definition is reported
 * as a refusal of job apply is. */
enum rc job_sql_check(struct cli *cli, const char *jobs, struct err *err)
{
    enum rc rc =
        job_check(cli->db, config_get_text(cli->config, "postgres", "task_conninfo"), jobs, err);
    return rc == RC_OK || err->kind == ERR_USAGE ? rc : job_refused(rc, err);
}

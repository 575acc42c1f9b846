#include "cli/job_sql.h"

#include "cli/job.h"
#include "config/conninfo.h"
#include "scheduler/ask.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK_MS "5000"

const char *job_tasks_login(struct cli *cli, struct str *conninfo)
{
    const char *own = config_get_text(cli->config, "postgres", "task_conninfo");
    config_conninfo(cli->config, conninfo);
    return *own ? own : conninfo->data != NULL ? conninfo->data : "";
}

static enum rc open_tasks(struct cli *cli, struct db **ret_db, struct err *err)
{
    STR_AUTO conninfo = {0};
    return db_open_on(job_tasks_login(cli, &conninfo), DB_QUERY, db_server(cli->db), DB_SAME,
                      ret_db, err);
}

static enum rc settings(struct db *db, const char *read_only, struct err *err)
{
    return db_run(db, &sql_job_ask_settings, (const char *const[]){CHECK_MS, read_only}, NULL, err);
}

/* It is the job's statement that was refused. */
static enum rc refused(enum rc rc, const char *field, struct err *err)
{
    if (rc == RC_OK || err == NULL || err->code[0] == '\0')
        return rc;
    err->kind = ERR_USAGE;
    utf8_copy(err->object, sizeof err->object, field);
    err->context[0] = '\0';
    (void)snprintf(err->hint, sizeof err->hint,
                   "It runs as the login of [postgres] task_conninfo: correct it, or grant that "
                   "login what it needs.");
    return RC_REJECT;
}

enum rc job_sql_fire(struct cli *cli, const struct db_result *asked, char *run, struct err *err)
{
    static const struct ask_columns columns = {JOB_RUN_ASK_TOKEN, -1, JOB_RUN_ASK_MARK,
                                               JOB_RUN_ASK_QUERY, JOB_RUN_ASK_WORDS};
    struct db *db = NULL;
    enum rc rc = open_tasks(cli, &db, err);
    if (rc != RC_OK)
        return rc;
    struct ask *ask = ask_new(asked, 0, &columns);
    (void)!ask_run(db, ask);
    if (ask->failed) {
        *err = ask->why;
        rc = refused(RC_REJECT, cli->arguments[0], err);
    }
    (void)snprintf(run, sizeof ask->run, "%s", ask->run);
    free(ask);
    db_close(db);
    return rc;
}

enum rc job_sql_look(struct cli *cli, const char *job, struct job_look *ret_look, struct err *err)
{
    DB_RESULT_AUTO *asked = NULL;
    struct db *db = NULL;
    *ret_look = (struct job_look){0};
    enum rc rc =
        job_said(db_run(cli->db, &sql_job_test_ask, (const char *const[]){job}, &asked, err), err);
    bool looks = rc == RC_OK && !db_null(asked, 0, JOB_TEST_ASK_LOOK);
    bool queries = rc == RC_OK && !db_null(asked, 0, JOB_TEST_ASK_QUERY);
    if (!looks && !queries)
        return rc;
    rc = open_tasks(cli, &db, err);
    if (rc == RC_OK)
        rc = settings(db, "on", err);
    if (rc == RC_OK && looks)
        rc = refused(db_run(db, &sql_job_ask_look,
                            (const char *const[]){db_text(asked, 0, JOB_TEST_ASK_LOOK)},
                            &ret_look->look, err),
                     "trigger.pending", err);
    if (rc == RC_OK && queries)
        rc = refused(db_run(db, &sql_job_ask_query,
                            (const char *const[]){db_text(asked, 0, JOB_TEST_ASK_QUERY),
                                                  db_text(asked, 0, JOB_TEST_ASK_WORDS)},
                            &ret_look->rows, err),
                     "query", err);
    db_close(db);
    return rc;
}

void job_look_done(struct job_look *look)
{
    db_free(look->look);
    db_free(look->rows);
}

enum rc job_sql_check(struct cli *cli, const char *jobs, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct db *db = NULL;
    if (*config_get_text(cli->config, "postgres", "task_conninfo") == '\0')
        return RC_OK;
    enum rc rc = job_said(
        db_run(cli->db, &sql_job_statements, (const char *const[]){jobs}, &rows, err), err);
    if (rc != RC_OK || db_rows(rows) == 0)
        return rc;
    rc = open_tasks(cli, &db, err);
    if (rc == RC_OK)
        rc = settings(db, "on", err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++) {
        char field[160];
        (void)snprintf(field, sizeof field, "%s: %s", db_text(rows, i, JOB_STATEMENTS_JOB),
                       db_text(rows, i, JOB_STATEMENTS_FIELD));
        rc = refused(db_run(db, &sql_job_ask_check,
                            (const char *const[]){db_text(rows, i, JOB_STATEMENTS_STATEMENT),
                                                  db_text(rows, i, JOB_STATEMENTS_WORDS)},
                            NULL, err),
                     field, err);
    }
    db_close(db);
    return rc;
}

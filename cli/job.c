/* job list, show, test, run, enable, disable, set, delete, export, history, log; schedule list,
 * forecast: each is one function of the database, which checks commands and requests of the console
 * alike. This file names jobs and prints the results.
 *
 * The database alone checks the words of users: its error has SQLSTATE 22023, a sentence that names
 * the field, and a word for programs as its detail. job_refused turns that into the command's usage
 * error. A new field of a job therefore needs no change here. */
#include "cli/job.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/forecast.h"
#include "cli/job_sql.h"
#include "cli/stop.h"
#include "cli/watch.h"

#include "base/remedies.h"
#include "base/utf8.h"
#include "cli/control.h"
#include "db/sqlstate.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORECAST_DEFAULT 20

enum rc job_refused(enum rc rc, struct err *err)
{
    bool is_time = rc != RC_OK && err != NULL &&
                   (sqlstate_is(err, SQLSTATE_INVALID_DATETIME_FORMAT) ||
                    sqlstate_is(err, SQLSTATE_DATETIME_FIELD_OVERFLOW) ||
                    sqlstate_is(err, SQLSTATE_INVALID_TIME_ZONE_DISPLACEMENT));
    if (is_time) /* the server's own advice is about a setting of it */
        utf8_copy(err->hint, sizeof err->hint, "Write a time like 2026-12-25T00:00:00Z.");
    else if (rc == RC_OK || err == NULL || !sqlstate_is(err, SQLSTATE_INVALID_PARAMETER_VALUE))
        return control_done(rc, err);
    /* The message names the field itself, so the object would repeat it. The detail is a word for
     * programs. */
    err->kind = ERR_USAGE;
    err->object[0] = err->context[0] = err->detail[0] = '\0';
    return RC_REJECT;
}

/* The function names its parameters from and to; the options are --from and --to. */
void job_name_option(struct err *err)
{
    static const char *const names[][2] = {{"to: ", "--to"}, {"from: ", "--from"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i][0]);
        if (err->kind != ERR_USAGE || strncmp(err->message, names[i][0], len) != 0)
            continue;
        memmove(err->message, err->message + len, strlen(err->message + len) + 1);
        utf8_copy(err->object, sizeof err->object, names[i][1]);
    }
}

enum rc command_job_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    const char *queue;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_list, (const char *const[]){queue}, &rows, err);
    return rc == RC_OK
               ? cli_print_list(cli, rows,
                                "job,queue,mode,enabled,next_at,last_outcome,last_status", err)
               : rc;
}

/* Runs a statement about one job; no row is the usage error that there is no such job. */
static enum rc find_job(struct cli *cli, const struct sql_statement *stmt,
                        struct db_result **ret_row, struct err *err)
{
    enum rc rc = db_run(cli->db, stmt, (const char *const[]){cli->arguments[0]}, ret_row, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[0], REMEDY_JOB_LIST,
                       "there is no job with this name");
    return rc;
}

enum rc command_job_show(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *job = NULL;
    DB_RESULT_AUTO *schedules = NULL;
    DB_RESULT_AUTO *requests = NULL;
    const char *name = cli->arguments[0];
    enum rc rc = find_job(cli, &sql_job_show, &job, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_schedules, (const char *const[]){name}, &schedules, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_requests, (const char *const[]){name}, &requests, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"job", job, true, true, false, NULL, false},
                                       {"schedules", schedules, false, false, false,
                                        "schedule,is_active,next_at,waits_for,words", true},
                                       {"requests", requests, false, false, false,
                                        "schedule,scheduled_for,source,next_try,failing_since",
                                        true}};
    return table_parts(stdout, cli_style(cli), parts, 3, err);
}

/* The text is the file that job apply reads, so it has no table form. */
enum rc command_job_export(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *job = NULL;
    enum rc rc = find_job(cli, &sql_job_export, &job, err);
    if (rc != RC_OK)
        return rc;
    (void)printf("%s\n", db_text(job, 0, JOB_EXPORT_SPEC));
    return table_check(stdout, err);
}

enum rc command_job_test(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct job_found found;
    const char *job = cli->arguments[0], *at = cli_text(cli, "at");
    enum rc rc = job_sql_find(cli, job, at, &found, err);
    if (rc == RC_OK) {
        const char *params[] = {job, at, found.rows, found.oldest, found.newest, found.queried};
        rc = job_refused(db_run(cli->db, &sql_job_test, params, &rows, err), err);
    }
    job_found_done(&found);
    if (rc != RC_OK)
        return rc;
    bool by_hand = db_rows(rows) > 0 && db_null(rows, 0, JOB_TEST_SCHEDULE);
    return cli_print_wrapped(
        cli, rows, by_hand ? "tasks,reason" : "schedule,would_fire,next_scheduled_run,reason", err);
}

/* {"name": "value", ...} of the options --param; NULL if there are none. A value that is JSON is
 * taken as such. */
static enum rc params_of(const struct cli *cli, char **ret_text, struct err *err)
{
    const char *given;
    cJSON *params = NULL;
    for (int i = 0; (given = cli_repeated(cli, "param", i)) != NULL; i++) {
        const char *sign = strchr(given, '=');
        char name[64];
        if (sign == NULL || sign == given || (size_t)(sign - given) >= sizeof name) {
            cJSON_Delete(params);
            return err_set(err, RC_REJECT, ERR_USAGE, "--param", "Write --param region=eu.",
                           "\"%.64s\" is no name and value", given);
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(sign - given), given);
        if (params == NULL)
            params = cJSON_CreateObject();
        /* --param n=5 is a number, --param n='"5"' a text; a text without quotes is no JSON and
         * stays a text. */
        cJSON *value = cJSON_ParseWithOpts(sign + 1, NULL, true);
        cJSON_DeleteItemFromObjectCaseSensitive(params, name);
        /* As it is written: a large number must not go through a double. */
        cJSON_AddItemToObject(
            params, name, value != NULL ? cJSON_CreateRaw(sign + 1) : cJSON_CreateString(sign + 1));
        cJSON_Delete(value);
    }
    *ret_text = params != NULL ? cJSON_PrintUnformatted(params) : NULL;
    cJSON_Delete(params);
    return RC_OK;
}

/* --quiet: the run's whole id alone, as publish prints it. */
static enum rc print_fired(struct cli *cli, const struct db_result *row, struct err *err)
{
    if (!cli->quiet || cli->output != OUTPUT_TABLE || db_null(row, 0, JOB_RUN_RUN_ID))
        return cli_print(cli, row, err);
    (void)printf("%s\n", db_text(row, 0, JOB_RUN_RUN_ID));
    return RC_OK;
}

/* A person whose configuration has no login of tasks makes a request, as SQL and the API do. Of a
 * request there is no run yet that --wait could watch. */
static enum rc fire_with_sql(struct cli *cli, const char *const *given,
                             const struct db_result *asked, struct db_result **ret_row,
                             struct err *err)
{
    static const struct ask_columns columns = {
        JOB_RUN_ASK_TOKEN, -1, JOB_RUN_ASK_MARK, JOB_RUN_ASK_QUERY, JOB_RUN_ASK_WORDS, -1, -1, -1};
    char fired[40];
    stop_catch();
    stop_interrupts(); /* SIGINT cancels the job's SQL, which would fire without this command */
    enum rc rc = job_sql_fire(cli, ask_new(asked, 0, &columns), fired, err);
    if (rc == RC_OK)
        return db_run(cli->db, &sql_job_asked_run, (const char *const[]){fired}, ret_row, err);
    if (!job_sql_lacks_login(cli, err) || cli_has(cli, "wait"))
        return rc;
    rc = job_refused(db_run(cli->db, &sql_job_run, given, ret_row, err), err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: task_conninfo is not set, so a dispatcher fires this run\n");
    return rc;
}

enum rc command_job_run(struct cli *cli, struct err *err)
{
    FREE_AUTO char *params = NULL;
    DB_RESULT_AUTO *row = NULL;
    DB_RESULT_AUTO *asked = NULL;
    enum rc rc = params_of(cli, &params, err);
    const char *given[] = {cli->arguments[0], params};
    if (rc == RC_OK)
        /* A job with SQL of users fires in two steps: a token here, the firing with it in a session
         * of the tasks' login (cli/job_sql.c). Without such SQL the database fires in one
         * statement. */
        rc = job_refused(db_run(cli->db, &sql_job_run_ask, given, &asked, err), err);
    if (rc == RC_OK && db_null(asked, 0, JOB_RUN_ASK_TOKEN)) {
        rc = job_refused(db_run(cli->db, &sql_job_run, given, &row, err), err);
    } else if (rc == RC_OK) {
        rc = fire_with_sql(cli, given, asked, &row, err);
    }
    if (rc == RC_OK && !cli_has(cli, "wait"))
        return print_fired(cli, row, err);
    if (rc != RC_OK)
        return rc;
    struct run_row run;
    /* --wait: the same as run watch on the run that has just begun, with its exit code. */
    rc = find_run(cli, db_text(row, 0, JOB_RUN_RUN_ID), &run, err);
    return rc == RC_OK ? watch_run(cli, &run, err) : rc;
}

/* --if-version: refused if another person has changed the job in between. */
static enum rc set(struct cli *cli, const char *change, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = job_refused(
        db_run(cli->db, &sql_job_set,
               (const char *const[]){cli->arguments[0], change, cli_text(cli, "if-version")}, &row,
               err),
        err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: version %s\n", cli->arguments[0],
                db_text(row, 0, JOB_SET_VERSION));
    return rc;
}

enum rc command_job_enable(struct cli *cli, struct err *err)
{
    return set(cli, "{\"enabled\": true}", err);
}

enum rc command_job_disable(struct cli *cli, struct err *err)
{
    return set(cli, "{\"enabled\": false}", err);
}

/* JSON is parsed here so that a quoting error of the shell is reported as such; the fields are the
 * database's to check. */
enum rc command_job_set(struct cli *cli, struct err *err)
{
    const char *given = cli_text(cli, "change");
    cJSON *change = given != NULL ? cJSON_Parse(given) : NULL;
    if (change == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "job set",
                       "Write --change '{\"overlap\": \"queue_one\"}'.",
                       given != NULL ? "what is to change is not JSON" : "nothing is to change");
    cJSON_Delete(change);
    return set(cli, given, err);
}

/* Runs and their tasks belong to the queue, so they stay. */
enum rc command_job_delete(struct cli *cli, struct err *err)
{
    enum rc rc = job_refused(
        db_run(cli->db, &sql_job_delete,
               (const char *const[]){cli->arguments[0], cli_text(cli, "if-version")}, NULL, err),
        err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: deleted; its runs stay\n", cli->arguments[0]);
    return rc;
}

enum rc command_job_withdraw(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = job_refused(
        db_run(cli->db, &sql_job_withdraw, (const char *const[]){cli->arguments[0]}, &row, err),
        err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: %s withdrawn\n", cli->arguments[0],
                db_text(row, 0, JOB_WITHDRAW_WITHDRAWN));
    return rc;
}

/* The newest lines of a list that is all jobs', or one's. */
static enum rc newest(struct cli *cli, const struct sql_statement *stmt, const char *shorts,
                      struct err *err)
{
    DB_RESULT_AUTO *job = NULL;
    DB_RESULT_AUTO *rows = NULL;
    const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    enum rc rc = db_run(cli->db, stmt, (const char *const[]){name, limit_of(cli)}, &rows, err);
    if (rc == RC_OK && name != NULL &&
        db_rows(rows) == 0) /* a deleted job still has its log, so only an empty one is checked */
        rc = find_job(cli, &sql_job_show, &job, err);
    return rc == RC_OK ? cli_print_wrapped(cli, rows, shorts, err) : rc;
}

/* --days sums the occurrences of each day up. */
enum rc command_job_history(struct cli *cli, struct err *err)
{
    if (cli_has(cli, "days"))
        return newest(cli, &sql_job_days,
                      "job,day,fired,completed,failed,skipped,missed,errors,longest,latest", err);
    return newest(cli, &sql_job_history,
                  cli->argument_count > 0
                      ? "scheduled_for,outcome,status,source,late,run_id,reason"
                      : "job,scheduled_for,outcome,status,source,late,run_id,reason",
                  err);
}

enum rc command_job_log(struct cli *cli, struct err *err)
{
    return newest(cli, &sql_job_log, "at,job,event,source,message", err);
}

enum rc command_schedule_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *job = NULL;
    DB_RESULT_AUTO *rows = NULL;
    const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    enum rc rc = name != NULL ? find_job(cli, &sql_job_show, &job, err) : RC_OK;
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_schedules, (const char *const[]){name}, &rows, err);
    return rc == RC_OK ? cli_print_wrapped(cli, rows, "job,schedule,is_active,next_at,words", err)
                       : rc;
}

enum rc command_schedule_forecast(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    int64_t count = cli_int(cli, "count", FORECAST_DEFAULT);
    const char *params[] = {name, cli_text(cli, "from"), cli_text(cli, "to"), DB_INT(count)};
    enum rc rc = job_refused(db_run(cli->db, &sql_job_forecast, params, &rows, err), err);
    if (rc == RC_OK)
        rc = cli_print_list(cli, rows, "at,job,schedule,local", err);
    else
        job_name_option(err);
    if (rc == RC_OK && cli->output == OUTPUT_TABLE)
        rc = forecast_draw(cli, rows, err);
    if (rc == RC_OK)
        rc = table_check(stdout, err);
    /* The statement stops at the count, so a full list may be incomplete. */
    if (rc == RC_OK && db_rows(rows) == count)
        cli_say(cli, "lockstep: there may be more after the first %lld time%s: --count N\n",
                (long long)count, NUMBER_S(count));
    return rc;
}

/* job backfill: fires the times of a range that have not fired. One call of the function fires what
 * may begin now. It is called again when the run for which the next time waits has ended, so a
 * command that is ended leaves the rest to the next one.
 *
 * The tasks of a job with a query come from a session of the tasks' login: the function returns a
 * token for the first time that may fire (sql/functions/job/job_backfill_act.sql), and is called
 * again for the times behind it. */
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/job_sql.h"
#include "cli/stop.h"

#include "base/utf8.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

#define CHECK_MS 500
#define AGAIN    "Run the same command again: no time fires twice."

/* The last parameter of the statement: the time up to which all are reported. */
#define BEHIND 5

struct backfill {
    struct cli *cli;
    const char *params[BEHIND + 1];
    char behind[64], overtaken[64];     /* times */
    enum { NOTHING, CALL, AWAIT } next; /* times are left: for the next call, or for a run's end */
    char why[200];                      /* why that run has not ended, as shown last; "": nothing */
};

static void say_nothing(struct cli *cli)
{
    cli_say(cli, "lockstep: %s: no time of the range is left to fire\n", cli->arguments[0]);
}

/* The times that have fired stay fired; the same command continues, because a time has one
 * occurrence. */
static enum rc interrupted(const struct backfill *fill, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_CANCELLED, fill->params[0], AGAIN,
                   "it was interrupted; the remaining times have not fired");
}

/* With the tasks that the job's query returns; without one the time is skipped. */
static enum rc ask(struct backfill *fill, const struct db_result *rows, int i, struct err *err)
{
    static const struct ask_columns columns = {JOB_BACKFILL_TOKEN, -1, -1, JOB_BACKFILL_QUERY,
                                               JOB_BACKFILL_WORDS, -1, -1, -1};
    const char *at = db_text(rows, i, JOB_BACKFILL_SCHEDULED_FOR);
    char run[40];
    enum rc rc = job_sql_fire(fill->cli, ask_new(rows, i, &columns), run, err);
    if (rc != RC_OK && err->kind == ERR_CANCELLED)
        return interrupted(fill, err);
    if (rc != RC_OK)
        (void)snprintf(err->object, sizeof err->object, "%s for %s", fill->params[0], at);
    else if (*run != '\0')
        cli_say(fill->cli, "lockstep: %s: fired for %s, run %s\n", fill->params[0], at, run);
    else
        cli_say(fill->cli, "lockstep: %s: not fired for %s: its query returned no task\n",
                fill->params[0], at);
    return rc;
}

/* Another session has fired this time, or a run is open now: the next call decides again. Once for
 * each time, because SQL of the job may raise this code, too. */
static bool is_overtaken(struct backfill *fill, const char *at, const struct err *err)
{
    if (!sqlstate_is(err, SQLSTATE_OVERTAKEN) || strcmp(fill->overtaken, at) == 0)
        return false;
    utf8_copy(fill->overtaken, sizeof fill->overtaken, at);
    return true;
}

/* One row of the answer: a line for a time whose fate is decided. A time that waits has its line
 * when it fires. */
static enum rc follow_row(struct backfill *fill, const struct db_result *rows, int i,
                          struct err *err)
{
    int action = db_word(rows, i, JOB_BACKFILL_ACTION);
    const char *at = db_text(rows, i, JOB_BACKFILL_SCHEDULED_FOR);
    if (action == JOB_BACKFILL_IS_WAIT) {
        fill->next = AWAIT;
        return RC_OK;
    }
    if (action == JOB_BACKFILL_IS_ASK) {
        fill->next = CALL;
        enum rc rc = ask(fill, rows, i, err);
        if (rc != RC_OK)
            return is_overtaken(fill, at, err) ? RC_OK : rc;
    } else if (action == JOB_BACKFILL_IS_FIRE) {
        cli_say(fill->cli, "lockstep: %s: fired for %s, run %s\n", fill->params[0], at,
                db_text(rows, i, JOB_BACKFILL_RUN_ID));
    } else {
        cli_say(fill->cli, "lockstep: %s: not fired for %s: %s\n", fill->params[0], at,
                db_text(rows, i, JOB_BACKFILL_DETAIL));
    }
    utf8_copy(fill->behind, sizeof fill->behind, at);
    fill->params[BEHIND] = fill->behind;
    return RC_OK;
}

static enum rc follow(struct backfill *fill, const struct db_result *rows, struct err *err)
{
    enum rc rc = RC_OK;
    fill->next = NOTHING;
    if (db_rows(rows) == 0 && fill->params[BEHIND] == NULL)
        say_nothing(fill->cli);
    for (int i = 0; i < db_rows(rows) && rc == RC_OK && fill->next == NOTHING; i++)
        rc = follow_row(fill, rows, i, err);
    return rc;
}

/* A run that its queue does not let run ends when a person does something about it. */
static void say_why(struct backfill *fill, const struct db_result *open)
{
    const char *why = db_null(open, 0, JOB_OPEN_WHY) ? "" : db_text(open, 0, JOB_OPEN_WHY);
    if (strcmp(why, fill->why) == 0)
        return;
    utf8_copy(fill->why, sizeof fill->why, why);
    if (*why != '\0')
        cli_say(fill->cli, "lockstep: %s: waits for the end of run %s: %s: %s\n", fill->params[0],
                db_text(open, 0, JOB_OPEN_RUN_ID), why, db_text(open, 0, JOB_OPEN_HINT));
}

/* Until no run of the job is open. */
static enum rc await(struct backfill *fill, struct err *err)
{
    for (;;) {
        DB_RESULT_AUTO *open = NULL;
        enum rc rc = db_run(fill->cli->db, &sql_job_open, fill->params, &open, err);
        if (rc != RC_OK)
            return rc == RC_NONE ? RC_OK : rc;
        say_why(fill, open);
        if (stop_requested())
            return interrupted(fill, err);
        stop_wait(CHECK_MS);
    }
}

static enum rc fire(struct backfill *fill, struct err *err)
{
    stop_catch();
    stop_interrupts(); /* SIGINT cancels a query of the job */
    for (;;) {
        DB_RESULT_AUTO *rows = NULL;
        enum rc rc =
            job_refused(db_run(fill->cli->db, &sql_job_backfill, fill->params, &rows, err), err);
        if (rc != RC_OK) {
            job_name_option(err);
            return rc;
        }
        rc = follow(fill, rows, err);
        if (rc != RC_OK || fill->next == NOTHING)
            return rc;
        if (stop_requested())
            return interrupted(fill, err);
        if (fill->next == AWAIT)
            rc = await(fill, err);
        if (rc != RC_OK)
            return rc;
    }
}

/* A session that is lost in between ends the command, which says how to continue. */
static enum rc continued(const struct backfill *fill, enum rc rc, struct err *err)
{
    if (rc == RC_LOST || rc == RC_RETRY) {
        utf8_copy(err->object, sizeof err->object, fill->params[0]);
        if (*err->hint == '\0')
            utf8_copy(err->hint, sizeof err->hint, AGAIN);
    }
    return rc;
}

enum rc command_job_backfill(struct cli *cli, struct err *err)
{
    const char *from = cli_text(cli, "from"), *to = cli_text(cli, "to");
    const char *overlap = cli_text(cli, "overlap");
    struct backfill fill = {.cli = cli,
                            .params = {cli->arguments[0], from, to, cli_text(cli, "schedule"),
                                       overlap != NULL ? overlap : "queue_one"}};
    DB_RESULT_AUTO *rows = NULL;
    if (from == NULL || to == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "job backfill",
                       "Write --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z.",
                       "%s is missing", from == NULL ? "--from" : "--to");
    enum rc rc = RC_OK;
    if (cli_has(cli, "dry-run")) {
        rc = job_refused(db_run(cli->db, &sql_job_backfill_report, fill.params, &rows, err), err);
        if (rc == RC_OK && db_rows(rows) == 0)
            say_nothing(cli);
        if (rc == RC_OK)
            return cli_print_list(cli, rows, "schedule,scheduled_for,action,detail", err);
        job_name_option(err);
        return rc;
    }
    rc = continued(&fill, fire(&fill, err), err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_filled, fill.params, &rows, err);
    return rc == RC_OK ? cli_print_list(cli, rows,
                                        "schedule,scheduled_for,outcome,status,source,run_id", err)
                       : rc;
}

/* job backfill: fires the times of a range that have not fired. One call of the function fires what
 * may begin now; one time after the other, it is called again whenever the run of the time before
 * has ended, so a command that is ended leaves the rest to the next one. */
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/stop.h"

#include "base/utf8.h"

#include <string.h>

#define CHECK_MS 500

struct backfill {
    struct cli *cli;
    const char *params[6];
    bool waits;    /* times wait for the end of a run */
    char why[200]; /* why that run has not ended, as shown last; "": nothing */
};

/* Prints a line for each time that one call has decided; a time that waits has its line when it
 * fires. */
static void say(struct backfill *fill, const struct db_result *rows)
{
    fill->waits = false;
    for (int i = 0; i < db_rows(rows); i++) {
        int action = db_word(rows, i, JOB_BACKFILL_ACTION);
        const char *at = db_text(rows, i, JOB_BACKFILL_SCHEDULED_FOR);
        if (action == JOB_BACKFILL_IS_WAIT)
            fill->waits = true;
        else if (action == JOB_BACKFILL_IS_FIRE)
            cli_say(fill->cli, "lockstep: %s: fired for %s, run %s\n", fill->params[0], at,
                    db_text(rows, i, JOB_BACKFILL_RUN_ID));
        else
            cli_say(fill->cli, "lockstep: %s: not fired for %s: %s\n", fill->params[0], at,
                    db_text(rows, i, JOB_BACKFILL_DETAIL));
    }
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
        /* The times that have fired stay fired; the same command continues, because a time has one
         * occurrence. */
        if (stop_requested())
            return err_set(err, RC_REJECT, ERR_CANCELLED, fill->params[0],
                           "Run the same command again: no time fires twice.",
                           "it was interrupted; the times behind have not fired");
        stop_wait(CHECK_MS);
    }
}

static enum rc fire(struct backfill *fill, struct err *err)
{
    stop_catch();
    for (;;) {
        DB_RESULT_AUTO *rows = NULL;
        enum rc rc =
            job_refused(db_run(fill->cli->db, &sql_job_backfill, fill->params, &rows, err), err);
        if (rc != RC_OK) {
            job_name_option(err);
            return rc;
        }
        say(fill, rows);
        if (!fill->waits)
            return RC_OK;
        rc = await(fill, err);
        if (rc != RC_OK)
            return rc;
    }
}

enum rc command_job_backfill(struct cli *cli, struct err *err)
{
    const char *from = cli_text(cli, "from"), *to = cli_text(cli, "to");
    const char *overlap = cli_text(cli, "overlap");
    struct backfill fill = {.cli = cli,
                            .params = {cli->arguments[0], from, to, cli_text(cli, "schedule"),
                                       overlap != NULL ? overlap : "queue_one",
                                       cli_has(cli, "dry-run") ? "true" : "false"}};
    DB_RESULT_AUTO *rows = NULL;
    if (from == NULL || to == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "job backfill",
                       "Write --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z.",
                       "%s is missing", from == NULL ? "--from" : "--to");
    enum rc rc = RC_OK;
    if (cli_has(cli, "dry-run")) {
        rc = job_refused(db_run(cli->db, &sql_job_backfill, fill.params, &rows, err), err);
        if (rc == RC_OK)
            return cli_print_list(cli, rows, "schedule,scheduled_for,action,detail", err);
        job_name_option(err);
        return rc;
    }
    rc = fire(&fill, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_job_filled, fill.params, &rows, err);
    return rc == RC_OK ? cli_print_list(cli, rows,
                                        "schedule,scheduled_for,outcome,status,source,run_id", err)
                       : rc;
}

/* alert list, show, ack; monitor ack, silence: the incidents of jobs and how people answer them.
 * Each is one statement; scheduler/alerts.c opens and closes incidents, scheduler/delivery.c sends
 * notices. */
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/job.h"

#include "base/number.h"
#include "base/remedies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names the receivers with undelivered notices, below a list that people read. */
static enum rc report_undelivered(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(cli->db, &sql_alert_receivers, NULL, &rows, err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++) {
        int64_t count = db_int(rows, i, ALERT_RECEIVERS_UNDELIVERED);
        if (count > 0)
            cli_say(cli, "lockstep: receiver %s: %" PRId64 " notice%s not delivered since %s%s\n",
                    db_text(rows, i, ALERT_RECEIVERS_RECEIVER), count, NUMBER_S(count),
                    db_text(rows, i, ALERT_RECEIVERS_UNDELIVERED_SINCE),
                    db_bool(rows, i, ALERT_RECEIVERS_IS_SERVED) ? "" : ", and no monitor looks");
    }
    return rc;
}

/* The same command, because whether notices arrive belongs to the question which alerts there
 * are. */
static enum rc list_receivers(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    if (cli_has(cli, "open") || cli_has(cli, "all"))
        return err_set(err, RC_REJECT, ERR_USAGE, "alert list", "Leave the others out.",
                       "--receivers lists no alerts");
    enum rc rc = db_run(cli->db, &sql_alert_receivers, NULL, &rows, err);
    return rc == RC_OK ? cli_print(cli, rows, err) : rc;
}

enum rc command_alert_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    const char *all = cli_has(cli, "all") ? "true" : "false";
    if (cli_has(cli, "receivers"))
        return list_receivers(cli, err);
    if (cli_has(cli, "open") && cli_has(cli, "all"))
        return err_set(err, RC_REJECT, ERR_USAGE, "alert list", "Leave one of them out.",
                       "--open and --all exclude each other");
    enum rc rc =
        db_run(cli->db, &sql_alert_list, (const char *const[]){all, limit_of(cli)}, &rows, err);
    if (rc == RC_OK)
        rc = cli_print_wrapped(
            cli, rows, "alert,job,kind,opened_at,acknowledged_by,closed_at,ended,text", err);
    /* Only below a table: on stderr of a program it would look like an error of the list. */
    return rc == RC_OK && cli->output == OUTPUT_TABLE ? report_undelivered(cli, err) : rc;
}

enum rc command_alert_show(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *alert = NULL;
    DB_RESULT_AUTO *notices = NULL;
    const char *params[] = {cli->arguments[0]};
    enum rc rc = number_argument(cli, "alert", err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_alert_show, params, &alert, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, params[0], REMEDY_ALERT_LIST,
                       "there is no alert of this number");
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_alert_notices, params, &notices, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"alert", alert, true, true, false, NULL, false},
                                       {"notices", notices, false, false, false, NULL, false}};
    return table_parts(stdout, cli_style(cli), parts, 2, err);
}

/* what: the number of an alert, alone or behind a #, or the name of a job. */
static enum rc acknowledge(struct cli *cli, const char *what, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc =
        job_refused(db_run(cli->db, &sql_alert_ack,
                           (const char *const[]){what, cli_text(cli, "reason")}, &row, err),
                    err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: %s acknowledged\n", cli->arguments[0],
                db_text(row, 0, ALERT_ACK_ACKNOWLEDGED));
    return rc;
}

enum rc command_monitor_ack(struct cli *cli, struct err *err)
{
    return acknowledge(cli, cli->arguments[0], err);
}

enum rc command_alert_ack(struct cli *cli, struct err *err)
{
    STR_AUTO alert = {0};
    enum rc rc = number_argument(cli, "alert", err);
    str_format(&alert, "#%s", cli->arguments[0]); /* and no job whose name is this number */
    return rc == RC_OK ? acknowledge(cli, alert.data, err) : rc;
}

enum rc command_monitor_silence(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    const char *until = cli_text(cli, "until");
    int64_t for_ms = cli_int(cli, "for", 0);
    /* Both parameters NULL mean --end to the statement, so a call without an option must not reach
     * it. */
    if ((until != NULL) + (for_ms > 0) + cli_has(cli, "end") != 1)
        return err_set(err, RC_REJECT, ERR_USAGE, "monitor silence",
                       "Write --for 2h, --until 2026-01-31T06:00:00Z, or --end.",
                       "one of --for, --until and --end is needed");
    const char *params[] = {cli->arguments[0], until, for_ms > 0 ? DB_INT(for_ms) : NULL,
                            cli_text(cli, "reason")};
    enum rc rc = job_refused(db_run(cli->db, &sql_monitor_silence, params, &row, err), err);
    if (rc != RC_OK && until != NULL &&
        /* SQLSTATE 22007 (no time) and 22008 (no such time), both from the cast of --until. */
        strncmp(err->code, "2200", 4) == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "monitor silence",
                       "Write --until 2026-01-31T06:00:00Z.", "--until: \"%.64s\" is no time",
                       until);
    if (rc != RC_OK)
        return rc;
    if (db_null(row, 0, MONITOR_SILENCE_UNTIL))
        cli_say(cli, "lockstep: %s: no longer silenced\n", cli->arguments[0]);
    else
        cli_say(cli, "lockstep: %s: silenced until %s\n", cli->arguments[0],
                db_text(row, 0, MONITOR_SILENCE_UNTIL));
    return RC_OK;
}

/* monitor list, check: how jobs do. Both look at rows alone, so they find a dispatcher that does
 * nothing, too.
 *
 * monitor check is made for Nagios and its kind: one line and an exit code, no table. */
#include "cli/monitor.h"
#include "cli/commands.h"

#include "base/number.h"
#include "base/remedies.h"
#include "cli/width.h"

#include <stdio.h>
#include <string.h>

enum rc monitor_check_held(struct cli *cli, const char *object, struct err *err)
{
    DB_RESULT_AUTO *held = NULL;
    char hint[300];
    enum rc rc = db_run(cli->db, &sql_job_held, NULL, &held, err);
    if (rc != RC_OK || db_rows(held) == 0)
        return rc;
    (void)snprintf(hint, sizeof hint, REMEDY_LOCKS_TAKEN, db_text(held, 0, JOB_HELD_PID));
    return err_set(err, RC_FATAL, ERR_FAILED, object, hint,
                   "the lock of dispatch is held by backend %s (%s), which is no dispatcher: no "
                   "job fires",
                   db_text(held, 0, JOB_HELD_PID), db_text(held, 0, JOB_HELD_IS));
}

enum rc command_monitor_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc =
        db_run(cli->db, &sql_job_health,
               (const char *const[]){cli_has(cli, "problems") ? "true" : "false"}, &rows, err);
    if (rc == RC_OK)
        rc = cli_print_wrapped(cli, rows, "job,queue,state,since,next_at,detail", err);
    return rc == RC_OK ? monitor_check_held(cli, "monitor", err) : rc;
}

/* One line, as monitoring tools read it. held: the error that keeps dispatchers from work; its
 * message is "" without one. */
static enum rc print_line(const struct db_result *rows, int problems, const struct err *held,
                          struct err *err)
{
    static const char *const unwatched[] = {"disabled", "paused", "silenced"};
    bool bad = problems > 0 || *held->message != '\0';
    int off[3] = {0};
    for (int i = problems; i < db_rows(rows); i++)
        for (int k = 0; k < 3; k++)
            off[k] += strcmp(db_text(rows, i, JOB_HEALTH_STATE), unwatched[k]) == 0;
    int good = db_rows(rows) - problems - off[0] - off[1] - off[2];
    (void)printf("%s - %d of %d job%s", bad ? "CRITICAL" : "OK", problems > 0 ? problems : good,
                 db_rows(rows), NUMBER_S(db_rows(rows)));
    for (int k = 0; k < 3; k++) /* they raise no alert */
        if (off[k] > 0)
            (void)printf(", %d %s", off[k], unwatched[k]);
    for (int i = 0; i < problems; i++) {
        (void)printf("%s ", i == 0 ? ":" : ";");
        width_print(stdout, db_text(rows, i, JOB_HEALTH_JOB), false);
        (void)printf(" %s: ", db_text(rows, i, JOB_HEALTH_STATE));
        width_print(stdout, db_text(rows, i, JOB_HEALTH_DETAIL), false);
    }
    if (*held->message != '\0') {
        (void)printf("; ");
        width_print(stdout, held->message, false);
    }
    (void)printf("\n");
    return table_check(stdout, err);
}

/* For monitoring tools: the exit code is the answer, 1 for a problem (the code of ERR_FAILED). */
enum rc command_monitor_check(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct err held = {0};
    int problems = 0;
    enum rc rc = db_run(cli->db, &sql_job_health, (const char *const[]){"false"}, &rows, err);
    if (rc != RC_OK)
        return rc;
    /* job_health lists problems first. */
    while (problems < db_rows(rows) && db_bool(rows, problems, JOB_HEALTH_IS_PROBLEM))
        problems++;
    enum rc free_rc = monitor_check_held(cli, "monitor", &held);
    /* The check itself failed, which is no statement about jobs. */
    if (free_rc != RC_OK && held.kind != ERR_FAILED) {
        *err = held;
        return free_rc;
    }
    rc = cli->output != OUTPUT_TABLE ? cli_print(cli, rows, err)
                                     : print_line(rows, problems, &held, err);
    if (rc != RC_OK || (problems == 0 && free_rc == RC_OK))
        return rc;
    if (free_rc != RC_OK) { /* it explains the others */
        *err = held;
        return free_rc;
    }
    return err_set(err, RC_FATAL, ERR_FAILED, "monitor check", REMEDY_JOB_PROBLEMS,
                   problems == 1 ? "%d job has a problem" : "%d jobs have a problem", problems);
}

/* monitor list, check: how jobs do. Both look at rows alone, so they find a dispatcher that does nothing, too. */
#include "cli/commands.h"

#include "cli/width.h"

#include <stdio.h>
#include <string.h>

enum rc command_monitor_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc =
        db_run(cli->db, &sql_job_health,
               (const char *const[]){cli_has(cli, "problems") ? "true" : "false"}, &rows, err);
    return rc == RC_OK ? cli_print_list(cli, rows, "job,queue,state,since,detail,next_at", err)
                       : rc;
}

/* One line, as monitoring tools read it; the exit code is the answer. */
enum rc command_monitor_check(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    int problems = 0;
    enum rc rc = db_run(cli->db, &sql_job_health, (const char *const[]){"false"}, &rows, err);
    if (rc != RC_OK)
        return rc;
    while (problems < db_rows(rows) && db_bool(rows, problems, JOB_HEALTH_IS_PROBLEM))
        problems++;
    if (cli->output != OUTPUT_TABLE) {
        rc = cli_print(cli, rows, err);
    } else {
        (void)printf("%s - %d of %d jobs", problems > 0 ? "CRITICAL" : "OK",
                     problems > 0 ? problems : db_rows(rows), db_rows(rows));
        for (int i = 0; i < problems; i++) {
            (void)printf("%s ", i == 0 ? ":" : ";");
            width_print(stdout, db_text(rows, i, JOB_HEALTH_JOB), false);
            (void)printf(" %s: ", db_text(rows, i, JOB_HEALTH_STATE));
            width_print(stdout, db_text(rows, i, JOB_HEALTH_DETAIL), false);
        }
        (void)printf("\n");
        rc = table_check(stdout, err);
    }
    if (rc != RC_OK || problems == 0)
        return rc;
    return err_set(err, RC_FATAL, ERR_FAILED, "monitor check", "lockstep monitor list --problems",
                   "%d jobs need a look", problems);
}

/* run list, show: facts, phases and failed tasks of a run, and the drawing below (cli/gantt.c), or
 * pictures to files (cli/run_picture.c).
 *
 * Everything that is shown is read by separate statements without one snapshot: of a run that is
 * under way the parts may be of slightly different moments. run watch (cli/watch.c) reads them
 * together. */
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/gantt.h"
#include "cli/run_picture.h"

#include "base/remedies.h"

#include <stdio.h>

enum rc command_run_list(struct cli *cli, struct err *err)
{
    const char *queue;
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_run_list,
                    (const char *const[]){queue, cli_text(cli, "status"), limit_of(cli)}, &result,
                    err);
    return rc == RC_OK
               ? cli_print_list(
                     cli, result,
                     "queue,run_id,name,status,tasks,completed,failed,started_at,seconds", err)
               : rc;
}

enum rc command_run_show(struct cli *cli, struct err *err)
{
    struct run_row run;
    DB_RESULT_AUTO *facts = NULL;
    DB_RESULT_AUTO *phases = NULL;
    DB_RESULT_AUTO *failed = NULL;
    enum rc rc = find_run_argument(cli, &run, err);
    if (rc != RC_OK)
        return rc;
    /* A picture is instead of the tables: with FILE - it is alone on stdout. */
    if (cli_has(cli, "svg") || cli_has(cli, "html"))
        return run_picture(cli, run.run_no, err);
    const char *params[] = {DB_INT(run.run_no)};
    rc = db_run(cli->db, &sql_run_show, params, &facts, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_run_phases, params, &phases, err);
    if (rc == RC_OK && db_int(facts, 0, RUN_SHOW_FAILED) > 0)
        /* Without a failed task the part is empty, and the statement is saved. */
        rc = db_run(cli->db, &sql_run_failed, params, &failed, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {
        {"run", facts, true, false, false, NULL, false},
        {"phases", phases, false, true, false,
         "order,state,tasks,completed,processing?,error?,failed?,cancelled?,opened_at,seconds",
         false},
        {"failed", failed, false, false, false, NULL, false}};
    rc = table_parts(stdout, cli_style(cli), parts, 3, err);
    if (rc != RC_OK || cli->output != OUTPUT_TABLE)
        return rc;
    if (failed != NULL && db_rows(failed) > 0)
        cli_say(cli, "lockstep: " REMEDY_TASK_SHOW "\n", db_text(failed, 0, RUN_FAILED_TASK));
    return gantt_print(cli, run.run_no, phases, err);
}

#include "cli/commands.h"
#include "cli/find.h"
#include "cli/gantt.h"

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
    enum rc rc = find_run_argument(cli, &run, err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {DB_INT(run.run_no)};
    rc = db_run(cli->db, &sql_run_show, params, &facts, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_run_phases, params, &phases, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"run", facts, true, false, false},
                                       {"phases", phases, false, true, false}};
    rc = table_parts(stdout, cli_style(cli), parts, 2, err);
    return rc == RC_OK && cli->output == OUTPUT_TABLE ? gantt_print(cli, run.run_no, phases, err)
                                                      : rc;
}

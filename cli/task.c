#include "cli/commands.h"
#include "cli/find.h"

#include <stdio.h>

enum rc command_task_list(struct cli *cli, struct err *err)
{
    struct run_row run = {0};
    const char *queue, *id = cli_text(cli, "run");
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK && id != NULL)
        rc = find_run(cli, id, &run, err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {id ? DB_INT(run.run_no) : NULL, queue, cli_text(cli, "status"),
                            limit_of(cli)};
    rc = db_run(cli->db, &sql_task_list, params, &result, err);
    return rc == RC_OK ? cli_print(cli, result, err) : rc;
}

enum rc command_task_show(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *task = NULL;
    DB_RESULT_AUTO *attempts = NULL;
    const char *params[] = {cli->arguments[0]};
    enum rc rc = number_argument(cli, "task", err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_task_find, params, &task, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, params[0], "lockstep task list",
                       "there is no task of this number");
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_task_attempts, params, &attempts, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"task", task, true, true},
                                       {"attempts", attempts, false, false}};
    return table_parts(stdout, (struct table_style){cli->output, cli->color}, parts, 2, err);
}

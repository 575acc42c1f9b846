/* task list, show: tasks in the order of their run, one task with its attempts, or one field of it
 * alone and unescaped (--raw), for a file or another program.
 *
 * task show takes the number of a task, which is unique in the database, so it needs no queue and
 * no run. */
#include "cli/commands.h"
#include "cli/find.h"

#include "base/remedies.h"
#include "db/columns.h"

#include <stdio.h>
#include <string.h>

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
    /* NULL is no condition: of all runs, of all queues, of any status. */
    const char *params[] = {id ? DB_INT(run.run_no) : NULL, queue, cli_text(cli, "status"),
                            limit_of(cli)};
    rc = db_run(cli->db, &sql_task_list, params, &result, err);
    return rc == RC_OK
               ? cli_print_list(cli, result,
                                "id,run_id,order,name,status,attempt,started_at,seconds,error", err)
               : rc;
}

/* One field as it is: for a file, or for another program. */
static enum rc show_raw(const struct cli *cli, const struct db_result *task, const char *field,
                        struct err *err)
{
    int column = 0;
    /* The words of --raw are names of columns of task_find, so the loop ends. */
    while (strcmp(db_column_name(task, column), field) != 0)
        column++;
    if (db_null(task, 0, column))
        return err_set(err, RC_REJECT, ERR_FAILED, cli->arguments[0], NULL, "the task has no %s",
                       field);
    (void)fputs(db_text(task, 0, column), stdout);
    return table_check(stdout, err);
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
        return err_set(err, RC_REJECT, ERR_USAGE, params[0], REMEDY_TASK_LIST,
                       "there is no task of this number");
    if (rc == RC_OK && cli_has(cli, "raw"))
        return show_raw(cli, task, cli_text(cli, "raw"), err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_task_attempts, params, &attempts, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"task", task, true, true, false, NULL, false},
                                       {"attempts", attempts, false, false, true, NULL, false}};
    return table_parts(stdout, cli_style(cli), parts, 2, err);
}

/* run explain, task explain, queue explain: one function of the database knows the reasons. */
#include "cli/commands.h"
#include "cli/find.h"

#include <stdio.h>

/* For people a paragraph each, the cause, what helps, since when: a table of such sentences could not be read. */
static enum rc show(struct cli *cli, const char *queue_id, const char *run_no, const char *task_id,
                    struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    const char *params[] = {queue_id, run_no, task_id};
    enum rc rc = db_run(cli->db, &sql_explain_reasons, params, &rows, err);
    if (rc != RC_OK || cli->output != OUTPUT_TABLE)
        return rc == RC_OK ? cli_print(cli, rows, err) : rc;
    for (int i = 0; i < db_rows(rows); i++) {
        (void)printf("%s%s", i > 0 ? "\n" : "", db_text(rows, i, 1));
        if (!db_null(rows, i, 5))
            (void)printf("\n  %s", db_text(rows, i, 5));
        if (!db_null(rows, i, 3))
            (void)printf("\n  since %s", db_text(rows, i, 3));
        (void)printf("\n");
    }
    return table_check(stdout, err);
}

enum rc command_run_explain(struct cli *cli, struct err *err)
{
    struct run_row run;
    enum rc rc = find_run_argument(cli, &run, err);
    return rc == RC_OK ? show(cli, NULL, DB_INT(run.run_no), NULL, err) : rc;
}

enum rc command_queue_explain(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    return rc == RC_OK ? show(cli, DB_INT(queue.queue_id), NULL, NULL, err) : rc;
}

enum rc command_task_explain(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *task = NULL;
    enum rc rc = number_argument(cli, "task", err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_task_find, (const char *const[]){cli->arguments[0]}, &task, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[0], "lockstep task list",
                       "there is no task of this number");
    return rc == RC_OK ? show(cli, NULL, NULL, cli->arguments[0], err) : rc;
}

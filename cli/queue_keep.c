/* --keep-... of queue create and queue set: how long a queue keeps the tasks of ended runs. The
 * values of these options win over [queue:NAME] of the executors' files; scheduler/retention.c
 * deletes by them.
 *
 * The three numbers are set by one statement; `none` removes a rule, and --keep-from-file returns
 * all three to the file, whose values each executor writes at its start (cli/executor_run.c). */
#include "cli/queue_keep.h"

static const char *const options[] = {"keep-runs", "keep-days", "keep-failed-days",
                                      "keep-from-file"};
enum { COUNT = sizeof options / sizeof *options };

/* Without one of them the statement is not called, so that the rules stay as they are. */
bool queue_keep_given(const struct cli *cli)
{
    bool given = false;
    for (int i = 0; i < COUNT; i++)
        given = given || cli_has(cli, options[i]);
    return given;
}

enum rc queue_keep_check(const struct cli *cli, struct err *err)
{
    if (cli_has(cli, "keep-from-file") && (cli_has(cli, "keep-runs") || cli_has(cli, "keep-days") ||
                                           cli_has(cli, "keep-failed-days")))
        return err_set(err, RC_REJECT, ERR_USAGE, "--keep-from-file", "Give one of them.",
                       "it is either the configuration file's to say what is kept, or yours");
    return RC_OK;
}

enum rc queue_keep_set(struct cli *cli, const char *name, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    const char *params[] = {name, cli_text(cli, "keep-runs"), cli_text(cli, "keep-days"),
                            cli_text(cli, "keep-failed-days"),
                            cli_has(cli, "keep-from-file") ? "true" : "false"};
    enum rc rc = db_run(cli->db, &sql_queue_keep, params, &row, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: kept: %s\n", name, db_text(row, 0, QUEUE_KEEP_KEPT));
    return rc;
}

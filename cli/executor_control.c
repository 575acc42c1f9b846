/* executor drain, set: found by its id or the beginning of one. Both only write a row: the executor
 * reads it at its next heartbeat or notification and acts by itself (executor/obey.c).
 *
 * Neither command waits for the executor: a drain may take as long as its longest task, and
 * executor list shows its state. */
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/find.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

static enum rc find_executor(struct cli *cli, char ret_id[37], struct err *err)
{
    DB_RESULT_AUTO *found = NULL;
    const char *text = cli->arguments[0];
    enum rc rc = db_run(cli->db, &sql_control_executor, (const char *const[]){text}, &found, err);
    if (rc != RC_OK)
        return rc;
    if (db_rows(found) == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, text, REMEDY_EXECUTOR_LIST,
                       "there is no executor with this id");
    /* Refused, not guessed: the other executor would drain. */
    if (db_rows(found) > 1)
        return find_ambiguous(text, found, CONTROL_EXECUTOR_EXECUTOR_ID, CONTROL_EXECUTOR_HOST,
                              "Type more of the id.", "several executors fit", err);
    (void)snprintf(ret_id, 37, "%s", db_text(found, 0, CONTROL_EXECUTOR_EXECUTOR_ID));
    return RC_OK;
}

/* The executor ends by itself when the tasks that it runs are finished. */
enum rc command_executor_drain(struct cli *cli, struct err *err)
{
    char id[37];
    enum rc rc = find_executor(cli, id, err);
    if (rc == RC_OK)
        rc = control_done(db_run(cli->db, &sql_control_executor_drain,
                                 (const char *const[]){id, cli_text(cli, "reason")}, NULL, err),
                          err);
    if (rc == RC_OK)
        cli_say(cli,
                "lockstep: %s: it drains: what it runs may finish within its drain_timeout, then "
                "it ends\n",
                id);
    return rc;
}

/* Until the executor ends: the next one begins with the number of its configuration or of
 * --readers. */
enum rc command_executor_set(struct cli *cli, struct err *err)
{
    char id[37];
    const char *readers = cli_text(cli, "readers");
    if (readers == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "executor set", "Give --readers N.",
                       "nothing is to be set");
    enum rc rc = find_executor(cli, id, err);
    if (rc == RC_OK)
        rc = control_done(db_run(cli->db, &sql_control_executor_set,
                                 (const char *const[]){id, readers, cli_text(cli, "reason")}, NULL,
                                 err),
                          err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: readers %s\n", id, readers);
    return rc;
}

/* task cancel, retry, complete, fail: a function of the database does each. It does not wait for a
 * task whose attempt is being recorded, so this file asks again for some seconds.
 *
 * A task is judged by its row: the database refuses an act that the status does not allow. */
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/find.h"
#include "cli/stop.h"

#include "base/clock.h"
#include "db/sqlstate.h"

#include <string.h>

#define AGAIN_MS    20
#define PATIENCE_US (5 * 1000 * 1000)

/* 55P03 (lock_not_available): an attempt of the task is being recorded at this moment. The next try
 * sees its result, and judges the task by it. */
static enum rc on_task(struct cli *cli, const struct sql_statement *stmt, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    enum rc rc = number_argument(cli, "task", err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {cli->arguments[0], cli_text(cli, "reason")};
    stop_catch();
    int64_t until_us = clock_boot_us() + PATIENCE_US;
    while ((rc = db_run(cli->db, stmt, params, &done, err)) == RC_RETRY &&
           sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE) && clock_boot_us() <= until_us) {
        stop_wait(AGAIN_MS);
        if (stop_requested())
            return err_set(err, RC_REJECT, ERR_CANCELLED, NULL, "Nothing was changed.",
                           "the wait for task %s was interrupted", cli->arguments[0]);
    }
    rc = control_done(rc, err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

enum rc command_task_cancel(struct cli *cli, struct err *err)
{
    return on_task(cli, &sql_control_task_cancel, err);
}

enum rc command_task_retry(struct cli *cli, struct err *err)
{
    return on_task(cli, &sql_control_task_retry, err);
}

enum rc command_task_complete(struct cli *cli, struct err *err)
{
    return on_task(cli, &sql_control_task_complete, err);
}

enum rc command_task_fail(struct cli *cli, struct err *err)
{
    return on_task(cli, &sql_control_task_fail, err);
}

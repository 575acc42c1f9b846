/* Runs that have ended and whose end is not recorded: the executor that released the last phase
 * died before, or another executor opened the last phase. run_finish locks the queue's row and
 * checks again, so several executors may call it for the same run; one of them ends the run. */
#include "executor/ends.h"

#include "executor/lane.h"
#include "executor/letters.h"

#include "base/probe.h"
#include "db/db.h"

enum rc ends_record(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *runs = NULL;
    (void)orphans_take_ends(&lane->orphans);
    probe("finish.send");
    enum rc rc = db_run(lane->ex->control.db, &sql_executor_open_runs,
                        (const char *const[]){DB_INT(lane->queue.id)}, &runs, err);
    for (int i = 0; rc == RC_OK && i < db_rows(runs); i++)
        rc = db_run(lane->ex->control.db, &sql_executor_finish,
                    (const char *const[]){db_text(runs, i, EXECUTOR_OPEN_RUNS_RUN_NO)}, NULL, err);
    return rc == RC_OK ? letters_check(lane, err) : rc;
}

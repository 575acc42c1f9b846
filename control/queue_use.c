/* Asked before a queue is deleted: an executor whose readers are at work would lose the rows of its
 * tasks under them. */
#include "control/queue_use.h"

#include "base/remedies.h"

enum rc queue_unused(struct db *db, const char *name, struct err *err)
{
    DB_RESULT_AUTO *used = NULL;
    enum rc rc = db_run(db, &sql_queue_in_use, (const char *const[]){name}, &used, err);
    if (rc != RC_OK || db_int(used, 0, QUEUE_IN_USE_IN_USE) == 0)
        return rc;
    return err_set(err, RC_RETRY, ERR_HELD, name, REMEDY_EXECUTOR_STOP, "%s reader%s on it",
                   db_text(used, 0, QUEUE_IN_USE_IN_USE),
                   db_int(used, 0, QUEUE_IN_USE_IN_USE) == 1 ? " works" : "s work");
}

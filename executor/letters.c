/* From the outbox of the queues to the relay's thread (relay/relay.c), which is started when there
 * are rows for the first time. Control learns of rows from its own statements and from
 * notifications; letters_check() asks where both may have been missed. */
#include "executor/letters.h"

#include "executor/executor.h"
#include "executor/lane.h"

#include "base/log.h"
#include "db/db.h"
#include "relay/relay.h"

void letters_wake(struct lane *lane, enum relay_word word)
{
    struct executor *ex = lane->ex;
    struct err err = {0};
    if (ex->services.relay == NULL && word != RELAY_AGAIN &&
        relay_start(ex->options->conninfo, db_server(ex->control.db), ex->options->kafka,
                    ex->incarnation.executor_no, &ex->services.relay, &err) != RC_OK) {
        log_err(LOG_WARN, "relay_not_started", lane->queue.name, &err); /* the rows wait */
        return;
    }
    if (ex->services.relay != NULL)
        relay_wake(ex->services.relay, lane->queue.id, word);
}

/* At the start, and when an executor died, which may have been the relay. */
enum rc letters_check(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(lane->ex->control.db, &sql_relay_waiting,
                        (const char *const[]){DB_INT(lane->queue.id)}, &row, err);
    if (rc == RC_OK && db_bool(row, 0, RELAY_WAITING_WAITING))
        letters_wake(lane, RELAY_HEARD);
    return rc;
}

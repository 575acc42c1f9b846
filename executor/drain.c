/* Signals ask an executor to pause its claims, to read its configuration again, or to end in order.
 * The handlers only count (signals.c); drain_watch() carries the requests out at the beginning of a
 * turn. run.c ends the incarnation when nothing runs any more. */
#include "executor/drain.h"

#include "executor/alive.h"
#include "executor/event.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/requests.h"
#include "executor/returning.h"
#include "executor/signals.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/service.h"
#include "db/db.h"
#include "reader/reader.h"

/* Tasks that this executor was not able to do may be allowed now, and the other way round. Running
 * tasks continue as they began. */
static enum rc note_abilities(struct executor *ex, struct err *err)
{
    event_raise_all(ex, EVENT_ABILITIES_CHANGED);
    enum rc rc = db_run(ex->control.db, &sql_executor_able,
                        (const char *const[]){DB_INT(ex->incarnation.executor_no)}, NULL, err);
    if (rc == RC_LOST || rc == RC_FATAL)
        return rc;
    if (again_answered(&ex->drain.abilities, rc))
        log_err(LOG_WARN, "abilities_not_noted", NULL, err);
    return RC_OK;
}

static enum rc reload(struct executor *ex, struct err *err)
{
    int64_t again_us = again_due_us(&ex->drain.abilities);
    if (signals_reload() && ex->options->reload != NULL &&
        ex->options->reload(ex->options->reload_context))
        log_event(LOG_INFO, "reloaded", "executor", ex->incarnation.id, NULL);
    else if (again_us == 0 || ex->turn.now_us < again_us)
        return RC_OK;
    return note_abilities(ex, err);
}

/* The readers begin no further task. The running ones are stopped as if an operator had asked for
 * it: again and again, because a request that comes between two statements has no effect, and by
 * the end of its session, if the task catches it. */
static void cancel_running(struct executor *ex)
{
    if (!ex->drain.cancelled) {
        log_event(LOG_WARN, "cancelling_tasks", NULL);
        for (int i = 0; i < ex->readers.count; i++)
            reader_cancel(ex->readers.list[i].thread);
    }
    ex->drain.cancelled = true;
    requests_stop_running(&ex->readers, ex->turn.now_us);
}

/* SIGTERM: no new claims, and running tasks may finish. The second SIGTERM, or the time-out,
 * cancels them. */
enum rc drain_watch(struct executor *ex, struct err *err)
{
    bool hold = signals_hold();
    if (hold != ex->drain.claims_paused) {
        ex->drain.claims_paused = hold;
        log_event(LOG_INFO, ex->drain.claims_paused ? "claims_paused" : "claims_resumed", NULL);
    }
    enum rc rc = reload(ex, err);
    if (rc == RC_OK && signals_stop() > 0 && !ex->drain.draining) {
        ex->drain.draining = true;
        ex->drain.until_us = ex->turn.now_us + (int64_t)ex->options->drain_timeout_ms * 1000;
        log_event(LOG_INFO, "draining", NULL);
        service_stopping();
        probe("drain.begin");
        /* Tasks that have not started go to other executors at once; they need not wait for the
         * longest task that runs here. */
        for (int i = 0; rc == RC_OK && i < ex->lane_count; i++)
            rc = lane_confine(&ex->lanes[i], return_waiting(&ex->lanes[i], -1, err), err);
        probe("drain.returned");
    }
    if (ex->drain.draining && (signals_stop() > 1 || ex->turn.now_us >= ex->drain.until_us))
        cancel_running(ex);
    alive_signalled(ex->services.alive, ex->drain.draining        ? ALIVE_DRAINING
                                        : ex->drain.claims_paused ? ALIVE_HELD
                                                                  : ALIVE_FREE);
    return rc;
}

int64_t drain_due_us(const struct executor *ex)
{
    int64_t end_us = ex->drain.draining && !ex->drain.cancelled ? ex->drain.until_us : 0;
    return clock_earlier_us(end_us, again_due_us(&ex->drain.abilities));
}

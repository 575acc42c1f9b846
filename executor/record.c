/* record: a reader is done with a task. The record itself was written in the task's own
 * transaction; here control forgets the task, or finds out what became of one whose session broke.
 *
 * Nothing is decided here about the outcome: the token decided it in the database. A lost attempt
 * is the one case in which control asks: the row says whether it committed. */
#include "executor/record.h"

#include "executor/assignment.h"
#include "executor/counts.h"
#include "executor/event.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/names.h"
#include "executor/output.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/run_id.h"

#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "reader/work.h"
#include "task/message.h"

#include <stdlib.h>
#include <string.h>

/* A session that ends sooner than this was ended by its own task (pg_terminate_backend), and counts
 * against the task: an operator is not that quick, time after time. */
#define AT_ONCE_US (1000 * 1000)

static const char *kind_of(const struct work *work)
{
    switch (work->end.loss) {
    case LOSS_UNDECIDED:
    case LOSS_UNKNOWN:
        break;
    case LOSS_DOUBTED:
        return "doubt";
    case LOSS_CANCELLED:
        return work->end.ran_us < AT_ONCE_US ? "lost" : "ended";
    case LOSS_SERVER:
    case LOSS_BARRED:
    case LOSS_SCHEMA:
        return "server";
    case LOSS_OWN:
        return "stopped";
    }
    return "lost";
}

static const char *why_of(const struct work *work)
{
    return work->end.loss == LOSS_BARRED   ? "the login of the tasks may not record it"
           : work->end.loss == LOSS_SCHEMA ? "the schema does not have what records it"
                                           : "its session is gone or was cancelled";
}

/* The session of the attempt broke. The row says whether the attempt committed; if it did not, the
 * task has no owner any more and the attempt's token is void. */
enum rc record_lost(struct lane *lane, struct work *work, struct err *err)
{
    struct executor *ex = lane->ex;
    NAMES_AUTO names = {0};
    DB_RESULT_AUTO *row = NULL;
    names_only(&names, work);
    event_raise(lane, EVENT_WORK_UNOWNED);
    probe("lose.send");
    enum rc rc = db_run(ex->control.db, &sql_executor_lose,
                        (const char *const[]){DB_INT(lane->queue.id), names.ids.data,
                                              names.tokens.data, why_of(work), kind_of(work)},
                        &row, err);
    struct works works = {0};
    works_add(&works, work);
    /* Only now: a row that is locked is asked for again, and an end that an operator or this
     * executor made is no loss. */
    if (rc == RC_OK && db_int(row, 0, EXECUTOR_LOSE_COUNTED) > 0)
        counts_lost(lane);
    return late_settle(lane, &works, rc == RC_OK ? db_int(row, 0, EXECUTOR_LOSE_LOST) : 0, rc, err);
}

/* An attempt that an operator has stopped is lost in the same way, and is no warning. */
static void log_lost(const struct work *work)
{
    const struct assignment *own = assignment_of(work);
    log_event(own->stopped ? LOG_INFO : LOG_WARN, own->stopped ? "attempt_stopped" : "attempt_lost",
              "queue", own->lane->queue.name, "task", LOG_INT(work->task_id), "attempt",
              LOG_INT(work->attempt), "error", why_of(work), NULL);
}

static void note_return(struct executor *ex, struct work *work)
{
    const struct assignment *own = assignment_of(work);
    probe("record.take");
    counts_work(own->lane, work);
    readers_remove(&ex->readers, work, ex->turn.now_us);
    phase_back(own->phase, ex->turn.now_us);
    phases_returned(&own->lane->phases, own->phase);
}

void record_completed(struct executor *ex, struct work *work)
{
    note_return(ex, work);
    incarnation_completed(&ex->incarnation);
    output_add(&ex->output, work);
    pace_learn(&assignment_of(work)->lane->pace, work->end.ran_us);
    work_free(work);
}

enum rc record(struct executor *ex, struct work *work, struct err *err)
{
    struct lane *lane = assignment_of(work)->lane;
    struct works works = {0};
    char id[37];
    if (work->end.outcome == OUTCOME_COMPLETED) {
        record_completed(ex, work);
        return RC_OK;
    }
    note_return(ex, work);
    output_add(&ex->output, work);
    switch (work->end.outcome) {
    case OUTCOME_COMPLETED:
        break;
    case OUTCOME_ERROR:
        event_raise(lane, EVENT_WORK_UNOWNED); /* to learn when it is due */
        break;
    case OUTCOME_FAILED:
        log_event(LOG_WARN, "task_failed", "queue", lane->queue.name, "run",
                  run_id(lane->ex->control.db, assignment_of(work)->phase, id), "task",
                  LOG_INT(work->task_id), "name", work->msg->name, "sqlstate",
                  work->end.why ? work->end.why->code : "", "error",
                  work->end.why ? work->end.why->message : "", NULL);
        break;
    case OUTCOME_STALE:
        log_event(LOG_WARN, "attempt_stale", "queue", lane->queue.name, "task",
                  LOG_INT(work->task_id), NULL);
        break;
    /* The reader has rolled the transaction of the attempt back, or has seen that its backend is
     * gone; so the row is final. */
    case OUTCOME_LOST:
        log_lost(work);
        return record_lost(lane, work, err);
    /* Not by the reader that did the step: its slot names the session of before. */
    case OUTCOME_CONTINUES:
    case OUTCOME_UNSTARTED:
        event_raise(lane, EVENT_WORK_UNOWNED);
        works_add(&works, work);
        return late_return(lane, &works, err);
    }
    work_free(work);
    return RC_OK;
}

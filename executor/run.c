/* The story of an executor: receive -> parse -> claim -> gate -> execute -> record -> release. A
 * turn takes the mail of the other threads (take_mail: record) and then works on each lane
 * (lane_turn: receive, claim, execute; barrier: release and gate). executor.c begins and ends the
 * incarnation around the turns, and wait.c sleeps between them. */
#include "executor/run.h"

#include "executor/alive.h"
#include "executor/assignment.h"
#include "executor/claim.h"
#include "executor/counts.h"
#include "executor/cut_off.h"
#include "executor/drain.h"
#include "executor/ends.h"
#include "executor/event.h"
#include "executor/execute.h"
#include "executor/executor.h"
#include "executor/gate.h"
#include "executor/idle.h"
#include "executor/jobs.h"
#include "executor/lag.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/late.h"
#include "executor/notifications.h"
#include "executor/output.h"
#include "executor/phase.h"
#include "executor/receive.h"
#include "executor/record.h"
#include "executor/recover.h"
#include "executor/release.h"
#include "executor/requests.h"
#include "executor/server.h"
#include "executor/sessions.h"
#include "executor/trouble.h"
#include "executor/turn.h"

#include "base/mailbox.h"
#include "base/probe.h"
#include "kafka/consumer.h"

#include <stdlib.h>

static bool busy(const struct lane *lane)
{
    return lane->phases.first != NULL;
}

/* The liveness thread reports that its session is lost, that other executors died, or that the lock
 * of dispatch is free. */
static enum rc alive_report(struct executor *ex, struct mail *mail, struct err *err)
{
    struct alive_mail *report = (struct alive_mail *)mail;
    enum rc rc = RC_OK;
    if (report->event == ALIVE_LOST) {
        *err = report->err;
        rc = RC_LOST;
    } else if (report->event == ALIVE_OTHERS_DIED) {
        event_raise_all(ex, EVENT_EXECUTOR_DIED);
    } else {
        jobs_free(ex->services.jobs);
    }
    free(report);
    return rc;
}

/* A statement that the verdict needs may fail for this queue alone; then the lane is set aside and
 * the mail of the others is still taken. */
static enum rc topic_report(struct mail *mail, struct err *err)
{
    struct identity_finding finding;
    enum rc rc = identity_report(mail, &finding, err);
    rc = lane_confine(finding.lane, rc == RC_OK ? lane_follow(&finding, err) : rc, err);
    str_done(&finding.detail);
    return rc;
}

/* As for a finding about a topic. */
static enum rc opening_report(struct mail *mail, struct err *err)
{
    struct lane *lane;
    enum rc rc = gate_report(mail, &lane, err);
    return lane_confine(lane, rc, err);
}

/* Likewise: some attempts end with a statement of control's. */
static enum rc work_report(struct executor *ex, struct mail *mail, struct err *err)
{
    struct work *work = (struct work *)mail;
    struct lane *lane = assignment_of(work)->lane; /* record takes the work */
    return lane_confine(lane, record(ex, work, err), err);
}

/* An error does not end the loop: each mail owns memory, perhaps a completed task. */
static enum rc take_mail(struct executor *ex, struct err *err)
{
    enum rc rc = RC_OK;
    for (struct mail *mail = mailbox_take(&ex->inbox), *next; mail != NULL; mail = next) {
        struct err ignored;
        struct err *to = rc == RC_OK ? err : &ignored;
        enum rc one = RC_OK;
        next = mail->next;
        switch ((enum control_mail)mail->kind) {
        case MAIL_WORK_DONE:
            one = work_report(ex, mail, to);
            break;
        case MAIL_GATE:
            one = opening_report(mail, to);
            break;
        case MAIL_ALIVE:
            one = alive_report(ex, mail, to);
            break;
        case MAIL_TOPIC:
            one = topic_report(mail, to);
            break;
        }
        rc = rc == RC_OK ? one : rc;
    }
    return rc;
}

/* Another executor may have cancelled tasks in hand when it opened their phase (conditions). If one
 * started before the question, a cancelled task would run. */
static enum rc start_tasks(struct lane *lane, struct err *err)
{
    enum rc rc = lane->phases.doubtful ? requests_check_stops(lane, err) : RC_OK;
    return rc == RC_OK ? execute(lane, err) : rc;
}

/* What a barrier waits for: comes before the round trip of a claim. Tasks of a phase that release()
 * opened start before its opening is logged (bench/notes/barrier.md). */
static enum rc barrier(struct lane *lane, struct err *err)
{
    enum rc rc = release(lane, err);
    if (rc == RC_OK)
        rc = start_tasks(lane, err);
    if (rc == RC_OK)
        rc = gate_record(lane, err);
    return rc == RC_OK ? gate(lane, err) : rc;
}

/* A draining lane claims, adopts and starts nothing. It releases phases whose last task has ended,
 * so that another executor can open the next one before this process ends. */
static enum rc drain_turn(struct lane *lane, struct err *err)
{
    if (lane_aside(lane))
        return RC_OK;
    enum rc rc = release(lane, err);
    return rc == RC_OK ? openings_flush(&lane->gates.openings, lane->ex->control.db,
                                        lane->ex->incarnation.executor_no, err)
                       : rc;
}

/* The loop of claims ends as soon as mail waits: a claim takes as long as thirty short tasks, and a
 * barrier would wait for its answer. barrier() comes again, because a claim may have brought a
 * phase that is to be opened. */
static enum rc lane_turn(struct lane *lane, struct err *err)
{
    bool progress = true;
    if (lane->queue.foreign || lane_aside(lane))
        return RC_OK;
    enum rc rc = lane->queue.stale ? lane_renew(lane, err) : RC_OK;
    if (rc == RC_OK)
        rc = receive(lane, err);
    probe("receive.done");
    if (rc == RC_OK && orphans_take_ends(&lane->orphans))
        rc = ends_record(lane, err);
    if (rc == RC_OK)
        rc = recover(lane, err);
    if (rc == RC_OK)
        rc = start_tasks(lane, err);
    if (rc == RC_OK)
        rc = barrier(lane, err);
    while (rc == RC_OK && progress) {
        rc = claim(lane, &progress, err);
        if (rc == RC_OK)
            rc = start_tasks(lane, err);
        /* Which ends the wait at once. */
        progress = progress && !lane->ex->turn.again && !mailbox_waiting(&lane->ex->inbox);
    }
    if (rc == RC_OK)
        rc = barrier(lane, err);
    if (rc == RC_OK && !busy(lane))
        rc = lane_end(lane, err);
    return rc == RC_OK ? lane_is_well(lane, err) : rc;
}

/* Tasks that could not be returned before. A lane that is set aside returns them, too: other
 * executors may not have its trouble. */
static enum rc return_late(struct lane *lane, struct err *err)
{
    return lane_confine(lane, late_send(lane, err), err);
}

static bool owns_work(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        if (busy(&ex->lanes[i]))
            return true;
    return false;
}

static bool running(const struct readers *readers)
{
    for (int i = 0; i < readers->count; i++)
        if (readers->list[i].count > 0)
            return true;
    return false;
}

/* Mail comes before lanes, so that completed tasks make room. An error that lane_confine() lets
 * through ends the incarnation. */
enum rc run_turn(struct executor *ex, bool *ret_done, struct err *err)
{
    turn_begin(&ex->turn);
    enum rc rc = drain_watch(ex, err);
    kafka_consumer_serve(ex->services.consumer);
    if (rc == RC_OK)
        rc = take_mail(ex, err);
    if (rc == RC_OK)
        rc = notifications_take(ex, err);
    if (rc == RC_OK)
        rc = cut_off_watch(ex, err);
    if (rc == RC_OK)
        rc = sessions_note(ex, err);
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++)
        rc = return_late(&ex->lanes[i], err);
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        rc = ex->drain.draining ? drain_turn(&ex->lanes[i], err) : lane_turn(&ex->lanes[i], err);
        rc = lane_confine(&ex->lanes[i], rc, err);
        lag_publish(&ex->lanes[i]);
        counts_state(&ex->lanes[i]);
    }
    if (rc == RC_OK) /* behind everything that other executors wait for */
        rc = output_write(&ex->output, ex->control.db, err);
    time_out(&ex->readers, ex->turn.now_us);
    requests_interrupt(&ex->readers, ex->turn.now_us);
    if (rc == RC_OK)
        rc = mark_running(ex, err);
    if (rc == RC_OK)
        rc = slots_return(ex, false, err);
    server_lives(ex);
    alive_busy(ex->services.alive, owns_work(ex));
    if (rc == RC_OK && ex->drain.draining) {
        *ret_done = !running(&ex->readers) && (!late_any(ex) || ex->drain.cancelled);
        if (!*ret_done && ex->drain.cancelled && cut_off_all_that_runs(&ex->readers))
            rc = err_set(err, RC_LOST, ERR_DB_DOWN, "readers", NULL,
                         "the end of what ran cannot be seen: the login of the tasks is refused");
    } else if (rc == RC_OK && ex->options->until_idle)
        rc = idle(ex, ret_done, err);
    return rc;
}

/* Assigns startable tasks to readers that hold a slot. Control decides, readers run.
 *
 * Four parts: slots are taken for the readers that the lane may use (fill_slots), tasks are judged
 * (judging.c) and assigned (assign_tasks), long tasks are shown and ended in time (mark_running,
 * time_out), and idle readers return their slots (slots_return). execute() runs the first two in
 * each turn. */
#include "executor/execute.h"

#include "executor/able.h"
#include "executor/assignment.h"
#include "executor/cut_off.h"
#include "executor/judging.h"
#include "executor/lane.h"
#include "executor/measure.h"
#include "executor/names.h"
#include "executor/phase.h"
#include "executor/returning.h"
#include "executor/share.h"
#include "executor/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "db/parameter.h"
#include "phaselock/slot.h"
#include "reader/reader.h"
#include "reader/session.h"
#include "reader/work.h"
#include "task/message.h"

#include <string.h>

/* SLOT_KEEP_US and BARRIER_ROUNDS: a slot that is returned and taken again costs four statements,
 * and a barrier is shorter than this (bench/notes/barrier.md). TIMEOUT_GRACE_US: SQL may catch the
 * cancel of its time-out (tests/e2e/timeout.sh). */
#define MARK_AFTER_US    (50 * 1000) /* an attempt that runs for this long is shown as Processing */
#define SLOT_KEEP_US     (5 * 1000)  /* an idle reader keeps its slot over a barrier */
#define BARRIER_ROUNDS   6           /* and as long as these take */
#define MARK_MOST        64
#define SLOTS_MOST       64 /* of one statement that takes or returns slots */
#define TIMEOUT_GRACE_US (5 * 1000 * 1000)
#define CANCEL_AGAIN_US  (100 * 1000)

/* Of its first waiting task. */
static int64_t arrival(const struct phase *phase)
{
    return assignment_of(phase->waiting.first)->place;
}

/* The open phase whose first waiting task arrived before those of the others. Several phases are
 * open only when they belong to several runs. */
static struct phase *next_phase(const struct phases *phases)
{
    struct phase *next = NULL;
    for (struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (phase->open && phase->waiting.count > 0 &&
            (next == NULL || arrival(phase) < arrival(next)))
            next = phase;
    return next;
}

struct slot_wish {
    struct reader *reader;
    char backend_start[64];
};

/* Lists readers without a slot that could start a task now, at most want. Returns how many. */
static int wish_slots(struct readers *readers, int want, struct slot_wish *wishes,
                      struct slot_reader *wanted)
{
    int count = 0;
    for (int i = 0; i < readers->limit && count < want; i++) {
        struct reader *reader = &readers->list[i];
        if (reader->lane != NULL || !reader_usable(readers, reader))
            continue;
        reader_backend(reader->thread, &wanted[count].pid, wishes[count].backend_start);
        wanted[count].backend_start = wishes[count].backend_start;
        wishes[count++].reader = reader;
    }
    return count;
}

/* Takes a slot for each such reader, SLOTS_MOST at most. *ret_more: that many were taken, so
 * another call may take more. RC_NONE is no error: fewer slots were free than wanted, and the
 * executor is registered as a waiter, so the next release notifies it. */
static enum rc take_slots(struct lane *lane, int want, bool *ret_more, struct err *err)
{
    struct executor *ex = lane->ex;
    struct slot_reader wanted[SLOTS_MOST];
    struct slot_wish wishes[SLOTS_MOST];
    int nos[SLOTS_MOST], got = 0;
    int count = wish_slots(&ex->readers, want < SLOTS_MOST ? want : SLOTS_MOST, wishes, wanted);
    *ret_more = false;
    if (count == 0)
        return RC_OK;
    probe("slot.take");
    enum rc rc = slot_take(ex->control.db, lane->queue.id, ex->incarnation.executor_no, wanted,
                           count, nos, &got, err);
    if (rc != RC_OK && rc != RC_NONE)
        return rc;
    probe("slot.taken");
    slots_tried(&lane->share.slots, rc == RC_OK, ex->turn.now_us);
    for (int i = 0; i < got; i++)
        reader_take_slot(wishes[i].reader, lane, nos[i], wanted[i].pid);
    *ret_more = rc == RC_OK && count == SLOTS_MOST;
    return RC_OK;
}

/* Takes slots until as many readers as the lane may use have one, or no slot is free. */
static enum rc fill_slots(struct lane *lane, struct err *err)
{
    enum rc rc = RC_OK;
    for (bool more = true; rc == RC_OK && more;) {
        int want = lane->share.may - lane->share.slots.held;
        more = want > 0 && lane->share.slots.after_us <= lane->ex->turn.now_us;
        if (more)
            rc = take_slots(lane, want, &more, err);
    }
    return rc;
}

/* A reader that changes to another run must clean its session first. So it stays with the run of
 * its last task, unless a task of another run has waited for much longer. */
static struct phase *phase_for(const struct phases *phases, const struct reader *reader, int enough)
{
    struct phase *next = next_phase(phases);
    if (next == NULL || next->run_no == reader->run_no)
        return next;
    for (struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (phase->run_no == reader->run_no && phase->open && phase->waiting.count > 0 &&
            arrival(phase) - arrival(next) < enough)
            return phase;
    return next;
}

/* The works of one assignment are linked and sent to the reader in one mail: the reader makes one
 * batch of the works that it finds together, and would make a batch of one from the first of
 * several mails. */
static void start(struct reader *reader, struct phase *phase, int64_t now_us)
{
    struct work *work = phase_start(phase);
    reader_add(reader, work, now_us);
    work->risks = judging_risks(&reader->lane->ex->judging, phase, now_us);
    work->mail = (struct mail){.kind = MAIL_WORK_DONE};
    *reader->assigned_last = &work->mail;
    reader->assigned_last = &work->mail.next;
}

/* The reader's slot is within the bounds of queue and executor, and names the session that the
 * reader has now. The row of a slot names a backend. A reader that has opened a new session runs
 * nothing on the old slot: the row would protect a backend that is gone, and another executor could
 * take the slot while a task runs (tests/e2e/lost_session.sh). */
static bool slot_holds(const struct executor *ex, const struct reader *reader)
{
    return reader->slot_no <= reader->lane->queue.max_readers &&
           reader->slot_pid == reader_pid(reader->thread) && reader_usable(&ex->readers, reader);
}

/* Readers that still run tasks from before a bound was lowered. They count as used, so that no more
 * tasks run than the bound allows. */
static int beyond_bound(const struct lane *lane)
{
    int count = 0;
    for (int i = 0; i < lane->ex->readers.count; i++) {
        const struct reader *reader = &lane->ex->readers.list[i];
        count += reader->lane == lane && reader->count > 0 && !slot_holds(lane->ex, reader);
    }
    return count;
}

/* The reader's first task has run for longer than a moment. */
static bool has_long(const struct executor *ex, const struct reader *reader)
{
    const struct assignment *first = reader->first;
    return first != NULL &&
           (first->marked ||
            (first->head_since_us != 0 && ex->turn.now_us - first->head_since_us >= MARK_AFTER_US));
}

/* Hands tasks out level by level: no reader gets a second task before each has a first one. A
 * reader is refilled when half of its tasks are done, so that it sends several tasks to the server
 * together. No task goes behind a long one. */
static void assign_tasks(struct lane *lane, int ready)
{
    struct executor *ex = lane->ex;
    int depth = lane_depth(lane), enough = lane_enough(lane), mine = beyond_bound(lane);
    for (int i = 0; i < ex->readers.count; i++) {
        struct reader *reader = &ex->readers.list[i];
        bool may = reader->lane == lane && slot_holds(ex, reader) && mine < lane->share.may;
        mine += may;
        reader->refill = may && reader->count <= depth / 2 && !has_long(ex, reader);
        reader->assigned = NULL;
        reader->assigned_last = &reader->assigned;
    }
    for (int level = 1; level <= depth && ready > 0; level++)
        for (int i = 0; i < ex->readers.limit && ready > 0; i++) {
            struct reader *reader = &ex->readers.list[i];
            if (!reader->refill || reader->count >= level)
                continue;
            struct phase *phase = phase_for(&lane->phases, reader, enough);
            ready--;
            if (phase != NULL)
                start(reader, phase, ex->turn.now_us);
        }
    for (int i = 0; i < ex->readers.count; i++)
        reader_assign(ex->readers.list[i].thread, ex->readers.list[i].assigned);
}

void assign_waiting(struct executor *ex)
{
    if (ex->drain.draining)
        return;
    share_readers(ex);
    for (int i = 0; i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        int ready = phases_startable(&lane->phases);
        if (ready > 0 && !lane->queue.foreign && !lane->phases.unjudged && !lane->phases.doubtful)
            assign_tasks(lane, ready);
    }
}

enum rc execute(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    enum rc rc = lane->phases.unjudged ? leave_unable(lane, err) : RC_OK;
    if (rc != RC_OK)
        return rc;
    int ready = phases_startable(&lane->phases);
    if (ready == 0 || ex->drain.draining) {
        slots_suffice(&lane->share.slots);
        return RC_OK;
    }
    share_readers(ex);
    rc = fill_slots(lane, err);
    if (rc == RC_OK)
        rc = judge(lane->ex, next_phase(&lane->phases), err);
    probe("execute.assign");
    assign_tasks(lane, ready);
    probe("execute.assigned");
    ready = phases_startable(&lane->phases);
    if (rc == RC_OK && ready > 0 && slots_starve(&lane->share.slots, ex->turn.now_us)) {
        int keep = lane_enough(lane) -
                   phases_running(&lane->phases); /* it would adopt these again at once */
        rc = return_waiting(lane, keep > 0 ? keep : 0, err);
    }
    if (rc == RC_OK && out_of_reach(lane)) /* readers of other executors may be free */
        rc = return_waiting(lane, 0, err);
    return rc;
}

static bool to_be_marked(const struct assignment *first)
{
    return first != NULL && !first->marked && first->head_since_us != 0;
}

/* Shows tasks that run for longer than MARK_AFTER_US as Processing, with their sessions. Short
 * tasks cost no statement here. A statement that fails is sent again later: a session that locks
 * the table, or a full disk, is no reason to end what runs. */
enum rc mark_running(struct executor *ex, struct err *err)
{
    NAMES_AUTO names = {0};
    struct assignment *shown[MARK_MOST];
    STR_AUTO ages = {0}, pids = {0};
    if (ex->turn.now_us < again_due_us(&ex->readers.marks))
        return RC_OK;
    names_start(&names);
    db_array_start(&ages);
    db_array_start(&pids);
    for (int i = 0; i < ex->readers.count && names.count < MARK_MOST; i++) {
        struct assignment *first = ex->readers.list[i].first;
        if (!to_be_marked(first) || ex->turn.now_us - first->head_since_us < MARK_AFTER_US)
            continue;
        int64_t age_us = ex->turn.now_us - first->head_since_us;
        shown[names.count] = first;
        names_add(&names, &first->work);
        db_array_int(&ages, age_us);
        db_array_int(&pids, reader_pid(ex->readers.list[i].thread));
    }
    db_array_end(&ages);
    db_array_end(&pids);
    if (names_end(&names) == 0)
        return RC_OK;
    probe("mark.send");
    if (ex->lane_count > 1)
        turn_again(&ex->turn); /* see out_of_reach */
    enum rc rc = db_run(
        ex->control.db, &sql_executor_mark_processing,
        (const char *const[]){names.ids.data, names.tokens.data, ages.data, pids.data}, NULL, err);
    if (rc == RC_LOST || rc == RC_FATAL)
        return rc;
    /* Once: the statement passes over a row that another transaction has locked, which is mostly
     * the completion of the attempt. */
    for (int i = 0; rc == RC_OK && i < names.count; i++)
        shown[i]->marked = true;
    if (again_answered(&ex->readers.marks, rc))
        log_err(LOG_WARN, "tasks_not_shown", NULL, err);
    return RC_OK;
}

/* When the time-out of a reader's task is over, or the grace after its cancelling; 0: never. */
static int64_t out_at_us(const struct assignment *first, int64_t now_us)
{
    if (first == NULL || first->work.msg->timeout_us == 0 || first->late == 2)
        return 0;
    const struct work *work = &first->work;
    /* The task shares its transaction still, so its time has not begun: checked again when it could
     * be over. */
    int64_t since_us = work->alone_since_us != 0 ? work->alone_since_us : now_us;
    return since_us + work->msg->timeout_us + (first->late == 1 ? TIMEOUT_GRACE_US : 0);
}

/* Cancels the statement of a task that has run out of its time; if the task ignores that for the
 * grace, closes its session. */
void time_out(struct readers *readers, int64_t now_us)
{
    for (int i = 0; i < readers->count; i++) {
        struct assignment *first = readers->list[i].first;
        int64_t at_us = out_at_us(first, now_us);
        if (at_us != 0 && at_us <= now_us &&
            reader_time_out(readers->list[i].thread, &first->work, first->late == 1))
            first->late++;
    }
}

/* When to look at a time-out that ends, or has ended without a statement to cancel: as much later
 * as it has ended before, at least a millisecond and at most CANCEL_AGAIN_US. The statement may be
 * about to begin, or the reader may have no session for hours. */
static int64_t again_at_us(int64_t out_us, int64_t now_us)
{
    int64_t late_us = now_us - out_us;
    if (late_us < 0)
        return out_us;
    if (late_us < 1000)
        late_us = 1000;
    return now_us + (late_us < CANCEL_AGAIN_US ? late_us : CANCEL_AGAIN_US);
}

int64_t running_due_us(const struct executor *ex)
{
    int64_t due_us = 0, marks_us = again_due_us(&ex->readers.marks);
    for (int i = 0; i < ex->readers.count; i++) {
        const struct assignment *first = ex->readers.list[i].first;
        int64_t out_us = out_at_us(first, ex->turn.now_us);
        if (out_us != 0)
            due_us = clock_earlier_us(due_us, again_at_us(out_us, ex->turn.now_us));
        if (to_be_marked(first)) {
            int64_t mark_us = first->head_since_us + MARK_AFTER_US;
            due_us = clock_earlier_us(due_us, mark_us > marks_us ? mark_us : marks_us);
        }
    }
    return due_us;
}

/* Until when an idle reader keeps its slot; 0: as long as tasks may start; -1: it returns the slot
 * now. */
static int64_t keeps_until_us(const struct executor *ex, const struct reader *reader)
{
    const struct lane *lane = reader->lane;
    if (!slot_holds(ex, reader))
        return -1;
    if (ex->line.short_handed && lane->share.slots.held > lane->share.may)
        return -1;
    if (phases_startable(&lane->phases) > 0 && !ex->drain.draining)
        return 0;
    if (slots_wanted(&lane->share.slots, ex->turn.now_us) && !phases_next_is_ours(&lane->phases))
        return -1;
    int64_t until_us = reader->idle_since_us + SLOT_KEEP_US + BARRIER_ROUNDS * ex->control.round_us;
    return until_us > ex->turn.now_us ? until_us : -1;
}

/* Returns the slots of idle readers of the lane, SLOTS_MOST at most; *ret_count: of how many. */
static enum rc return_some(struct lane *lane, bool all, int *ret_count, struct err *err)
{
    struct executor *ex = lane->ex;
    int nos[SLOTS_MOST], count = 0;
    *ret_count = 0;
    for (int i = 0; i < ex->readers.count && *ret_count < SLOTS_MOST; i++) {
        struct reader *reader = &ex->readers.list[i];
        if (reader->lane != lane || reader->count > 0)
            continue;
        int64_t until_us = all ? -1 : keeps_until_us(ex, reader);
        if (until_us >= 0) {
            readers_keep_until(&ex->readers, until_us);
            continue;
        }
        if (!lane->queue.gone) /* the slots of a deleted queue are deleted, too */
            nos[count++] = reader->slot_no;
        /* Forgotten before the statement is sent: if it fails, the incarnation ends, and its locks
         * with it. */
        reader_leave_slot(reader);
        ++*ret_count;
    }
    if (count == 0)
        return RC_OK;
    probe("slot.return");
    enum rc rc =
        slot_release(ex->control.db, lane->queue.id, ex->incarnation.executor_no, nos, count, err);
    if (rc == RC_OK && (ex->lane_count > 1 || phases_startable(&lane->phases) > 0))
        turn_again(&ex->turn); /* another lane, or another reader, may have use for them */
    return rc;
}

/* An executor without startable tasks keeps slots over a barrier only (SLOT_KEEP_US), so that other
 * executors can have them. */
enum rc slots_return(struct executor *ex, bool all, struct err *err)
{
    enum rc rc = RC_OK;
    readers_keep_none(&ex->readers);
    if (ex->lane_count > 1)
        share_readers(ex);
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++)
        for (int count = SLOTS_MOST; rc == RC_OK && count == SLOTS_MOST;)
            rc = return_some(&ex->lanes[i], all, &count, err);
    return rc;
}

int64_t slots_return_due_us(const struct executor *ex)
{
    return ex->readers.slots_due_us;
}

/* Control orders a gate to open the oldest phase that control has not seen open; the gate answers
 * which phase is open. A gate is asked only when the release of S (release.c) could not open the
 * next phase. The first half of the file is the thread of a gate, the second one control's side.
 * A wait for IX happens inside the server, so each waiting run has a session and a thread of its
 * own. The wait has slices, because a waiting statement holds the vacuum horizon back.
 * lockstep.gate decides: tests/sql/gate.sql, tests/model/phases.pml. rest.c: when a gate asks
 * again. openings.c: the log. */
#include "executor/gate.h"

#include "executor/event.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/letters.h"
#include "executor/locks.h"
#include "executor/measure.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/rest.h"
#include "executor/server.h"
#include "executor/sessions.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/probe.h"
#include "base/thread.h"
#include "db/canceller.h"
#include "db/db.h"
#include "db/sqlstate.h"
#include "phaselock/phaselock.h"

#include <stdlib.h>

#define LOCKED_MS 1000 /* after another session held a row for longer than the time-out */
#define AFTER_MS  5    /* the readers come first; an order of control ends this wait early */
#define RECORD_US (AFTER_MS * 1000)

enum gate_mail { GATE_WANT, GATE_RELEASE, GATE_RECORD, GATE_WAKE };

struct gate_order {
    struct mail mail;
    int64_t phase_id; /* WANT: 0 = nothing; RELEASE: whose IX is released */
};

enum gate_verdict {
    VERDICT_OPEN,
    VERDICT_OPEN_OUTBOX,
    VERDICT_GONE,
    VERDICT_ORPHANS,
    VERDICT_REFUSED, /* the gate's session is well, and the gate has no order any more */
    VERDICT_FAILED
};

struct gate_answer {
    struct mail mail;
    struct gate *gate;
    enum gate_verdict verdict;
    int64_t phase_id, previous_phase_id, definitions;
    bool conditional; /* some tasks of the phase that is open may be cancelled */
    struct err err;
};

struct gate {
    struct gate *next; /* control's list */
    struct lane *lane;
    struct thread thread;
    struct db *db;                          /* thread */
    struct db_canceller *_Atomic canceller; /* NULL until the thread has its session */
    int64_t asked_run, asked_phase;         /* control: the last order */
    const struct executor *ex;              /* thread: reads only fields that never change */
    struct mailbox *control;
    int64_t phase_id;           /* thread: the phase to open, 0: none */
    struct rest rest;           /* thread */
    struct intents intents;     /* thread */
    struct openings unrecorded; /* thread */
    bool noted;                 /* thread: the session is one of the executor's */
    bool stopping;
};

static void send_order(struct gate *gate, enum gate_mail kind, int64_t phase_id)
{
    struct gate_order *order = xcalloc(1, sizeof *order);
    *order = (struct gate_order){.mail.kind = (int)kind, .phase_id = phase_id};
    thread_send(&gate->thread, &order->mail);
}

static void answer(struct gate *gate, struct gate_answer reply)
{
    struct gate_answer *mail = xcalloc(1, sizeof *mail);
    *mail = reply;
    mail->mail.kind = MAIL_GATE;
    mail->gate = gate;
    mailbox_put(gate->control, &mail->mail);
}

/* Does the orders of control in their order: a release of IX is not left behind a wait. */
static enum rc take_orders(struct gate *gate, struct err *err)
{
    enum rc rc = RC_OK;
    for (struct mail *mail = thread_take(&gate->thread, &gate->stopping), *next; mail != NULL;
         mail = next) {
        const struct gate_order *order = (struct gate_order *)mail; /* RECORD: openings_mail */
        next = mail->next;
        switch ((enum gate_mail)mail->kind) {
        case GATE_WANT:
            gate->phase_id = order->phase_id;
            break;
        case GATE_RELEASE:
            if (rc == RC_OK)
                rc = phaselock_release_intent(gate->db, order->phase_id, err);
            intents_remove(&gate->intents, order->phase_id);
            break;
        case GATE_RECORD:
            openings_join(&gate->unrecorded, mail);
            break;
        case GATE_WAKE:
            break;
        }
        free(mail);
    }
    return rc;
}

/* Two statements open phases, gate and release: each names its phase in these columns. */
struct opened_columns {
    int phase_id, previous_phase_id, definitions, conditional, events_wait;
};
static const struct opened_columns of_gate = {EXECUTOR_GATE_PHASE_ID,
                                              EXECUTOR_GATE_PREVIOUS_PHASE_ID,
                                              EXECUTOR_GATE_DEFINITIONS, EXECUTOR_GATE_CONDITIONAL,
                                              EXECUTOR_GATE_EVENTS_WAIT},
                                   of_release = {EXECUTOR_RELEASE_PHASE_ID,
                                                 EXECUTOR_RELEASE_PREVIOUS_PHASE_ID,
                                                 EXECUTOR_RELEASE_DEFINITIONS,
                                                 EXECUTOR_RELEASE_CONDITIONAL,
                                                 EXECUTOR_RELEASE_EVENTS_WAIT};

static struct gate_answer opened_answer(const struct db_result *row,
                                        const struct opened_columns *of)
{
    return (struct gate_answer){.verdict = db_bool(row, 0, of->events_wait) ? VERDICT_OPEN_OUTBOX
                                                                            : VERDICT_OPEN,
                                .phase_id = db_int(row, 0, of->phase_id),
                                .previous_phase_id = db_int(row, 0, of->previous_phase_id),
                                .definitions = db_int(row, 0, of->definitions),
                                .conditional = db_bool(row, 0, of->conditional)};
}

/* Answers control after a verdict. */
static void follow(struct gate *gate, const struct db_result *row)
{
    int64_t phase_id = db_int(row, 0, EXECUTOR_GATE_PHASE_ID);
    switch (db_word(row, 0, EXECUTOR_GATE_VERDICT)) {
    case EXECUTOR_GATE_IS_OPENED:
    case EXECUTOR_GATE_IS_OPEN:
        if (!db_null(row, 0, EXECUTOR_GATE_PREVIOUS_PHASE_ID))
            intents_add(&gate->intents, db_int(row, 0, EXECUTOR_GATE_PREVIOUS_PHASE_ID));
        answer(gate, opened_answer(row, &of_gate));
        break;
    case EXECUTOR_GATE_IS_GONE:
        answer(gate, (struct gate_answer){.verdict = VERDICT_GONE, .phase_id = phase_id});
        break;
    case EXECUTOR_GATE_IS_ORPHANS:
        answer(gate, (struct gate_answer){.verdict = VERDICT_ORPHANS, .phase_id = phase_id});
        return;
    default:
        return;
    }
    if (phase_id == gate->phase_id)
        gate->phase_id = 0;
}

/* Noted before it takes a lock: others find it there, and end it, when this executor is lost. */
static enum rc open_session(struct gate *gate, struct err *err)
{
    const struct executor *ex = gate->ex;
    probe("gate.open");
    if (gate->db == NULL) {
        enum rc opened = db_open_on(ex->options->conninfo, DB_GATE, db_server(ex->control.db),
                                    DB_SAME, &gate->db, err);
        if (opened != RC_OK)
            return opened;
        db_patience(gate->db, ex->control.patience_ms);
        gate->canceller = db_canceller_new(gate->db);
    }
    enum rc rc = db_canceller_whole(gate->canceller, err);
    rc = rc == RC_OK ? server_lock_timeout(gate->db, ex->control.patience_ms, err) : rc;
    if (rc == RC_OK)
        rc = session_note(gate->db, ex->incarnation.executor_no, "gate", err);
    gate->noted = rc == RC_OK;
    return rc;
}

/* Another session holds a row, or the server lacks disk space or connections: nothing was changed,
 * so the gate asks the same again. After a refused commit the session has kept IX. */
static enum rc put_off(struct gate *gate, struct err *err)
{
    log_err(LOG_WARN, "gate_waits", gate->lane->queue.name, err);
    enum rc rc = gate->db != NULL ? intents_settle(&gate->intents, gate->db, err) : RC_OK;
    if (rc == RC_OK)
        mailbox_wait(&gate->thread.inbox, LOCKED_MS);
    return rc;
}

/* RC_OK: the gate continues. A statement that the server refuses is the trouble of its queue alone:
 * control sets the queue aside, and orders the phase again later. */
static enum rc survive(struct gate *gate, enum rc rc, struct err *err)
{
    if (lane_put_off(rc, err))
        return put_off(gate, err);
    if (rc != RC_REJECT || !gate->noted)
        return rc;
    const struct err why = *err;
    rc = intents_settle(&gate->intents, gate->db, err);
    if (rc == RC_OK)
        answer(gate, (struct gate_answer){
                         .verdict = VERDICT_REFUSED, .phase_id = gate->phase_id, .err = why});
    gate->phase_id = 0;
    return rc;
}

/* Without a session a gate holds no lock, so it may wait for one as long as it takes. */
static enum rc prepare(struct gate *gate, struct err *err)
{
    enum rc rc = gate->noted ? RC_OK : open_session(gate, err);
    if (gate->db == NULL && sqlstate_is(err, SQLSTATE_TOO_MANY_CONNECTIONS))
        return put_off(gate, err);
    if (rc == RC_OK)
        rc = openings_flush(&gate->unrecorded, gate->db, gate->ex->incarnation.executor_no, err);
    return survive(gate, rc, err);
}

static void *gate_main(void *context)
{
    struct gate *gate = context;
    struct err err = {0};
    enum rc rc = RC_OK;
    while (rc == RC_OK) {
        rc = take_orders(gate, &err);
        if (rc == RC_OK && (gate->db != NULL || !gate->stopping))
            rc = prepare(gate, &err);
        if (gate->stopping || rc != RC_OK)
            break;
        if (!gate->noted) /* put_off has waited */
            continue;
        if (gate->phase_id == 0) {
            mailbox_wait(&gate->thread.inbox, gate->unrecorded.count > 0 ? LOCKED_MS : -1);
            continue;
        }
        DB_RESULT_AUTO *row = NULL;
        probe("gate.wait");
        int64_t from_us = clock_boot_us();
        rc = db_run(gate->db, &sql_executor_gate,
                    (const char *const[]){DB_INT(gate->phase_id), DB_INT(PHASELOCK_SLICE_MS)}, &row,
                    &err);
        probe("gate.answered");
        if (rc != RC_OK) {
            rc = survive(gate, rc, &err);
            continue;
        }
        int sleep_ms = rest_ms(&gate->rest, row, clock_boot_us() - from_us);
        follow(gate, row);
        /* The answer has reached control already. The log comes behind the start of the tasks. */
        if (db_word(row, 0, EXECUTOR_GATE_VERDICT) == EXECUTOR_GATE_IS_OPENED) {
            mailbox_wait(&gate->thread.inbox, AFTER_MS);
            openings_add(&gate->unrecorded, db_int(row, 0, EXECUTOR_GATE_PHASE_ID), from_us);
        }
        if (sleep_ms > 0)
            mailbox_wait(&gate->thread.inbox, sleep_ms);
    }
    if (!gate->stopping)
        answer(gate, (struct gate_answer){.verdict = VERDICT_FAILED, .err = err});
    return NULL;
}

static void gate_free(struct gate *gate)
{
    db_canceller_free(gate->canceller);
    db_close(gate->db);
    intents_done(&gate->intents);
    openings_done(&gate->unrecorded);
    free(gate);
}

static enum rc gate_start(struct lane *lane, struct gate **ret_gate, struct err *err)
{
    struct gate *gate = xcalloc(1, sizeof *gate);
    gate->lane = lane;
    gate->ex = lane->ex;
    gate->control = &lane->ex->inbox;
    enum rc rc = thread_start(&gate->thread, "gate", gate_main, gate, err);
    if (rc != RC_OK) {
        gate_free(gate);
        return rc;
    }
    gate->next = lane->gates.first;
    lane->gates.first = gate;
    *ret_gate = gate;
    return RC_OK;
}

/* clean: the sessions still answer, so waits are cancelled; otherwise connections are severed. */
void gates_stop(struct lane *lane, bool clean)
{
    while (lane->gates.first != NULL) {
        struct gate *gate = lane->gates.first;
        lane->gates.first = gate->next;
        thread_ask_stop(&gate->thread);
        /* A cancel between two statements has no effect; so the thread is asked first. */
        if (!clean)
            db_sever(gate->canceller);
        else if (gate->asked_phase != 0)
            db_cancel(gate->canceller);
        thread_join(&gate->thread);
        gate_free(gate);
    }
    openings_done(&lane->gates.openings);
}

void gates_wake(struct lane *lane)
{
    for (struct gate *gate = lane->gates.first; gate != NULL; gate = gate->next)
        if (gate->asked_phase != 0)
            send_order(gate, GATE_WAKE, 0);
}

void gate_release(struct phase *phase)
{
    if (phase->gate != NULL && phase->previous_phase_id != 0)
        send_order(phase->gate, GATE_RELEASE, phase->previous_phase_id);
    phase->gate = NULL;
    phase->previous_phase_id = 0;
}

/* The gate that works for the run, else a gate that has nothing to open, else NULL. */
static struct gate *gate_for(struct gate *gates, int64_t run_no)
{
    struct gate *idle = NULL;
    for (struct gate *gate = gates; gate != NULL; gate = gate->next) {
        if (gate->asked_run == run_no && gate->asked_phase != 0)
            return gate;
        if (gate->asked_phase == 0)
            idle = gate;
    }
    return idle;
}

/* Orders a gate of the run to open the phase, unless that is its last order already. */
static enum rc ask(struct lane *lane, int64_t run_no, int64_t phase_id, struct err *err)
{
    struct gate *gate = gate_for(lane->gates.first, run_no);
    enum rc rc = gate != NULL ? RC_OK : gate_start(lane, &gate, err);
    if (rc != RC_OK || gate == NULL || (gate->asked_run == run_no && gate->asked_phase == phase_id))
        return rc;
    gate->asked_run = run_no;
    gate->asked_phase = phase_id;
    send_order(gate, GATE_WANT, phase_id);
    return RC_OK;
}

/* The oldest phase of the run that this executor has not seen open, but for one phase (NULL: none).
 * NULL when this executor has S of a phase before it: then release opens it. A gate that asked all
 * the same would wait behind the S of its own executor. */
static struct phase *next_closed(const struct phases *phases, int64_t run_no,
                                 const struct phase *but)
{
    for (struct phase *phase = phases->first; phase != NULL; phase = phase->next) {
        if (phase->run_no != run_no || phase == but)
            continue;
        if (phase_gates(phase))
            return phase;
        if (phase->shared)
            return NULL;
    }
    return NULL;
}

struct phase *gate_behind(const struct lane *lane, const struct phase *phase)
{
    const struct gate *gate = gate_for(lane->gates.first, phase->run_no);
    return gate != NULL && gate->asked_phase != 0
               ? NULL
               : next_closed(&lane->phases, phase->run_no, phase);
}

enum rc gate(struct lane *lane, struct err *err)
{
    enum rc rc = RC_OK;
    struct gate *first;
    if (lane->gates.first == NULL &&
        lane->phases.first != NULL) /* now: later a barrier would wait for its session */
        rc = gate_start(lane, &first, err);
    for (struct phase *phase = lane->phases.first; rc == RC_OK && phase != NULL;
         phase = phase->next)
        if (phase_gates(phase) && next_closed(&lane->phases, phase->run_no, NULL) == phase)
            rc = ask(lane, phase->run_no, phase->phase_id, err);
    return rc;
}

/* A phase is open, by whichever executor: its tasks in hand may start. */
static void seen_open(struct lane *lane, struct phase *phase, const struct gate_answer *reply)
{
    if (reply->verdict == VERDICT_OPEN_OUTBOX) /* events of it are in the outbox */
        letters_wake(lane, RELAY_NEWS);
    probe("gate.seen");
    event_raise(lane, EVENT_PHASE_OPENED);
    if (phase != NULL && (phase->passed_over > 0 || phase->unowned))
        event_raise(lane, EVENT_PASSED_OVER_OPENED);
    if (reply->conditional)
        event_raise(lane, EVENT_TASKS_DOUBTED);
    if (phase != NULL)
        phase_open(phase, reply->definitions, lane->ex->turn.now_us);
}

/* release has opened the next phase, or found it open, in its own round trip: no gate was needed. A
 * second IX is released at once: locks stack. */
enum rc gate_passed(struct lane *lane, const struct db_result *row, struct err *err)
{
    int verdict = db_word(row, 0, EXECUTOR_RELEASE_VERDICT);
    bool opened = verdict == EXECUTOR_RELEASE_IS_OPENED;
    if (!opened && verdict != EXECUTOR_RELEASE_IS_OPEN)
        return RC_OK;
    struct gate_answer reply = opened_answer(row, &of_release);
    struct phase *phase = phases_find(&lane->phases, reply.phase_id);
    seen_open(lane, phase, &reply);
    if (opened)
        openings_add(&lane->gates.openings, reply.phase_id, lane->ex->turn.now_us);
    if (phase != NULL && phase->previous_phase_id == 0)
        phase->previous_phase_id = reply.previous_phase_id;
    else if (reply.previous_phase_id != 0)
        return phaselock_release_intent(lane->ex->control.db, reply.previous_phase_id, err);
    return RC_OK;
}

/* The openings are due at once when the tasks are long, or when there are enough openings. */
static int64_t record_at_us(const struct lane *lane)
{
    bool now = openings_enough(&lane->gates.openings) || lane_depth(lane) == 1;
    return lane->gates.openings.since_us + (now ? 0 : RECORD_US);
}

enum rc gate_record(struct lane *lane, struct err *err)
{
    struct openings *openings = &lane->gates.openings;
    if (openings->count == 0 || lane->ex->turn.now_us < record_at_us(lane))
        return RC_OK;
    struct gate *gate = gate_for(lane->gates.first, 0);
    if (gate == NULL || gate->canceller == NULL) /* it may be without a session for long */
        return openings_flush(openings, lane->ex->control.db, lane->ex->incarnation.executor_no,
                              err);
    thread_send(&gate->thread, openings_mail(openings, GATE_RECORD));
    return RC_OK;
}

int64_t gate_record_due_us(const struct lane *lane)
{
    return lane->gates.openings.count > 0 ? record_at_us(lane) : 0;
}

enum rc gate_report(struct mail *mail, struct lane **ret_lane, struct err *err)
{
    struct gate_answer *reply = (struct gate_answer *)mail;
    struct gate *gate = reply->gate;
    struct lane *lane = gate->lane;
    struct phase *phase = phases_find(&lane->phases, reply->phase_id);
    enum rc rc = RC_OK;
    switch (reply->verdict) {
    case VERDICT_OPEN_OUTBOX:
    case VERDICT_OPEN:
        seen_open(lane, phase, reply);
        if (phase != NULL && phase->gate == NULL && phase->previous_phase_id == 0) {
            phase->gate = gate;
            phase->previous_phase_id = reply->previous_phase_id;
        } else if (reply->previous_phase_id != 0) { /* no task of it here, or IX held */
            send_order(gate, GATE_RELEASE, reply->previous_phase_id);
        }
        break;
    case VERDICT_GONE:
        event_raise(lane, EVENT_PHASE_GONE);
        if (phase != NULL)
            phase_forget_waiting(phase);
        break;
    case VERDICT_ORPHANS:
        event_raise(lane, EVENT_WORK_UNOWNED);
        break;
    case VERDICT_REFUSED:
    case VERDICT_FAILED:
        *err = reply->err;
        if (!lane->queue.gone)
            rc = reply->verdict == VERDICT_FAILED ? RC_LOST : RC_REJECT;
        break;
    }
    if (reply->verdict != VERDICT_ORPHANS && gate->asked_phase == reply->phase_id)
        gate->asked_phase = 0;
    *ret_lane = lane;
    free(reply);
    return rc;
}

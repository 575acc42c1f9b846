/* recover: adoption of tasks that no executor owns: an executor returned them, they are due for
 * another attempt, or their executor is dead. recover() at the end of the file is the story;
 * orphans.h decides when to ask.
 *
 * The answer is final when it comes: lockstep.adopt has written the new token and the new owner, so
 * the attempt of the old owner can no longer commit (tests/e2e/token.sh). Its sessions are ended
 * all the same (lockstep.sessions_left), because an attempt without a transaction does not ask for
 * a token, and because row locks of the old attempt would stop the new one. */
#include "executor/recover.h"

#include "executor/able.h"
#include "executor/assignment.h"
#include "executor/claim.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/measure.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/share.h"
#include "executor/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "db/parameter.h"
#include "reader/reader.h"
#include "reader/work.h"
#include "task/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The message parsed when it was claimed, so another version of Lockstep wrote it. The task is left
 * to that version, just as a task whose command this executor does not know. */
static enum rc leave_unreadable(struct lane *lane, struct work *work, struct err *err)
{
    NEEDS_AUTO needs = {0};
    needs_start(&needs);
    needs_add(&needs, work, "version:another", false);
    struct works works = {0};
    works_add(&works, work);
    return needs_send(lane, &needs, &works, err);
}

static enum rc add_adopted(struct lane *lane, const struct db_result *rows, int i, struct err *err)
{
    struct phase *phase =
        phases_get(&lane->phases, db_int(rows, i, EXECUTOR_ADOPT_PHASE_ID),
                   db_int(rows, i, EXECUTOR_ADOPT_RUN_NO), db_int(rows, i, EXECUTOR_ADOPT_ORDER));
    struct message *msg = NULL;
    struct err why;
    enum rc rc = message_parse(db_text(rows, i, EXECUTOR_ADOPT_PAYLOAD),
                               (size_t)db_length(rows, i, EXECUTOR_ADOPT_PAYLOAD), MESSAGE_RECORD,
                               &msg, &why);
    struct work *work = assignment_new(
        lane, phase,
        &(struct work_row){.phase_id = phase->phase_id,
                           .task_id = db_int(rows, i, EXECUTOR_ADOPT_TASK_ID),
                           .run_no = phase->run_no,
                           .offset = db_int(rows, i, EXECUTOR_ADOPT_KAFKA_OFFSET),
                           .token = db_text(rows, i, EXECUTOR_ADOPT_TOKEN),
                           .attempt = (int)db_int(rows, i, EXECUTOR_ADOPT_ATTEMPT_NUM),
                           .wary = db_bool(rows, i, EXECUTOR_ADOPT_DOUBTED),
                           .msg = rc == RC_OK ? msg : NULL});
    phase_seen(&lane->phases, phase, db_bool(rows, i, EXECUTOR_ADOPT_IS_OPEN),
               db_int(rows, i, EXECUTOR_ADOPT_DEFINITIONS_CHANGES), lane->ex->turn.now_us);
    phase_share(phase, phase->shared || db_bool(rows, i, EXECUTOR_ADOPT_TOOK_SHARED));
    if (rc != RC_OK) {
        log_err(LOG_ERROR, "task_unreadable", lane->queue.name, &why);
        return leave_unreadable(lane, work, err);
    }
    phases_add(&lane->phases, phase, work, lane->ex->turn.now_us);
    return RC_OK;
}

/* How many tasks may be adopted now. Room is measured as for a claim, and adoption takes turns with
 * claims; otherwise claims would fill the room each time and orphans would wait for ever. */
struct room {
    int have, left, worth;
};

static struct room measure(const struct lane *lane)
{
    int have = phases_startable(&lane->phases) + phases_running(&lane->phases);
    return (struct room){.have = have, .left = lane_enough(lane) - have, .worth = lane_worth(lane)};
}

/* At least as much as is worth a round trip, at most the room; a whole lane is not adopted at once,
 * because other executors may have found the same death. */
static int most(const struct lane *lane, const struct room *room)
{
    int at_once = lane_readers(lane) * lane_depth(lane);
    int most = at_once > room->worth ? at_once : room->worth;
    return room->left < 0 ? 0 : room->left < most ? room->left : most;
}

/* shared: phases of which control has S. enough: closed phases of which this executor has tasks in
 * hand; their orphans are passed over, because they could not start now. */
static void name_phases(struct lane *lane, struct str *shared, struct str *enough)
{
    bool changed = lane->orphans.state == ORPHANS_ADOPT;
    db_array_start(shared);
    db_array_start(enough);
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next) {
        bool closed = phase_gates(phase);
        if (phase->shared)
            db_array_int(shared, phase->phase_id);
        if (closed)
            db_array_int(enough, phase->phase_id);
        if (closed && changed) /* one more: it may be open already, and the answer under way */
            phase_pass_over(phase, lane->queue.lookahead + 1);
    }
    db_array_end(shared);
    db_array_end(enough);
}

/* give_up first: it ends tasks that no attempt may follow (an operator's cancel, too many lost
 * attempts), and adopt would take them otherwise. */
static enum rc ask(struct lane *lane, const struct room *room, struct db_result **ret_rows,
                   struct err *err)
{
    struct executor *ex = lane->ex;
    STR_AUTO shared = {0}, enough = {0};
    enum rc rc = db_run(ex->control.db, &sql_executor_give_up,
                        (const char *const[]){DB_INT(lane->queue.id)}, NULL, err);
    if (rc != RC_OK)
        return rc;
    name_phases(lane, &shared, &enough);
    probe("adopt.send");
    int64_t from_us = clock_boot_us();
    rc = db_run(ex->control.db, &sql_executor_adopt,
                (const char *const[]){DB_INT(lane->queue.id), DB_INT(ex->incarnation.executor_no),
                                      DB_INT(most(lane, room)), shared.data, enough.data},
                ret_rows, err);
    if (rc != RC_OK)
        return rc;
    const struct db_result *rows = *ret_rows;
    int64_t took_us = clock_boot_us() - from_us, next_us = 0;
    int verdict = db_word(rows, 0, EXECUTOR_ADOPT_VERDICT);
    bool none = verdict == EXECUTOR_ADOPT_IS_NONE;
    if (none && !db_null(rows, 0, EXECUTOR_ADOPT_WAIT_MS))
        next_us = ex->turn.now_us + db_int(rows, 0, EXECUTOR_ADOPT_WAIT_MS) * 1000;
    probe("adopt.answered");
    orphans_answered(&lane->orphans,
                     verdict == EXECUTOR_ADOPT_IS_BUSY           ? ORPHANS_BUSY
                     : !none                                     ? ORPHANS_SOME
                     : db_null(rows, 0, EXECUTOR_ADOPT_PHASE_ID) ? ORPHANS_NONE
                                                                 : ORPHANS_PHASE,
                     ex->turn.now_us, took_us, next_us, room->left > 0);
    return RC_OK;
}

/* A phase of which no executor owns a task, and that no executor opens: this one opens it. */
static void take_phase(struct lane *lane, const struct db_result *row)
{
    struct phase *phase =
        phases_get(&lane->phases, db_int(row, 0, EXECUTOR_ADOPT_PHASE_ID),
                   db_int(row, 0, EXECUTOR_ADOPT_RUN_NO), db_int(row, 0, EXECUTOR_ADOPT_ORDER));
    phase_seen(&lane->phases, phase, false, 0, lane->ex->turn.now_us);
    phase_unowned(phase, true);
}

static enum rc take_tasks(struct lane *lane, const struct db_result *rows, struct err *err)
{
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++)
        rc = add_adopted(lane, rows, i, err);
    probe("adopt.taken");
    log_event(LOG_INFO, "tasks_adopted", "queue", lane->queue.name, "phase",
              db_text(rows, 0, EXECUTOR_ADOPT_PHASE_ID), "tasks", LOG_INT(db_rows(rows)), NULL);
    return rc;
}

/* Without a free reader no task is adopted. External tasks need no reader: the database is asked
 * for them all the same, because their leases end and their phases must be opened. */
enum rc recover(struct lane *lane, struct err *err)
{
    struct orphans *orphans = &lane->orphans;
    DB_RESULT_AUTO *rows = NULL;
    const struct room room = measure(lane);
    if (!orphans_due(orphans, lane->ex->turn.now_us, room.left >= room.worth, room.have > 0) ||
        lane->ex->drain.draining)
        return RC_OK;
    if (orphans_claims_first(orphans) && claim_waits(lane)) {
        orphans_claimed(orphans);
        turn_again(&lane->ex->turn); /* and then it is our turn */
        return RC_OK;
    }
    orphans_asked(orphans, lane->ex->turn.now_us);
    enum rc rc = ask(lane, &room, &rows, err);
    if (rc != RC_OK)
        return rc;
    switch (db_word(rows, 0, EXECUTOR_ADOPT_VERDICT)) {
    case EXECUTOR_ADOPT_IS_BUSY:
        return RC_OK;
    case EXECUTOR_ADOPT_IS_NONE:
        if (!db_null(rows, 0, EXECUTOR_ADOPT_PHASE_ID))
            take_phase(lane, rows);
        return RC_OK;
    default:
        return take_tasks(lane, rows, err);
    }
}

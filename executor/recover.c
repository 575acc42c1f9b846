/* recover: work that nobody owns: given back, due for another attempt, or of an executor that died.
 */
#include "executor/lane.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "reader/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_AGAIN_US (2 * 1000)
#define GLANCE_US     (5 * 1000 * 1000)
/* While there is work, after a look that found nothing: so many times as long as it took, for it may have read all of a phase; at most
 * so long, for it may also have waited. */
#define PAUSE         20
#define PAUSE_LAST_US (500 * 1000)
/* After a refused claim; twice as long each time that nothing is found, up to the second. */
#define LOOK_US      (100 * 1000)
#define LOOK_LAST_US GLANCE_US

/* It parsed when it was claimed, so this is another version's message: it is left to that version, as what needs a command that this
 * executor does not know. */
static enum rc leave_unreadable(struct lane *lane, struct work *work, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    static const char NEED[] = "version:another";
    struct str *s = lane->ex->scratch;
    enum { IDS, TOKENS, NEEDS, LACKS };
    for (int i = IDS; i <= LACKS; i++)
        db_array_start(&s[i]);
    db_array_int(&s[IDS], work->task_id);
    db_array_text(&s[TOKENS], work->token, strlen(work->token));
    db_array_text(&s[NEEDS], NEED, strlen(NEED));
    db_array_text(&s[LACKS], "t", 1);
    for (int i = IDS; i <= LACKS; i++)
        db_array_end(&s[i]);
    enum rc rc =
        db_run(lane->ex->control, &sql_executor_leave,
               (const char *const[]){DB_INT(lane->queue_id), DB_INT(lane->ex->executor_no),
                                     s[IDS].data, s[TOKENS].data, s[NEEDS].data, s[LACKS].data},
               &row, err);
    work->outcome = OUTCOME_UNSTARTED;
    return late_settle(lane, work, rc == RC_OK ? db_int(row, 0, EXECUTOR_LEAVE_LEFT) : 0, rc, err);
}

static enum rc add_adopted(struct lane *lane, const struct db_result *rows, int i, struct err *err)
{
    struct phase *phase =
        phase_get(lane, db_int(rows, i, EXECUTOR_ADOPT_PHASE_ID),
                  db_int(rows, i, EXECUTOR_ADOPT_RUN_NO), db_int(rows, i, EXECUTOR_ADOPT_ORDER));
    struct work *work = xcalloc(1, sizeof *work);
    struct err why;
    work->lane = lane;
    work->task_id = db_int(rows, i, EXECUTOR_ADOPT_TASK_ID);
    work->run_no = phase->run_no;
    (void)snprintf(work->token, sizeof work->token, "%s", db_text(rows, i, EXECUTOR_ADOPT_TOKEN));
    work->attempt = (int)db_int(rows, i, EXECUTOR_ADOPT_ATTEMPT_NUM);
    work->offset = db_int(rows, i, EXECUTOR_ADOPT_KAFKA_OFFSET);
    work->wary = db_bool(rows, i, EXECUTOR_ADOPT_DOUBTED);
    phase_seen(lane, phase, db_bool(rows, i, EXECUTOR_ADOPT_IS_OPEN),
               db_int(rows, i, EXECUTOR_ADOPT_DEFINITIONS_CHANGES));
    phase->shared = phase->shared || db_bool(rows, i, EXECUTOR_ADOPT_TOOK_SHARED);
    if (message_parse(db_text(rows, i, EXECUTOR_ADOPT_PAYLOAD),
                      (size_t)db_length(rows, i, EXECUTOR_ADOPT_PAYLOAD), MESSAGE_RECORD,
                      &work->msg, &why) != RC_OK) {
        log_err(LOG_ERROR, "task_unreadable", lane->name, &why);
        work->phase = phase;
        return leave_unreadable(lane, work, err);
    }
    phase_add(phase, work);
    return RC_OK;
}

static void session_add(struct str *s, int pid, const char *start, const char *kind)
{
    db_array_int(&s[0], pid);
    db_array_text(&s[1], start, strlen(start));
    db_array_text(&s[2], kind, strlen(kind));
}

static enum rc sessions_write(struct db *db, int executor_no, struct str *s, struct err *err)
{
    for (int i = 0; i < 3; i++)
        db_array_end(&s[i]);
    return db_run(db, &sql_executor_sessions,
                  (const char *const[]){DB_INT(executor_no), s[0].data, s[1].data, s[2].data}, NULL,
                  err);
}

enum rc session_note(struct db *db, int executor_no, const char *kind, struct err *err)
{
    struct str s[3] = {0};
    for (int i = 0; i < 3; i++)
        db_array_start(&s[i]);
    session_add(s, db_backend_pid(db), db_backend_start(db), kind);
    enum rc rc = sessions_write(db, executor_no, s, err);
    for (int i = 0; i < 3; i++)
        str_done(&s[i]);
    return rc;
}

void recover_later(struct lane *lane)
{
    if (lane->look_us == 0)
        lane->look_us = LOOK_US;
    if (lane->look_at_us == 0)
        lane->look_at_us = lane->ex->now_us + lane->look_us;
}

enum rc recover(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    if (lane->adopt_at_us != 0 && lane->adopt_at_us <= ex->now_us) {
        lane->adopt = true;
        lane->adopt_at_us = lane->glance_after_us = 0;
    }
    bool asked = lane->look_at_us != 0 && lane->look_at_us <= ex->now_us;
    if (asked) {
        lane->look = true;
        lane->look_at_us = lane->glance_after_us = 0;
    }
    bool only_look = !lane->adopt;
    /* Without a free reader nothing is adopted, but external tasks need none: their leases, and who opens their phase. Room is measured
     * as for a claim, with which this takes turns: else there would never be any. */
    int have = startable(lane) + started(lane), room = lane_enough(lane) - have;
    int worth = lane_worth(lane), at_once = lane_readers(lane) * lane_depth(lane);
    int most = at_once > worth ? at_once : worth;
    if ((!lane->adopt && !lane->look) || ex->draining ||
        (room < worth && ex->now_us < lane->glance_after_us) ||
        (have > 0 && ex->now_us < lane->recover_after_us))
        return RC_OK;
    if (lane->claims_turn && claim_waits(lane)) {
        lane->claims_turn = false;
        ex->news = true; /* and then it is our turn */
        return RC_OK;
    }
    lane->glance_after_us = ex->now_us + GLANCE_US;
    enum rc rc = db_run(ex->control, &sql_executor_give_up,
                        (const char *const[]){DB_INT(lane->queue_id)}, NULL, err);
    if (rc != RC_OK)
        return rc;
    struct str *held = &ex->scratch[0], *enough = &ex->scratch[1];
    db_array_start(held);
    db_array_start(enough);
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next) {
        bool closed = phase_gates(phase);
        if (phase->shared)
            db_array_int(held, phase->phase_id);
        if (closed)
            db_array_int(enough, phase->phase_id);
        if (closed && !only_look) /* one more: it may be open, and we have not heard of it */
            phase->looks = lane->lookahead + 1;
    }
    db_array_end(held);
    db_array_end(enough);
    DB_RESULT_AUTO *rows = NULL;
    probe("adopt.send");
    int64_t from_us = clock_boot_us();
    rc = db_run(ex->control, &sql_executor_adopt,
                (const char *const[]){DB_INT(lane->queue_id), DB_INT(ex->executor_no),
                                      DB_INT(room < 0      ? 0
                                             : room < most ? room
                                                           : most),
                                      held->data, enough->data},
                &rows, err);
    if (rc != RC_OK)
        return rc;
    int64_t done_us = clock_boot_us(), pause_us = PAUSE * (done_us - from_us);
    lane->adopt_at_us = lane->look_at_us = 0;
    lane->adopt = lane->look = false;
    probe("adopt.answered");
    int verdict = db_word(rows, 0, EXECUTOR_ADOPT_VERDICT);
    if (verdict == EXECUTOR_ADOPT_IS_BUSY) {
        lane->adopt_at_us = ex->now_us + BUSY_AGAIN_US;
    } else if (verdict == EXECUTOR_ADOPT_IS_NONE) {
        lane->claims_turn = false;
        lane->recover_after_us = done_us + (pause_us < PAUSE_LAST_US ? pause_us : PAUSE_LAST_US);
        if (asked)
            lane->look_us = lane->look_us * 2 < LOOK_LAST_US ? lane->look_us * 2 : LOOK_LAST_US;
        if (!db_null(rows, 0, EXECUTOR_ADOPT_WAIT_MS))
            lane->adopt_at_us = ex->now_us + db_int(rows, 0, EXECUTOR_ADOPT_WAIT_MS) * 1000;
        if (!db_null(rows, 0, EXECUTOR_ADOPT_PHASE_ID)) {
            struct phase *phase = phase_get(lane, db_int(rows, 0, EXECUTOR_ADOPT_PHASE_ID),
                                            db_int(rows, 0, EXECUTOR_ADOPT_RUN_NO),
                                            db_int(rows, 0, EXECUTOR_ADOPT_ORDER));
            phase_seen(lane, phase, false, 0);
            phase->nobodys = true;
            lane->look_us = 0;
            lane->look_at_us = ex->now_us + BUSY_AGAIN_US; /* whether there is another one */
        }
    } else {
        for (int i = 0; rc == RC_OK && i < db_rows(rows); i++)
            rc = add_adopted(lane, rows, i, err);
        lane->look_us = 0;
        probe("adopt.taken");
        lane->adopt = lane->claims_turn = true; /* until there is none left */
        log_event(LOG_INFO, "tasks_adopted", "queue", lane->name, "phase",
                  db_text(rows, 0, EXECUTOR_ADOPT_PHASE_ID), "tasks", LOG_INT(db_rows(rows)), NULL);
    }
    /* As soon as a reader is free. */
    lane->adopt = lane->adopt || (room <= 0 && !only_look);
    lane->look = lane->look || (room <= 0 && only_look);
    return rc;
}

/* The sessions by which others know what is left of us. Readers open new ones by themselves. */
enum rc sessions_note(struct executor *ex, struct err *err)
{
    struct str *s = ex->scratch;
    int count = 0;
    for (int i = 0; i < 3; i++)
        db_array_start(&s[i]);
    for (int i = 0; i < ex->reader_count; i++) {
        struct reader *reader = &ex->readers[i];
        char start[64];
        int pid = reader_pid(reader->thread);
        if (pid == reader->noted_pid)
            continue;
        reader_backend(reader->thread, &pid, start);
        reader->noted_pid = pid;
        session_add(s, pid, start, "reader");
        count++;
    }
    return count > 0 ? sessions_write(ex->control, ex->executor_no, s, err) : RC_OK;
}

/* Runs that have ended and nobody has said so: an executor that took the end may have died before, or others opened the last phase. */
enum rc recover_start(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *runs = NULL;
    lane->finish = false;
    probe("finish.send");
    enum rc rc = db_run(lane->ex->control, &sql_executor_open_runs,
                        (const char *const[]){DB_INT(lane->queue_id)}, &runs, err);
    for (int i = 0; rc == RC_OK && i < db_rows(runs); i++)
        rc = db_run(lane->ex->control, &sql_executor_finish,
                    (const char *const[]){db_text(runs, i, EXECUTOR_OPEN_RUNS_RUN_NO)}, NULL, err);
    return rc == RC_OK ? letters_look(lane, err) : rc;
}

/* An attempt that acts outside the database: begin() writes durably that it begins, action_run()
 * acts, outside_record() writes the end by the token. Between the first and the last no transaction
 * is open, so an effect can happen twice when the record of its end is lost; the row shows that it
 * had begun, so it is never taken for one that had not. */
#include "reader/outside.h"
#include "action/settings.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/utf8.h"
#include "db/canceller.h"
#include "db/diag.h"
#include "reader/attempt.h"
#include "reader/failure.h"
#include "reader/steps.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED_WAIT                                                                               \
    200 /* ms, before what the server refused to record is tried on another session */

static void outside_forget(struct work *work)
{
    if (work->answer != NULL)
        action_result_done(work->answer);
    free(work->answer);
    work->answer = NULL;
}

static const char *or_null(const struct str *str)
{
    return str->len > 0 ? str->data : NULL;
}

/* What went wrong, in words for people. */
static void note_why(struct work *work, bool late, const struct err *why)
{
    const struct str *error = &work->answer->error;
    struct err shown = *why;
    if (!late)
        utf8_copy(shown.message, sizeof shown.message, error->data ? error->data : "");
    steps_add_context(work->msg, work->answer_step, &shown);
    work_fails(work, &shown);
}

static void add_whole(struct str *to, const struct str *text)
{
    str_text(to, "");
    utf8_add(to, text->data ? text->data : "", text->len, DB_DIAG_MAX);
}

static enum rc send_failure(struct db *db, struct work *work, struct db_result **ret_row,
                            struct err *err)
{
    const struct action_result *answer = work->answer;
    struct err why = {0};
    struct failure failure;
    STR_AUTO error = {0}, detail = {0};
    bool late = attempt_timed_out(work, &why);
    enum rc rc;
    note_why(work, late, &why);
    failure_make(&failure, work, work->end.why, answer->permanent && !late);
    add_whole(&error, &answer->error);
    add_whole(&detail, &answer->detail);
    failure_replace(&failure, late ? NULL : error.data, or_null(&detail));
    do
        rc = db_run(db, &sql_reader_action_fail,
                    (const char *const[]){
                        [READER_ACTION_FAIL_P_TASK_ID] = DB_INT(work->task_id),
                        [READER_ACTION_FAIL_P_TOKEN] = work->token,
                        [READER_ACTION_FAIL_P_PERMANENT] = failure.permanent ? "true" : "false",
                        [READER_ACTION_FAIL_P_RAN_US] = DB_INT(work->end.ran_us),
                        [READER_ACTION_FAIL_P_SQLSTATE] = failure.sqlstate,
                        [READER_ACTION_FAIL_P_ERROR] = failure.error,
                        [READER_ACTION_FAIL_P_DETAIL] = failure.detail,
                        [READER_ACTION_FAIL_P_HINT] = NULL,
                        [READER_ACTION_FAIL_P_CONTEXT] = failure.where,
                        [READER_ACTION_FAIL_P_RESPONSE] =
                            failure.tries == 0 ? or_null(&answer->response) : NULL,
                        [READER_ACTION_FAIL_P_RETRY_AFTER_S] =
                            answer->retry_after_s >= 0 ? DB_INT(answer->retry_after_s) : NULL},
                    ret_row, err);
    while (failure_again(&failure, rc, err));
    failure_done(&failure);
    return rc;
}

/* The record of a step that others follow may be made twice, when its answer was lost: nothing came
 * after the first. */
static enum rc send_done(struct db *db, struct work *work, const char *response,
                         struct db_result **ret_row, struct err *err)
{
    const struct message *msg = work->msg;
    int next = work->answer_step + 1;
    work_ends(work, OUTCOME_COMPLETED);
    if (work->answer_step < 0 || next == msg->step_count)
        return db_run(db, &sql_reader_action_complete,
                      (const char *const[]){DB_INT(work->task_id), work->token, response}, ret_row,
                      err);
    enum rc rc = db_run(
        db, &sql_reader_action_step,
        (const char *const[]){DB_INT(work->task_id), work->token, msg->steps[next].name, response},
        ret_row, err);
    if (rc == RC_OK)
        work_ends(work, db_bool(*ret_row, 0, READER_ACTION_STEP_GO_ON) ? OUTCOME_CONTINUES
                                                                       : OUTCOME_LOST);
    return rc;
}

static enum rc send_success(struct db *db, struct work *work, struct db_result **ret_row,
                            struct err *err)
{
    enum rc rc = send_done(db, work, work->answer->response.data, ret_row, err);
    /* the action is done, and only its response is refused */
    if (rc == RC_REJECT && !failure_stale(rc, err))
        rc = send_done(db, work, "[the response could not be recorded]", ret_row, err);
    return rc;
}

/* Also called for an answer of a session that was lost (batch.c, reset). A stale token then means
 * one of two things, and both are right: the first record was made and only its answer was lost, or
 * another executor has adopted the task. */
enum rc outside_record(struct db *db, struct work *work, struct err *err)
{
    const struct action_result *answer = work->answer;
    struct err why = {0};
    DB_RESULT_AUTO *row = NULL;
    enum rc rc;
    probe("outside.record");
    if (answer->outcome == ACTION_STOPPED && !work->timed_out) {
        work_ends(work, OUTCOME_LOST); /* control records the loss */
        outside_forget(work);
        return RC_OK;
    }
    if (answer->outcome == ACTION_DONE) {
        rc = send_success(db, work, &row, &why);
    } else {
        rc = send_failure(db, work, &row, &why);
        if (rc == RC_OK)
            work_ends(work,
                      db_word(row, 0, READER_ACTION_FAIL_STATUS) == READER_ACTION_FAIL_IS_FAILED
                          ? OUTCOME_FAILED
                          : OUTCOME_ERROR);
    }
    probe("outside.recorded");
    if (failure_stale(rc, &why))
        work_ends(work, OUTCOME_STALE);
    else if ((rc == RC_REJECT || rc == RC_FATAL) && !failure_barred(&why))
        work_ends(work, OUTCOME_LOST); /* it cannot be recorded at all */
    else if (rc != RC_OK) {
        if (rc != RC_LOST)
            (void)poll(NULL, 0, REFUSED_WAIT);
        *err = why;
        return RC_LOST;
    }
    outside_forget(work);
    return RC_OK;
}

/* The claim and all before it, and that this attempt runs, are on disk before anything is done that
 * cannot be taken back. */
static enum rc begin(struct db *db, const struct work *work, int step, struct db_result **ret_row,
                     struct err *why)
{
    probe("outside.begin");
    enum rc rc = db_run(
        db, &sql_reader_action_begin,
        (const char *const[]){DB_INT(work->task_id), work->token, step >= 0 ? "true" : "false"},
        ret_row, why);
    probe("outside.begun");
    return rc;
}

static enum rc act(struct reader_thread *reader, struct work *work, int step, int64_t alive_us,
                   const struct db_result *row, struct err *err)
{
    const struct action_attempt attempt = {
        .msg = work->msg,
        .step = step,
        .queue = db_text(row, 0, READER_ACTION_BEGIN_QUEUE),
        .run = db_text(row, 0, READER_ACTION_BEGIN_RUN_ID),
        .order = db_text(row, 0, READER_ACTION_BEGIN_ORDER),
        .seq = db_text(row, 0, READER_ACTION_BEGIN_SEQ),
        .offset = db_text(row, 0, READER_ACTION_BEGIN_KAFKA_OFFSET),
        .task = DB_INT(work->task_id),
        .attempt = db_text(row, 0, READER_ACTION_BEGIN_ATTEMPT_NUM),
        .token = work->token,
        .traceparent = db_text(row, 0, READER_ACTION_BEGIN_TRACEPARENT)};
    /* held: the runner keeps both sockets open until no process of the command is left. So the
     * server takes this executor for alive for that long, and no other executor begins the next
     * attempt (tests/e2e/command_crash.sh). */
    const struct action_tie tie = {
        .stop = &reader->stop_action,
        .silence_ms = reader->outside.silence_ms,
        .alive_us = alive_us,
        .held = {reader->outside.liveness_socket, db_canceller_socket(reader->canceller)}};
    outside_forget(work);
    work->answer = xcalloc(1, sizeof *work->answer);
    work->answer_step = step;
    struct action_shelf *shelf = reader->outside.actions;
    const struct action_settings *settings = action_shelf_take(shelf);
    action_run(settings, &attempt, &tie, work->answer);
    action_shelf_give_back(shelf, settings);
    work_ran(work, clock_boot_us() - work->alone_since_us, false);
    if (reader->abandoned)
        work->answer->outcome = ACTION_STOPPED;
    return outside_record(reader->db, work, err);
}

enum rc outside_run(struct reader_thread *reader, struct work *work, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    struct err why = {0};
    if (reader->cancelled) { /* not begun, so that it need not be ended */
        work_ends(work, OUTCOME_UNSTARTED);
        return RC_OK;
    }
    int64_t alive_us = clock_boot_us();
    enum rc rc = begin(reader->db, work, -1, &row, &why);
    if (rc == RC_OK)
        return act(reader, work, -1, alive_us, row, err);
    if (failure_stale(rc, &why)) {
        work_ends(work, OUTCOME_STALE);
        return RC_OK;
    }
    *err = why;
    return RC_LOST; /* nothing was done: the task is given to another */
}

/* A cancel that was asked for before it begins to act may reach it in its beginning, as it would a
 * statement. */
enum rc outside_step(struct reader_thread *reader, struct work *work, int step, struct err *why)
{
    DB_RESULT_AUTO *row = NULL;
    if (!reader_act(reader, true)) { /* the caller reports the reason */
        work_ends(work, OUTCOME_CONTINUES);
        return RC_OK;
    }
    int64_t alive_us = clock_boot_us();
    enum rc rc = begin(reader->db, work, step, &row, why);
    if (rc == RC_OK)
        rc = act(reader, work, step, alive_us, row, why);
    (void)reader_act(reader, false);
    return rc;
}

/* What a reader sends, and what comes back.
 *
 * Guarantee: the effects of a task and the word that it is done are committed together, or neither
 *   is.
 * Mechanism: lockstep.complete, with the attempt's token, is the last statement of the task's own
 *   transaction; it fails when the token in the row is another one, and everything is undone. Short
 *   tasks are sent ahead, several in one pipeline, each of them a transaction of its own.
 * Not its concern: which tasks come, and when (executor/execute.c).
 * Example: a, b and c of one phase are sent together. b divides by zero: a is committed already, b
 *   is undone and its failure recorded, c was skipped by the server and is sent again, as the same
 *   attempt. When the session breaks in c, the rows say what was committed, and the rest is
 *   returned. */
#include "reader/state.h"

#include "base/clock.h"
#include "base/probe.h"
#include "db/pipeline.h"
#include "db/sqlstate.h"
#include "db/task_session.h"
#include "db/told.h"
#include "reader/attempt.h"
#include "reader/outside.h"

#include <stdlib.h>
#include <string.h>

/* What fails makes the server skip the rest of its batch, which is sent again. Control hears of a
 * batch when all of it is done: by halves of what a reader has, it gives more of it while the other
 * half runs. */
#define BATCH_MOST (READER_MOST / 2)

static void set_broken(struct reader_thread *reader, struct work *work, const struct err *why)
{
    work->why = xmalloc(sizeof *work->why);
    *work->why = *why;
    append(&reader->broken_last, work);
}

/* Outside the pipeline, which is empty now. */
static enum rc run_alone(struct reader_thread *reader, struct work *work, struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    reader_alone(reader, work);
    if (rc == RC_OK)
        rc = outside(work) ? outside_run(reader, work, err) : attempt_run(reader, work, err);
    bool ended = rc == RC_OK; /* and recorded */
    if (reader_calm(reader) == CALM_NEVER || reader->worn)
        rc = reader_disturbed(err);
    if (rc == RC_OK)
        rc = pipeline_start(reader->db, err);
    struct err why = {0};
    if (ended)
        reader_report(reader, work, work->outcome);
    else if (work->answer != NULL || work->unrecorded)
        append(&reader->broken_last, work); /* as below */
    else if (attempt_timed_out(work, &why)) /* its cancel may meet what follows it */
        set_broken(reader, work, &why);     /* recorded on the next session */
    else
        append(&reader->lost_last, work);
    return rc;
}

/* Outside the pipeline, which is empty now: a session made new, on which failed attempts are
 * recorded. */
enum rc batch_reset(struct reader_thread *reader, bool permanent, struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    if (rc == RC_OK && db_in_transaction(reader->db))
        rc = db_script(reader->db, "ROLLBACK", NULL, err);
    if (rc == RC_OK)
        rc = db_reset(reader->db, err);
    while (rc == RC_OK && reader->broken != NULL) {
        struct work *work = reader->broken;
        rc = work->answer != NULL ? outside_record(reader->db, work, err)
                                  : attempt_fail(reader->db, work, work->why, permanent, err);
        if (rc == RC_OK)
            reader_report(reader, shift(&reader->broken, &reader->broken_last), work->outcome);
    }
    if (rc == RC_OK)
        reader->unclean = false;
    return rc == RC_OK ? pipeline_start(reader->db, err) : rc;
}

static enum rc send_stmt(struct reader_thread *reader, struct work *work,
                         const struct sql_statement *stmt, const char *const *params,
                         struct err *err)
{
    int replies;
    enum rc rc = pipeline_send_stmt(reader->db, stmt, params, &replies, err);
    work->replies += replies;
    return rc;
}

/* What is being sent: each work is a transaction, ended by what begins the next one. */
struct batch {
    struct work *last;
    int tasks;
    bool dirty; /* its last task may have left something in the session */
};

static enum rc send_begin(struct reader_thread *reader, struct batch *batch, struct work *work,
                          struct err *err)
{
    work->replies = work->got = work->command_at = 0;
    work->rows = -1;
    db_told_free(work->told);
    work->told = NULL;
    work->begun = batch->last != NULL;
    work->last = false;
    enum rc rc = batch->last == NULL
                     ? send_stmt(reader, work, &sql_reader_begin, NULL, err)
                     : send_stmt(reader, batch->last, &sql_reader_commit_and_chain, NULL, err);
    append(&reader->sent_last, work);
    work->piped = true;
    batch->last = work;
    return rc;
}

/* Right behind a task that may have left something, in a transaction of its own. If it fails, the
 * session is reset. */
static enum rc send_cleaning(struct reader_thread *reader, struct batch *batch, struct err *err)
{
    struct work *work = xcalloc(1, sizeof *work);
    int replies = 0;
    work->cleans = true;
    batch->dirty = false;
    enum rc rc = send_begin(reader, batch, work, err);
    if (rc == RC_OK)
        rc = pipeline_send_clean(reader->db, &replies, err);
    work->replies += replies;
    return rc;
}

static enum rc send_one(struct reader_thread *reader, struct batch *batch, struct work *work,
                        const struct plan *plan, struct err *err)
{
    int count, replies = 1;
    const char **params = attempt_params(work, 0, &count);
    STR_AUTO text = {0};
    str_add(&text, plan->statements[0].text, plan->statements[0].len);
    work->prepared = false;
    enum rc rc = send_begin(reader, batch, work, err);
    if (rc == RC_OK && work->plain)
        rc = pipeline_send(reader->db, text.data, count, params, err);
    else if (rc == RC_OK)
        rc = pipeline_send_recalled(reader->db, work->phase_id, text.data, text.len, count, params,
                                    &replies, &work->prepared, err);
    work->replies += replies;
    work->command_at = work->replies;
    free(params);
    batch->tasks++;
    batch->dirty = plan_risky(plan, work);
    if (batch->dirty) /* until it is cleaned */
        db_wary(reader->db, true);
    if (rc == RC_OK && batch->dirty)
        rc = send_stmt(reader, work, &sql_reader_definitions_changed, (const char *const[]){"true"},
                       err);
    if (rc == RC_OK)
        rc = send_stmt(reader, work, &sql_reader_complete,
                       (const char *const[]){DB_INT(work->task_id), work->token, NULL}, err);
    return rc;
}

static enum rc end_batch(struct reader_thread *reader, struct batch *batch, struct err *err)
{
    if (batch->last == NULL)
        return RC_OK;
    batch->last->last = true;
    enum rc rc = send_stmt(reader, batch->last, &sql_reader_commit, NULL, err);
    batch->last = NULL;
    batch->tasks = 0;
    return rc == RC_OK ? pipeline_sync(reader->db, err) : rc;
}

/* The cleaning behind its last task is a batch of its own: nobody waits for it. */
static enum rc end_batches(struct reader_thread *reader, struct batch *batch, struct err *err)
{
    enum rc rc = end_batch(reader, batch, err);
    if (rc == RC_OK && batch->dirty)
        rc = send_cleaning(reader, batch, err);
    return rc == RC_OK ? end_batch(reader, batch, err) : rc;
}

/* What cannot share the pipeline, which is empty now. */
static enum rc send_alone(struct reader_thread *reader, struct work *work,
                          const struct err *refused, struct err *err)
{
    enum rc rc = RC_OK;
    bool other_run = reader->run_no != 0 && reader->run_no != work->run_no;
    reader->run_no = work->run_no;
    if (other_run) /* nothing of one run's session reaches the next */
        rc = batch_reset(reader, false, err);
    if (rc != RC_OK)
        append(&reader->broken_last, work);
    else if (refused != NULL) {
        set_broken(reader, work, refused);
        rc = batch_reset(reader, true, err);
    } else
        rc = run_alone(reader, work, err);
    return rc;
}

/* Sends what may share the pipeline in batches: each task a transaction of its own, and one sync at
 * the end of a batch, because every sync costs the server a system call and us a wake-up. What may
 * not waits until the pipeline is empty and runs alone. */
enum rc batch_send(struct reader_thread *reader, struct err *err)
{
    enum rc rc = RC_OK;
    struct batch batch = {0};
    if (reader->cancelled)
        reader_send_back(reader);
    if (reader->asked && reader->sent != NULL) /* it might hit what comes, too */
        return RC_OK;
    while (rc == RC_OK && reader->todo != NULL && reader->broken == NULL && !reader->unclean) {
        struct plan plan;
        struct err why = {0};
        const struct message *msg = reader->todo->msg;
        enum rc planned = plan_make(&plan, msg, 0, msg->statement_count, &why);
        bool same_run = reader->run_no == 0 || reader->run_no == reader->todo->run_no;
        if (planned == RC_OK && plan.pipelined && !plan.changes_session && same_run &&
            !reader->todo->wary) {
            struct work *work = shift(&reader->todo, &reader->todo_last);
            reader->run_no = work->run_no;
            if (reader->sent == NULL)
                reader->head_us = clock_boot_us();
            if (reader->at == NULL)
                reader->at = work;
            if (batch.dirty)
                rc = send_cleaning(reader, &batch, err);
            if (rc == RC_OK)
                rc = send_one(reader, &batch, work, &plan, err);
            else
                append(&reader->lost_last, work);
        } else if (reader->sent == NULL) {
            struct work *work = shift(&reader->todo, &reader->todo_last);
            rc = send_alone(reader, work, planned == RC_OK ? NULL : &why, err);
        } else {
            plan_done(&plan);
            break;
        }
        plan_done(&plan);
        if (rc == RC_OK && batch.tasks == BATCH_MOST) /* a cleaning leads the next one */
            rc = end_batch(reader, &batch, err);
    }
    return rc == RC_OK ? end_batches(reader, &batch, err) : rc;
}

/* What the server skipped goes to the front of the queue again, behind what it skipped of the batch
 * before. */
static void skipped(struct reader_thread *reader, struct work *first, struct work **last)
{
    if (first != NULL) {
        struct work **at = reader->again_to != NULL ? reader->again_to : &reader->todo;
        *last = *at;
        if (*at == NULL)
            reader->todo_last = last;
        *at = first;
        reader->again_to = last;
    }
    if (reader->sent == NULL)
        reader->again_to = NULL;
}

/* The plan of a statement that is executed by its name is outdated ("cached plan must not change
 * result type"), or what should have prepared it was skipped because of a failure before it. Once:
 * a task that deallocates everything does it again. */
static bool outdated(const struct work *work, const struct err *why)
{
    return !work->plain && ((work->prepared && sqlstate_is(why, SQLSTATE_FEATURE_NOT_SUPPORTED)) ||
                            sqlstate_is(why, SQLSTATE_INVALID_SQL_STATEMENT_NAME));
}

/* It failed in a statement of ours behind the task's own command. The COMMIT is the task's: it runs
 * what the task has deferred. */
static bool of_ours(const struct work *work)
{
    return work->got >= work->command_at && work->replies > 1;
}

/* Another session made the server undo it there: nothing of it is left, and it was not the
 * task's. */
static bool undone(struct work *work, const struct err *why)
{
    return of_ours(work) && sqlstate_undone(why) && work->undone++ < UNDONE_MOST;
}

/* A sync came: each task of the oldest batch has committed, or failed, or was skipped because of
 * one that did. */
static enum rc batch_done(struct reader_thread *reader, struct err *err)
{
    int64_t now_us = clock_boot_us();
    struct work *again = NULL, **again_last = &again;
    struct mail *done = NULL, **done_last = &done; /* for control to hear of it once */
    int ran = 0;
    bool ours = reader->cancelled || reader->asked;
    for (struct work *work = reader->sent; work != NULL; work = work->last ? NULL : work->next)
        ran += !work->cleans && (work->replies == 0 || work == reader->failed);
    int64_t each_us = (now_us - reader->head_us) / (ran > 0 ? ran : 1);
    reader->head_us = now_us;
    for (bool last = false; !last;) {
        struct work *work = shift(&reader->sent, &reader->sent_last);
        last = work->last;
        work->piped = false;
        work->ran_us = each_us;
        if (work->cleans) {
            work_free(work);
        } else if (work->replies == 0) {
            work->outcome = OUTCOME_COMPLETED;
            work->mail.next = NULL;
            *done_last = &work->mail;
            done_last = &work->mail.next;
        } else if (work != reader->failed) {
            append(&again_last, work);
        } else if (outdated(work, reader->why)) {
            work->plain = true;
            append(&again_last, work);
        } else if (undone(work, reader->why)) {
            append(&again_last, work);
        } else if (attempt_cancelled(work, reader->why, ours)) {
            work->loss = ours ? LOSS_OWN : LOSS_ASKED;
            reader_report(reader, work, OUTCOME_LOST);
        } else {
            if (of_ours(work))
                (void)attempt_read_only(work, RC_REJECT, reader->why);
            set_broken(reader, work, reader->why);
        }
    }
    mailbox_put_all(reader->control, done);
    free(reader->why);
    reader->why = NULL;
    reader->failed = NULL;
    reader->at = reader->sent;
    skipped(reader, again, again_last);
    if (reader->sent != NULL)
        return RC_OK;
    if (reader_calm(reader) == CALM_NEVER) {
        for (struct work *work = reader->broken; work != NULL; work = work->next)
            work->unrecorded = true;
        return reader_disturbed(err);
    }
    return reader->unclean ? batch_reset(reader, false, err) : RC_OK;
}

/* What the server has said since it was taken last belongs to this work. */
static void take_told(struct reader_thread *reader, struct work *work)
{
    struct db_told *told = reader->told;
    if (told->position > 0 && work->got < work->command_at) {
        const char *sql = work->msg->statements[0].sql;
        db_told_place(&told->place, sql, strspn(sql, " \t\n\r\f\v"), told->position);
    }
    if (work->told != NULL) { /* in the order in which they came */
        db_told_move(work->told, told);
        db_told_move(told, work->told);
    }
    db_told_free(work->told);
    work->told = told;
    reader->told = db_told_new();
    db_listen(reader->db, reader->told);
}

static enum rc on_error(struct reader_thread *reader, const struct err *failed, struct err *err)
{
    /* Sent before it was known that the batch before it failed; or cancelled, when that was meant
     * for one before. */
    bool not_begun = !reader->at->begun;
    if (not_begun && !sqlstate_is(failed, SQLSTATE_IN_FAILED_SQL_TRANSACTION) &&
        !sqlstate_is(failed, SQLSTATE_QUERY_CANCELED)) {
        *err = *failed;
        return RC_LOST;
    }
    reader->unclean = true;
    if (!not_begun) {
        reader->failed = reader->at;
        take_told(reader, reader->at);
        reader->why = xmalloc(sizeof *reader->why);
        *reader->why = *failed;
    }
    return RC_OK;
}

/* libpq hands out a notice with the reply before it, when that one is complete: what is about the
 * text of a command may be the next task's. */
static void take_notices(struct reader_thread *reader, struct work *work)
{
    if (work->replies == 0 && reader->told->lexed && work->next != NULL)
        return;
    if (work->told == NULL)
        work->told = db_told_new();
    db_told_move(work->told, reader->told);
}

static void on_ok(struct reader_thread *reader)
{
    struct work *work = reader->at;
    work->begun = true;
    if (++work->got == work->command_at)
        work->rows = reader->told->rows;
    if (--work->replies == 0)
        reader->at = work->next;
    if (reader->told->notices.len > 0)
        take_notices(reader, work);
}

enum rc batch_read(struct reader_thread *reader, struct err *err)
{
    probe("reader.answered");
    enum rc rc = pipeline_read(reader->db, err);
    db_listen(reader->db, reader->told);
    while (rc == RC_OK) {
        enum pipeline_reply reply;
        struct err failed = {0};
        rc = pipeline_next(reader->db, &reply, &failed, err);
        if (rc != RC_OK)
            break;
        if (reader->at == NULL && reply != PIPELINE_SYNC)
            return err_set(err, RC_LOST, ERR_INTERNAL, "reader", "Please report this.",
                           "a reply that belongs to no task");
        switch (reply) {
        case PIPELINE_OK:
            on_ok(reader);
            break;
        case PIPELINE_ERROR:
            rc = on_error(reader, &failed, err);
            break;
        case PIPELINE_SKIPPED:
            break;
        case PIPELINE_SYNC:
            rc = batch_done(reader, err);
            break;
        case PIPELINE_COPY:
            return err_set(err, RC_LOST, ERR_DB, "task", NULL,
                           "COPY to or from the client is not possible in a task");
        }
    }
    return rc == RC_NONE ? RC_OK : rc;
}

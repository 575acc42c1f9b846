/* The pipeline of a reader: works are sent, and replies are read.
 *
 * Guarantee: the effects of a task and the record of its end are committed together, or neither is.
 *
 * Mechanism: lockstep.complete, with the attempt's token, is the last statement of the task's own
 * transaction; it fails when the token in the row is another one, and everything is undone. Short
 * tasks are sent ahead, several in one pipeline, each of them a transaction of its own.
 *
 * Not its concern: which tasks come, and when (executor/execute.c).
 *
 * Example: a, b and c of one phase are sent together. b divides by zero: a is committed already, b
 * is undone and its failure recorded, c was skipped by the server and is sent again, as the same
 * attempt. When the session breaks in c, the rows show which tasks have committed, and the others
 * are returned.
 *
 * Begin with batch_send() and batch_read(); batch_done() decides how each task ended. The libpq
 * manual (Pipeline Mode) has the rule that all of this follows: after an error the server skips
 * everything up to the next sync, and the failed transaction stays open until a ROLLBACK. */
#include "reader/state.h"

#include "base/clock.h"
#include "base/probe.h"
#include "db/diag.h"
#include "db/pipeline.h"
#include "db/sqlstate.h"
#include "db/task_session.h"
#include "reader/attempt.h"
#include "reader/outside.h"

#include <stdlib.h>
#include <string.h>

/* A task that fails makes the server skip the rest of its batch, which is sent again. A reader
 * reports a batch to control when all of it is done. A batch is half of the works that a reader may
 * have, so control assigns more while the other half runs. bench/notes/task.md has the figures. */
#define BATCH_MOST (READER_MOST / 2)

static void set_broken(struct reader_thread *reader, struct work *work, const struct err *why)
{
    work_fails(work, why);
    works_add(&reader->broken, work);
}

/* Runs a task outside the pipeline, which is empty now. */
static enum rc run_alone(struct reader_thread *reader, struct work *work, struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    reader_alone(reader, work);
    if (rc == RC_OK)
        rc = outside(work) ? outside_run(reader, work, err) : attempt_run(reader, work, err);
    bool ended = rc == RC_OK; /* and recorded */
    if (reader_calm(reader) == CALM_NEVER)
        rc = reader_disturbed(err);
    if (rc == RC_OK)
        rc = pipeline_start(reader->db, err);
    struct err why = {0};
    if (ended)
        reader_report(reader, work, work->end.outcome);
    else if (work->answer != NULL || work->end.unrecorded)
        works_add(&reader->broken, work);   /* recorded on the next session */
    else if (attempt_timed_out(work, &why)) /* its cancel could hit the next statement: */
        set_broken(reader, work, &why);     /* recorded on the next session, too */
    else
        works_add(&reader->lost, work);
    return rc;
}

/* Resets the session, and records failed attempts on it; the pipeline is empty now. The failure is
 * recorded in a transaction of its own, because the one of the task is undone; DISCARD ALL comes
 * first, so that nothing that the task left changes how the failure is recorded. */
static enum rc reset(struct reader_thread *reader, bool permanent, struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    if (rc == RC_OK && db_in_transaction(reader->db))
        rc = db_script(reader->db, "ROLLBACK", NULL, err);
    if (rc == RC_OK)
        rc = db_reset(reader->db, err);
    while (rc == RC_OK && reader->broken.first != NULL) {
        struct work *work = reader->broken.first;
        rc = work->answer != NULL ? outside_record(reader->db, work, err)
                                  : attempt_fail(reader->db, work, work->end.why, permanent, err);
        if (rc == RC_OK)
            reader_report(reader, works_take(&reader->broken), work->end.outcome);
    }
    if (rc == RC_OK)
        reader->batch.unclean = false;
    return rc == RC_OK ? pipeline_start(reader->db, err) : rc;
}

static enum rc send_stmt(struct reader_thread *reader, struct work *work,
                         const struct sql_statement *stmt, const char *const *params,
                         struct err *err)
{
    int replies;
    enum rc rc = pipeline_send_stmt(reader->db, stmt, params, &replies, err);
    work->sent.replies += replies;
    return rc;
}

/* A batch that is being sent. Each work is a transaction; COMMIT AND CHAIN ends it and begins the
 * next. */
struct sending {
    struct work *last;
    int tasks;
    bool dirty; /* its last task may have left something in the session */
};

/* COMMIT AND CHAIN belongs to the replies of the task before: that task is complete when its COMMIT
 * is answered, not when its complete() is. A deferred trigger of the task may fail there. */
static enum rc send_begin(struct reader_thread *reader, struct sending *sending, struct work *work,
                          struct err *err)
{
    struct work_sent *sent = &work->sent;
    sent->replies = sent->got = sent->command_at = 0;
    sent->begun = sending->last != NULL;
    sent->last = false;
    work_counts(work, -1);
    work_set_diag(work, NULL);
    enum rc rc = sending->last == NULL
                     ? send_stmt(reader, work, &sql_reader_begin, NULL, err)
                     : send_stmt(reader, sending->last, &sql_reader_commit_and_chain, NULL, err);
    works_add(&reader->batch.sent, work);
    work->piped = true;
    sending->last = work;
    return rc;
}

/* Cleans the session right behind a task that may have left something in it, in a transaction of
 * its own. If the cleaning fails, the session is reset. It is a work without a task, so that the
 * replies that come back are counted like those of the others. */
static enum rc send_cleaning(struct reader_thread *reader, struct sending *sending, struct err *err)
{
    struct work *work = xcalloc(1, sizeof *work);
    int replies = 0;
    work->sent.cleans = true;
    sending->dirty = false;
    enum rc rc = send_begin(reader, sending, work, err);
    if (rc == RC_OK)
        rc = pipeline_send_clean(reader->db, &replies, err);
    work->sent.replies += replies;
    return rc;
}

static enum rc send_one(struct reader_thread *reader, struct sending *sending, struct work *work,
                        const struct plan *plan, struct err *err)
{
    int count, replies = 1;
    const char **params = attempt_params(work, 0, &count);
    STR_AUTO text = {0};
    str_add(&text, plan->statements[0].text, plan->statements[0].len);
    work->sent.prepared = false;
    enum rc rc = send_begin(reader, sending, work, err);
    if (rc == RC_OK && work->sent.plain)
        rc = pipeline_send(reader->db, text.data, count, params, err);
    else if (rc == RC_OK)
        rc = pipeline_send_recalled(reader->db, work->phase_id, text.data, text.len, count, params,
                                    &replies, &work->sent.prepared, err);
    work->sent.replies += replies;
    work->sent.command_at = work->sent.replies;
    free(params);
    sending->tasks++;
    sending->dirty = plan_risky(plan, work);
    if (sending->dirty) /* until it is cleaned */
        db_wary(reader->db, true);
    if (rc == RC_OK && sending->dirty)
        rc = send_stmt(reader, work, &sql_reader_definitions_changed, (const char *const[]){"true"},
                       err);
    if (rc == RC_OK)
        rc = send_stmt(reader, work, &sql_reader_complete,
                       (const char *const[]){DB_INT(work->task_id), work->token, NULL}, err);
    return rc;
}

static enum rc end_batch(struct reader_thread *reader, struct sending *sending, struct err *err)
{
    if (sending->last == NULL)
        return RC_OK;
    sending->last->sent.last = true;
    enum rc rc = send_stmt(reader, sending->last, &sql_reader_commit, NULL, err);
    sending->last = NULL;
    sending->tasks = 0;
    return rc == RC_OK ? pipeline_sync(reader->db, err) : rc;
}

/* The cleaning behind the last task is a batch of its own, so that no task's report waits for it.
 */
static enum rc end_batches(struct reader_thread *reader, struct sending *sending, struct err *err)
{
    enum rc rc = end_batch(reader, sending, err);
    if (rc == RC_OK && sending->dirty)
        rc = send_cleaning(reader, sending, err);
    return rc == RC_OK ? end_batch(reader, sending, err) : rc;
}

/* Runs, or refuses, a task that cannot share the pipeline, which is empty now. */
static enum rc send_alone(struct reader_thread *reader, struct work *work,
                          const struct err *refused, struct err *err)
{
    enum rc rc = RC_OK;
    struct batch *batch = &reader->batch;
    bool other_run = batch->run_no != 0 && batch->run_no != work->run_no;
    batch->run_no = work->run_no;
    if (other_run) /* nothing of one run's session reaches the next */
        rc = reset(reader, false, err);
    if (rc != RC_OK)
        works_add(&reader->broken, work);
    else if (refused != NULL) {
        set_broken(reader, work, refused);
        rc = reset(reader, true, err);
    } else
        rc = run_alone(reader, work, err);
    return rc;
}

static enum rc send_piped(struct reader_thread *reader, struct sending *sending, struct work *work,
                          const struct plan *plan, struct err *err)
{
    struct batch *batch = &reader->batch;
    enum rc rc = RC_OK;
    batch->run_no = work->run_no;
    if (batch->sent.first == NULL)
        batch->head_us = clock_boot_us();
    if (batch->at == NULL)
        batch->at = work;
    if (sending->dirty)
        rc = send_cleaning(reader, sending, err);
    if (rc == RC_OK)
        rc = send_one(reader, sending, work, plan, err);
    else
        works_add(&reader->lost, work);
    return rc;
}

/* Sends tasks that may share the pipeline in batches. Each task is a transaction of its own; a
 * batch has one sync at its end, because every sync costs the server a system call and the reader a
 * wake-up. Any other task waits until the pipeline is empty, and runs alone. */
enum rc batch_send(struct reader_thread *reader, struct err *err)
{
    enum rc rc = RC_OK;
    struct sending sending = {0};
    struct batch *batch = &reader->batch;
    if (reader->cancelled)
        reader_return_all(reader);
    if (reader->asked && batch->sent.first != NULL) /* a cancel could hit later tasks, too */
        return RC_OK;
    while (rc == RC_OK && reader->todo.first != NULL && reader->broken.first == NULL &&
           !batch->unclean) {
        struct plan plan;
        struct err why = {0};
        const struct work *next = reader->todo.first;
        enum rc planned = plan_make(&plan, next->msg, 0, next->msg->statement_count, &why);
        bool same_run = batch->run_no == 0 || batch->run_no == next->run_no;
        if (planned == RC_OK && plan.pipelined && !plan.changes_session && same_run &&
            !next->wary) {
            rc = send_piped(reader, &sending, works_take(&reader->todo), &plan, err);
        } else if (batch->sent.first == NULL) {
            rc = send_alone(reader, works_take(&reader->todo), planned == RC_OK ? NULL : &why, err);
        } else {
            plan_done(&plan);
            break;
        }
        plan_done(&plan);
        if (rc == RC_OK && sending.tasks == BATCH_MOST) /* a cleaning leads the next one */
            rc = end_batch(reader, &sending, err);
        if (reader->cancelled) /* while a task ran here */
            reader_return_all(reader);
    }
    return rc == RC_OK ? end_batches(reader, &sending, err) : rc;
}

/* A statement that was executed by its name has an outdated plan ("cached plan must not change
 * result type"), or the task that should have prepared it was skipped. The task is sent again once,
 * by its text: a task that deallocates everything would fail the same way each time. */
static bool outdated(const struct work *work, const struct err *why)
{
    return !work->sent.plain &&
           ((work->sent.prepared && sqlstate_is(why, SQLSTATE_FEATURE_NOT_SUPPORTED)) ||
            sqlstate_is(why, SQLSTATE_INVALID_SQL_STATEMENT_NAME));
}

/* The failure came in a statement of Lockstep behind the task's own command. The COMMIT counts as
 * the task's: it runs what the task has deferred. */
static bool of_ours(const struct work *work)
{
    return work->sent.got >= work->sent.command_at && work->sent.replies > 1;
}

/* Another session made the server undo the transaction in a statement of Lockstep (a deadlock, a
 * serialization failure). Nothing of the task is left, and the task was not the cause. */
static bool undone(struct work *work, const struct err *why)
{
    return of_ours(work) && sqlstate_undone(why) && work->sent.undone++ < UNDONE_MOST;
}

/* Whether a task that failed is sent again, as the same attempt. */
static bool again(struct work *work, const struct err *why)
{
    if (!outdated(work, why))
        return undone(work, why);
    work->sent.plain = true;
    return true;
}

static void failed_is_known(struct batch *batch)
{
    free(batch->why);
    batch->why = NULL;
    batch->failed = NULL;
}

/* A sync came: each task of the oldest batch has committed, has failed, or was skipped because an
 * earlier one failed. A task is committed exactly if all of its replies have come: replies counts
 * down to 0 with the answer to its COMMIT. A skipped task has begun nothing, and is sent again as
 * the same attempt with the same token. */
static enum rc batch_done(struct reader_thread *reader, struct err *err)
{
    struct batch *batch = &reader->batch;
    int64_t now_us = clock_boot_us();
    struct mail *done = NULL, **done_last = &done; /* for control to hear of it once */
    int ran = 0;
    bool ours = reader->cancelled || reader->asked;
    for (struct work *work = batch->sent.first; work != NULL;
         work = work->sent.last ? NULL : work->next)
        ran += !work->sent.cleans && (work->sent.replies == 0 || work == batch->failed);
    int64_t each_us = (now_us - batch->head_us) / (ran > 0 ? ran : 1);
    batch->head_us = now_us;
    for (bool last = false; !last;) {
        struct work *work = works_take(&batch->sent);
        last = work->sent.last;
        work->piped = false;
        work_ran(work, each_us, work->end.alone);
        if (work->sent.cleans) {
            work_free(work);
        } else if (work->sent.replies == 0) {
            work_ends(work, OUTCOME_COMPLETED);
            work->mail.next = NULL;
            *done_last = &work->mail;
            done_last = &work->mail.next;
        } else if (work != batch->failed || again(work, batch->why)) {
            works_add(&batch->skipped, work);
        } else if (attempt_cancelled(work, batch->why, ours)) {
            work_lost(work, ours ? LOSS_OWN : LOSS_CANCELLED);
            reader_report(reader, work, OUTCOME_LOST);
        } else {
            if (of_ours(work))
                (void)attempt_read_only(work, RC_REJECT, batch->why);
            set_broken(reader, work, batch->why);
        }
    }
    mailbox_put_all(reader->control, done);
    failed_is_known(batch);
    batch->at = batch->sent.first;
    if (batch->sent.first != NULL)
        return RC_OK;
    works_join_first(&reader->todo, &batch->skipped);
    /* Before anything new is sent: a cancel that is still under way would hit a task that was not
     * meant (tests/e2e/late_cancel.sh). */
    if (reader_calm(reader) == CALM_NEVER) {
        for (struct work *work = reader->broken.first; work != NULL; work = work->next)
            work_unrecorded(work);
        return reader_disturbed(err);
    }
    return batch->unclean ? reset(reader, false, err) : RC_OK;
}

enum rc batch_start(struct reader_thread *reader, struct err *err)
{
    db_diag_clear(reader->batch.diag);
    enum rc rc = pipeline_start(reader->db, err);
    return rc == RC_OK && reader->batch.unclean ? reset(reader, false, err) : rc;
}

/* The ends of the tasks that were sent are unknown: a COMMIT may have been done and only its answer
 * lost. So these works are lost, and the row decides (record_lost in executor/record.c). */
void batch_lose(struct reader_thread *reader)
{
    struct batch *batch = &reader->batch;
    batch->at = NULL;
    failed_is_known(batch);
    batch->unclean = reader->broken.first != NULL;
    for (struct work *work = batch->sent.first; work != NULL; work = work->next)
        work->piped = false;
    works_join(&reader->lost, &batch->sent);
    works_join_first(&reader->todo, &batch->skipped);
}

/* What the server has said since it was taken last belongs to this work. */
static void take_told(struct reader_thread *reader, struct work *work)
{
    struct db_diag *diag = reader->batch.diag;
    if (diag->position > 0 && work->sent.got < work->sent.command_at) {
        const char *sql = work->msg->statements[0].sql;
        db_diag_place(&diag->place, sql, strspn(sql, " \t\n\r\f\v"), diag->position);
    }
    if (work->end.diag != NULL) { /* in the order in which they came */
        db_diag_move(work->end.diag, diag);
        db_diag_move(diag, work->end.diag);
    }
    work_set_diag(work, diag);
    reader->batch.diag = db_diag_new();
    db_set_diag(reader->db, reader->batch.diag);
}

/* The batches behind the failed one were sent already. Their first BEGIN meets an open, failed
 * transaction, which is 25P02 and no failure of these tasks. */
static enum rc on_error(struct reader_thread *reader, const struct err *failed, struct err *err)
{
    struct batch *batch = &reader->batch;
    /* Sent before it was known that the batch before it failed; or cancelled, when that was meant
     * for one before. */
    bool not_begun = !batch->at->sent.begun;
    if (not_begun && !sqlstate_is(failed, SQLSTATE_IN_FAILED_SQL_TRANSACTION) &&
        !sqlstate_is(failed, SQLSTATE_QUERY_CANCELED)) {
        *err = *failed;
        return RC_LOST;
    }
    batch->unclean = true;
    if (!not_begun) {
        batch->failed = batch->at;
        take_told(reader, batch->at);
        batch->why = xmalloc(sizeof *batch->why);
        *batch->why = *failed;
    }
    return RC_OK;
}

/* libpq reports a notice with the reply before it, when that reply is complete: a notice about the
 * text of a command may belong to the next task. */
static void take_notices(struct reader_thread *reader, struct work *work)
{
    struct db_diag *diag = reader->batch.diag;
    if (work->sent.replies > 0 || !diag->lexed || work->next == NULL)
        db_diag_move(work_diag(work), diag);
}

static void on_ok(struct reader_thread *reader)
{
    struct work *work = reader->batch.at;
    work->sent.begun = true;
    if (++work->sent.got == work->sent.command_at)
        work_counts(work, reader->batch.diag->rows);
    if (--work->sent.replies == 0)
        reader->batch.at = work->next;
    if (reader->batch.diag->notices.len > 0)
        take_notices(reader, work);
}

enum rc batch_read(struct reader_thread *reader, struct err *err)
{
    probe("reader.answered");
    enum rc rc = pipeline_read(reader->db, err);
    db_set_diag(reader->db, reader->batch.diag);
    while (rc == RC_OK) {
        enum pipeline_reply reply;
        struct err failed = {0};
        rc = pipeline_next(reader->db, &reply, &failed, err);
        if (rc != RC_OK)
            break;
        if (reader->batch.at == NULL && reply != PIPELINE_SYNC)
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
        /* The server waits for data that a pipeline cannot send (libpq manual, Pipeline Mode: COPY
         * is not allowed). Only the end of the session ends that. */
        case PIPELINE_COPY:
            return err_set(err, RC_LOST, ERR_DB, "task", NULL,
                           "COPY to or from the client is not possible in a task");
        }
    }
    return rc == RC_NONE ? RC_OK : rc;
}

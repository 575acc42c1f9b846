#include "executor/reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/pipeline.h"
#include "executor/attempt.h"
#include "executor/lane.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What fails makes the server skip the rest of its batch, which is sent again. */
#define BATCH_MOST 32

enum reader_mail { READER_WORK, READER_STOP };

struct reader_thread {
    pthread_t thread;
    struct mailbox inbox;
    struct mailbox *control;
    char *conninfo;
    struct db_server server; /* of the control session: work is done there only */
    struct db *db;
    struct work *todo, **todo_last;     /* not sent yet */
    struct work *sent, **sent_last;     /* in the pipeline, oldest first, batch after batch */
    struct work *broken, **broken_last; /* failed; recorded when the pipeline is empty */
    struct work *at;                    /* the one of sent whose replies come now */
    struct work *failed;                /* the one of the oldest batch that failed, and why */
    struct err *why;                    /* owned */
    bool unclean;                       /* a transaction failed: reset when the pipeline is empty */
    bool stopping;
    _Atomic bool cancelled; /* by us: what fails for that is lost, not failed */
    _Atomic bool abandoned; /* the incarnation is over: no task starts any more */
    int64_t run_no;         /* of the task before */
    int64_t head_us;        /* since when the oldest batch can have been running */
    struct mail stop;
    pthread_mutex_t lock; /* guards what other threads read: */
    struct db_canceller *canceller;
    _Atomic int pid;
    char backend_start[64];
};

static void append(struct work ***last, struct work *work)
{
    work->next = NULL;
    **last = work;
    *last = &work->next;
}

static struct work *shift(struct work **first, struct work ***last)
{
    struct work *work = *first;
    *first = work->next;
    if (*first == NULL)
        *last = first;
    return work;
}

static void report(struct reader_thread *reader, struct work *work, enum outcome outcome)
{
    work->outcome = outcome;
    work->mail.kind = MAIL_WORK_DONE;
    mailbox_put(reader->control, &work->mail);
}

static enum rc open_session(struct reader_thread *reader, struct err *err)
{
    struct db *db;
    enum rc rc = db_open_on(reader->conninfo, DB_READER, &reader->server, DB_SAME, &db, err);
    if (rc != RC_OK)
        return rc;
    reader->db = db;
    (void)pthread_mutex_lock(&reader->lock);
    db_canceller_free(reader->canceller);
    reader->canceller = db_canceller_new(db);
    reader->pid = db_backend_pid(db);
    (void)snprintf(reader->backend_start, sizeof reader->backend_start, "%s", db_backend_start(db));
    bool abandoned = reader->abandoned;
    (void)pthread_mutex_unlock(&reader->lock);
    return abandoned ? RC_LOST : pipeline_start(db, err);
}

/* What was sent is of unknown outcome; control decides. */
static void lose_session(struct reader_thread *reader, const struct err *why)
{
    if (!reader->abandoned)
        log_err(LOG_WARN, "reader_lost", NULL, why);
    (void)pthread_mutex_lock(&reader->lock);
    db_canceller_free(reader->canceller);
    reader->canceller = NULL;
    (void)pthread_mutex_unlock(&reader->lock);
    db_close(reader->db);
    reader->db = NULL;
    free(reader->why);
    reader->why = NULL;
    reader->at = reader->failed = NULL;
    reader->unclean = false;
    while (reader->broken != NULL)
        report(reader, shift(&reader->broken, &reader->broken_last), OUTCOME_LOST);
    while (reader->sent != NULL)
        report(reader, shift(&reader->sent, &reader->sent_last), OUTCOME_LOST);
    while (reader->todo != NULL)
        report(reader, shift(&reader->todo, &reader->todo_last), OUTCOME_UNSTARTED);
}

/* Outside the pipeline, which is empty now. */
static enum rc run_alone(struct reader_thread *reader, struct work *work, const struct plan *plan,
                         struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    if (rc == RC_OK)
        rc = attempt_run(reader->db, work, plan, &reader->cancelled, err);
    if (rc == RC_OK)
        rc = pipeline_start(reader->db, err);
    report(reader, work, rc == RC_OK ? work->outcome : OUTCOME_LOST);
    return rc;
}

/* Outside the pipeline, which is empty now: a session made new, on which failed attempts are recorded. */
static enum rc fresh_session(struct reader_thread *reader, bool permanent, struct err *err)
{
    enum rc rc = pipeline_stop(reader->db, err);
    if (rc == RC_OK && db_in_transaction(reader->db))
        rc = db_script(reader->db, "ROLLBACK", NULL, err);
    if (rc == RC_OK)
        rc = db_reset(reader->db, err);
    while (rc == RC_OK && reader->broken != NULL) {
        struct work *work = reader->broken;
        rc = attempt_fail(reader->db, work, work->why, permanent, err);
        if (rc == RC_OK)
            report(reader, shift(&reader->broken, &reader->broken_last), work->outcome);
    }
    if (rc == RC_OK)
        reader->unclean = false;
    return rc == RC_OK ? pipeline_start(reader->db, err) : rc;
}

static void set_broken(struct reader_thread *reader, struct work *work, const struct err *why)
{
    work->why = xmalloc(sizeof *work->why);
    *work->why = *why;
    append(&reader->broken_last, work);
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

/* A task's transaction, but for its end: that is the next one's beginning, if there is one. */
static enum rc send_one(struct reader_thread *reader, struct work *before, struct work *work,
                        const struct plan *plan, struct err *err)
{
    int count;
    const char **params = attempt_params(work, 0, &count);
    STR_AUTO text = {0};
    str_add(&text, plan->statements[0].text, plan->statements[0].len);
    int replies = 1;
    work->replies = 0;
    work->prepared = false;
    work->begun = before != NULL;
    work->last = false;
    enum rc rc = before == NULL
                     ? send_stmt(reader, work, &sql_reader_begin, NULL, err)
                     : send_stmt(reader, before, &sql_reader_commit_and_chain, NULL, err);
    append(&reader->sent_last, work);
    if (rc == RC_OK && work->plain)
        rc = pipeline_send(reader->db, text.data, count, params, err);
    else if (rc == RC_OK)
        rc = pipeline_send_recalled(reader->db, work->phase_id, text.data, text.len, count, params,
                                    &replies, &work->prepared, err);
    work->replies += replies;
    free(params);
    if (rc == RC_OK)
        rc = send_stmt(reader, work, &sql_reader_complete,
                       (const char *const[]){DB_INT(work->task_id), work->token, NULL}, err);
    return rc;
}

static enum rc end_batch(struct reader_thread *reader, struct work *last, struct err *err)
{
    if (last == NULL)
        return RC_OK;
    last->last = true;
    enum rc rc = send_stmt(reader, last, &sql_reader_commit, NULL, err);
    return rc == RC_OK ? pipeline_sync(reader->db, err) : rc;
}

/* What cannot share the pipeline, which is empty now. */
static enum rc send_alone(struct reader_thread *reader, struct work *work, const struct plan *plan,
                          const struct err *refused, struct err *err)
{
    enum rc rc = RC_OK;
    bool other_run = reader->run_no != 0 && reader->run_no != work->run_no;
    reader->run_no = work->run_no;
    if (other_run) /* nothing of one run's session reaches the next */
        rc = fresh_session(reader, false, err);
    if (rc != RC_OK)
        append(&reader->broken_last, work);
    else if (refused != NULL) {
        set_broken(reader, work, refused);
        rc = fresh_session(reader, true, err);
    } else
        rc = run_alone(reader, work, plan, err);
    return rc;
}

/* Sends what may share the pipeline as one batch: each task a transaction of its own, and one sync at the end, because every
 * sync costs the server a system call and us a wake-up. What may not waits until the pipeline is empty and runs alone. */
static enum rc send_todo(struct reader_thread *reader, struct err *err)
{
    enum rc rc = RC_OK;
    struct work *before = NULL;
    int count = 0;
    while (rc == RC_OK && reader->todo != NULL && reader->broken == NULL && !reader->unclean &&
           count < BATCH_MOST) {
        struct plan plan;
        struct err why = {0};
        enum rc planned = plan_make(&plan, reader->todo, &why);
        bool same_run = reader->run_no == 0 || reader->run_no == reader->todo->run_no;
        if (planned == RC_OK && plan.pipelined && !plan.changes_session && same_run) {
            struct work *work = shift(&reader->todo, &reader->todo_last);
            reader->run_no = work->run_no;
            if (reader->sent == NULL) {
                reader->head_us = clock_boot_us();
                reader->at = work;
            } else if (reader->at == NULL)
                reader->at = work;
            rc = send_one(reader, before, work, &plan, err);
            before = work;
            count++;
        } else if (reader->sent == NULL) {
            struct work *work = shift(&reader->todo, &reader->todo_last);
            rc = send_alone(reader, work, &plan, planned == RC_OK ? NULL : &why, err);
        } else {
            plan_done(&plan);
            break;
        }
        plan_done(&plan);
    }
    return rc == RC_OK ? end_batch(reader, before, err) : rc;
}

/* What the server skipped goes to the front of the queue again, or back when we are to stop. */
static void skipped(struct reader_thread *reader, struct work *first, struct work **last)
{
    if (reader->cancelled) {
        while (first != NULL) {
            struct work *work = first;
            first = work->next;
            report(reader, work, OUTCOME_UNSTARTED);
        }
    } else if (first != NULL) {
        *last = reader->todo;
        if (reader->todo == NULL)
            reader->todo_last = last;
        reader->todo = first;
    }
}

/* Of a statement that is executed by its name: "cached plan must not change result type". */
static bool outdated(const struct err *why)
{
    return strcmp(why->code, "0A000") == 0;
}

/* A sync came: each task of the oldest batch has committed, or failed, or was skipped because of one that did. */
static enum rc batch_done(struct reader_thread *reader, struct err *err)
{
    int64_t now_us = clock_boot_us();
    struct work *again = NULL, **again_last = &again;
    int ran = 0;
    for (struct work *work = reader->sent; work != NULL; work = work->last ? NULL : work->next)
        ran += work->replies == 0 || work == reader->failed;
    int64_t each_us = (now_us - reader->head_us) / (ran > 0 ? ran : 1);
    reader->head_us = now_us;
    for (bool last = false; !last;) {
        struct work *work = shift(&reader->sent, &reader->sent_last);
        last = work->last;
        work->ran_us = each_us;
        if (work->replies == 0)
            report(reader, work, OUTCOME_COMPLETED);
        else if (work != reader->failed)
            append(&again_last, work);
        else if (work->prepared && outdated(reader->why)) {
            work->plain = true;
            append(&again_last, work);
        } else if (attempt_cancelled(reader->why, reader->cancelled))
            report(reader, work, OUTCOME_LOST);
        else
            set_broken(reader, work, reader->why);
    }
    free(reader->why);
    reader->why = NULL;
    reader->failed = NULL;
    reader->at = reader->sent;
    skipped(reader, again, again_last);
    return reader->sent == NULL && reader->unclean ? fresh_session(reader, false, err) : RC_OK;
}

static enum rc on_error(struct reader_thread *reader, const struct err *failed, struct err *err)
{
    /* Sent before it was known that the batch before it failed; or cancelled, when that was meant for one before. */
    bool not_begun = !reader->at->begun;
    if (not_begun && strcmp(failed->code, "25P02") != 0 && strcmp(failed->code, "57014") != 0) {
        *err = *failed;
        return RC_LOST;
    }
    reader->unclean = true;
    if (!not_begun) {
        reader->failed = reader->at;
        reader->why = xmalloc(sizeof *reader->why);
        *reader->why = *failed;
    }
    return RC_OK;
}

static void on_ok(struct reader_thread *reader)
{
    struct work *work = reader->at;
    work->begun = true;
    if (--work->replies == 0)
        reader->at = work->next;
}

static enum rc read_replies(struct reader_thread *reader, struct err *err)
{
    probe("reader.answered");
    enum rc rc = pipeline_read(reader->db, err);
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

static void take_mail(struct reader_thread *reader)
{
    for (struct mail *mail = mailbox_take(&reader->inbox), *next; mail != NULL; mail = next) {
        next = mail->next;
        if (mail->kind == READER_STOP)
            reader->stopping = true;
        else
            append(&reader->todo_last, (struct work *)mail);
    }
}

static enum rc turn(struct reader_thread *reader, struct err *err)
{
    bool more = false;
    probe("reader.send");
    enum rc rc = send_todo(reader, err);
    probe("reader.flush");
    if (rc == RC_OK)
        rc = pipeline_flush(reader->db, &more, err);
    probe("reader.sent");
    if (rc != RC_OK)
        return rc;
    struct pollfd fds[2] = {
        {.fd = reader->inbox.fd, .events = POLLIN},
        {.fd = db_socket(reader->db), .events = (short)(POLLIN | (more ? POLLOUT : 0))}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR)
        return RC_OK;
    if (fds[0].revents != 0)
        take_mail(reader);
    return fds[1].revents != 0 ? read_replies(reader, err) : RC_OK;
}

static void *reader_main(void *context)
{
    struct reader_thread *reader = context;
    while (!reader->stopping || reader->todo != NULL || reader->sent != NULL) {
        struct err err = {0};
        if (reader->abandoned) {
            lose_session(reader, &err);
            if (!reader->stopping)
                mailbox_wait(&reader->inbox, -1);
            take_mail(reader);
            continue;
        }
        enum rc rc = reader->db != NULL ? turn(reader, &err) : open_session(reader, &err);
        if (rc == RC_OK)
            continue;
        bool had = reader->db != NULL;
        lose_session(reader, &err);
        if (!had) {
            mailbox_wait(&reader->inbox, 500);
            take_mail(reader);
        }
    }
    return NULL;
}

enum rc reader_start(const char *conninfo, const struct db_server *server, struct mailbox *control,
                     struct reader_thread **ret_reader, struct err *err)
{
    struct reader_thread *reader = xcalloc(1, sizeof *reader);
    reader->todo_last = &reader->todo;
    reader->sent_last = &reader->sent;
    reader->broken_last = &reader->broken;
    reader->control = control;
    reader->conninfo = xstrdup(conninfo);
    reader->server = *server;
    mailbox_init(&reader->inbox);
    (void)pthread_mutex_init(&reader->lock, NULL);
    enum rc rc = open_session(reader, err);
    int failed = rc == RC_OK ? pthread_create(&reader->thread, NULL, reader_main, reader) : 0;
    if (failed != 0)
        rc = err_set(err, RC_FATAL, ERR_INTERNAL, "reader", "Lower --readers.",
                     "cannot start a thread: %s", strerror(failed));
    if (rc == RC_OK) {
        *ret_reader = reader;
        return rc;
    }
    db_close(reader->db);
    db_canceller_free(reader->canceller);
    mailbox_done(&reader->inbox);
    free(reader->conninfo);
    free(reader);
    return rc;
}

void reader_give(struct reader_thread *reader, struct work *work)
{
    work->mail.kind = READER_WORK;
    mailbox_put(&reader->inbox, &work->mail);
}

void reader_cancel(struct reader_thread *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    reader->cancelled = true;
    db_cancel(reader->canceller);
    (void)pthread_mutex_unlock(&reader->lock);
}

void reader_abandon(struct reader_thread *reader)
{
    if (reader == NULL)
        return;
    (void)pthread_mutex_lock(&reader->lock);
    reader->cancelled = reader->abandoned = true;
    db_cancel(reader->canceller);
    db_sever(reader->canceller);
    (void)pthread_mutex_unlock(&reader->lock);
}

int reader_pid(const struct reader_thread *reader)
{
    return reader->pid;
}

void reader_backend(struct reader_thread *reader, int *ret_pid, char ret_start[64])
{
    (void)pthread_mutex_lock(&reader->lock);
    *ret_pid = reader->pid;
    memcpy(ret_start, reader->backend_start, 64);
    (void)pthread_mutex_unlock(&reader->lock);
}

void reader_stop(struct reader_thread *reader)
{
    if (reader == NULL)
        return;
    reader->stop.kind = READER_STOP;
    mailbox_put(&reader->inbox, &reader->stop);
    (void)pthread_join(reader->thread, NULL);
    db_close(reader->db);
    db_canceller_free(reader->canceller);
    mailbox_done(&reader->inbox);
    (void)pthread_mutex_destroy(&reader->lock);
    free(reader->conninfo);
    free(reader);
}

/* The thread and the session of a reader; begin with reader_main(). Its turn is: send (batch_send),
 * flush, sleep until mail or replies come, read (batch_read). batch.c has the tasks in the
 * pipeline, attempt.c runs those that cannot be there, interrupt.c lets control cancel. When the
 * session is lost, the first thing that the next session does is to see that the old one is gone
 * (end_lost). */
#include "reader/state.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/backend.h"
#include "db/canceller.h"
#include "db/diag.h"
#include "db/notification.h"
#include "db/pipeline.h"
#include "db/sqlstate.h"
#include "reader/attempt.h"
#include "reader/fitness.h"
#include "reader/outside.h"
#include "reader/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GONE_AGAIN_MS: a backend that was terminated needs a moment for its rollback. OPEN_*: the first
 * pause is short, because most lost sessions can be replaced at once; a person who repairs a login
 * waits for five seconds at most. */
#define GONE_AGAIN_MS    10  /* until a session that was terminated is asked after again */
#define OPEN_FIRST_MS    250 /* after a session that could not be opened; doubled */
#define OPEN_LAST_MS     5000
#define OPEN_PATIENCE_MS 10000 /* as db_open_on has for the statements before */

void reader_report(struct reader_thread *reader, struct work *work, enum outcome outcome)
{
    if (work->sent.cleans) {
        work_free(work);
        return;
    }
    work_ends(work, outcome);
    if (outcome == OUTCOME_LOST && reader->cancelled && work->end.loss == LOSS_UNDECIDED)
        work_lost(work, LOSS_OWN);
    mailbox_put(reader->control, &work->mail);
}

void reader_return_all(struct reader_thread *reader)
{
    for (struct work *work; (work = works_take(&reader->todo)) != NULL;)
        reader_report(reader, work, OUTCOME_UNSTARTED);
}

static void report_lost(struct reader_thread *reader)
{
    reader->lost_pid = 0;
    for (struct work *work; (work = works_take(&reader->lost)) != NULL;)
        reader_report(reader, work, OUTCOME_LOST);
}

/* The end is known, though not recorded: the next session records it. */
static bool known(const struct work *work)
{
    return work->timed_out || work->end.unrecorded || work->answer != NULL;
}

/* Works that were sent have an unknown outcome; control decides, when the session is gone: the
 * server may not have noticed yet, and may still run them, and neither the next attempt nor another
 * task on this slot may begin while it does.
 *
 * Three kinds of works are in hand then: those whose end is known and not recorded (broken), which
 * the next session records; those that were sent (lost); and those that were not (todo), which are
 * returned unstarted, because control must check the slot before they run on another backend. */
static void lose_session(struct reader_thread *reader, const struct err *why)
{
    if (!reader->abandoned &&
        reader->open_again_ms == 0 && /* else control logs it for all of them */
        outage_must_log(&reader->outage, why, clock_boot_us()))
        log_err(LOG_WARN, "reader_lost", NULL, why);
    (void)reader_session_is(reader, NULL);
    db_close(reader->db);
    reader->db = NULL;
    reader_name_losses(reader, why);
    if (sqlstate_is(why, SQLSTATE_CRASH_SHUTDOWN))
        reader->crash = true;
    reader->bereft = true;
    struct works failed = reader->broken;
    reader->broken = (struct works){0};
    for (struct work *work; (work = works_take(&failed)) != NULL;) {
        /* The answer of a command is not given up: the command would be run once more. */
        bool records = !reader->abandoned && (!reader->gives_up || work->answer != NULL);
        works_add(records && known(work) ? &reader->broken : &reader->lost, work);
    }
    batch_lose(reader);
    if (reader->lost_pid == 0 && (reader->lost.first != NULL || reader->broken.first != NULL)) {
        reader->lost_pid = reader->pid;
        memcpy(reader->lost_start, reader->backend_start, sizeof reader->lost_start);
    }
    if (reader->abandoned) /* the executor that takes over ends the session */
        report_lost(reader);
    reader_return_all(reader);
}

static void take_mail(struct reader_thread *reader)
{
    for (struct mail *mail = thread_take(&reader->thread, &reader->stopping), *next; mail != NULL;
         mail = next) {
        next = mail->next;
        works_add(&reader->todo, (struct work *)mail);
    }
}

/* Ends the lost session from the new one, and waits until it is gone. A backend can outlive its
 * client: the server does not notice a broken line while a statement runs. Were the next attempt to
 * start then, two attempts of a task would run at once (tests/e2e/lost_session.sh). pid and start
 * of the backend name it, so no later session with the same pid is ended. */
static enum rc end_lost(struct reader_thread *reader, struct err *err)
{
    while (reader->lost_pid != 0) {
        DB_RESULT_AUTO *row = NULL;
        enum rc rc =
            reader->abandoned
                ? RC_LOST
                : db_run(reader->db, &sql_reader_gone,
                         (const char *const[]){DB_INT(reader->lost_pid), reader->lost_start}, &row,
                         err);
        if (rc != RC_OK)
            return rc;
        if (db_bool(row, 0, READER_GONE_IS_GONE)) {
            report_lost(reader);
        } else {
            mailbox_wait(&reader->thread.inbox, GONE_AGAIN_MS);
            take_mail(reader);
        }
    }
    return RC_OK;
}

/* The order: first the old session is gone and its works are reported, then works that were
 * assigned for it are returned, and only then may the login be found unfit. A reader that reported
 * before would let the next attempt start next to the old statement. */
static enum rc open_session(struct reader_thread *reader, struct err *err)
{
    struct db *db;
    enum rc rc = db_open_on(reader->conninfo, DB_READER, &reader->server, DB_SAME, &db, err);
    if (rc != RC_OK)
        return rc;
    int64_t lasted_ms;
    if (outage_over(&reader->outage, clock_boot_us(), &lasted_ms))
        log_event(LOG_INFO, "reader_is_back", "lasted_ms", LOG_INT(lasted_ms), NULL);
    reader->db = db;
    bool lives = reader_session_is(reader, db);
    /* A tasks' statement may take as long as it likes; these may not: control waits for them when
     * it starts the readers, and works of a lost session until it is known to be gone. */
    db_patience(db, OPEN_PATIENCE_MS);
    rc = lives ? db_canceller_whole(reader->canceller, err) : RC_LOST;
    if (rc == RC_OK)
        rc = end_lost(reader, err);
    take_mail(reader); /* assigned for the session of before: control does not know this one yet */
    reader_return_all(reader);
    reader->cold = true;
    if (rc == RC_OK)
        rc = fitness_check(reader->db, err);
    db_patience(db, 0);
    return rc == RC_OK ? batch_start(reader, err) : rc;
}

/* Only for speed, and by this thread: only the first task waits for it. */
static enum rc warm(struct reader_thread *reader, struct err *err)
{
    reader->cold = false;
    enum rc rc = pipeline_stop(reader->db, err);
    if (rc == RC_OK && db_run(reader->db, &sql_reader_warm, NULL, NULL, err) == RC_LOST)
        rc = RC_LOST;
    return rc == RC_OK ? pipeline_start(reader->db, err) : rc;
}

/* POLLOUT is asked for only while libpq has unsent data: in nonblocking mode PQflush returns 1
 * then, and must be called again when the socket is writable or readable (libpq manual,
 * Asynchronous Command Processing). Reading meanwhile matters: a server whose replies are not read
 * stops reading, and both sides would wait. */
static enum rc turn(struct reader_thread *reader, struct err *err)
{
    bool more = false;
    probe("reader.send");
    enum rc rc = batch_send(reader, err);
    probe("reader.flush");
    if (rc == RC_OK)
        rc = pipeline_flush(reader->db, &more, err);
    probe("reader.sent");
    if (rc != RC_OK)
        return rc;
    struct pollfd fds[2] = {
        {.fd = reader->thread.inbox.fd, .events = POLLIN},
        {.fd = db_socket(reader->db), .events = (short)(POLLIN | (more ? POLLOUT : 0))}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR)
        return RC_OK;
    if (fds[0].revents != 0)
        take_mail(reader);
    return fds[1].revents != 0 ? batch_read(reader, err) : RC_OK;
}

/* Reads the last replies of the server before the session was cut off. spare.c asks whether one of
 * them was the report of a crash. */
static void read_last_replies(struct reader_thread *reader, struct err *err)
{
    enum pipeline_reply reply;
    struct err failed;
    if (reader->batch.sent.first == NULL || pipeline_read(reader->db, err) != RC_OK)
        return;
    while (pipeline_next(reader->db, &reply, &failed, err) == RC_OK)
        continue;
}

/* Works that arrive meanwhile are returned: control did not know. */
static void wait_cut_off(struct reader_thread *reader, const struct err *why)
{
    (void)pthread_mutex_lock(&reader->lock);
    reader->no_session = *why;
    (void)pthread_mutex_unlock(&reader->lock);
    reader->cut_off = true;
    mailbox_poke(reader->control);
    int64_t until_us = clock_boot_us() + 1000LL * reader->open_again_ms, left_us;
    while (!reader->abandoned && !reader->stopping && (left_us = until_us - clock_boot_us()) > 0) {
        mailbox_wait(&reader->thread.inbox, (int)(left_us / 1000) + 1);
        take_mail(reader);
        reader_return_all(reader);
    }
}

/* Control has assigned nothing since the session before was lost. */
static void opened(struct reader_thread *reader)
{
    reader->open_again_ms = 0;
    reader->cut_off = false;
    reader->bereft = false;
    mailbox_poke(reader->control);
}

static bool has_works(const struct reader_thread *reader)
{
    return reader->todo.first != NULL || reader->batch.sent.first != NULL ||
           reader->broken.first != NULL || reader->lost.first != NULL;
}

/* An abandoned reader opens no session any more. It returns all works, so that the incarnation that
 * ends finds all of its tasks (spare.c), and waits for the order to stop. */
static void *reader_main(void *context)
{
    struct reader_thread *reader = context;
    while (!reader->stopping || has_works(reader)) {
        struct err err = {0};
        if (reader->abandoned) {
            read_last_replies(reader, &err);
            lose_session(reader, &err);
            if (!reader->stopping)
                mailbox_wait(&reader->thread.inbox, -1);
            take_mail(reader);
            continue;
        }
        bool opens = reader->db == NULL;
        enum rc rc = opens          ? open_session(reader, &err)
                     : reader->cold ? warm(reader, &err)
                                    : turn(reader, &err);
        if (rc == RC_OK && opens)
            opened(reader);
        if (rc == RC_OK)
            continue;
        if (opens)
            reader->open_again_ms =
                backoff_next(reader->open_again_ms, OPEN_FIRST_MS, OPEN_LAST_MS);
        lose_session(reader, &err);
        if (opens)
            wait_cut_off(reader, &err);
    }
    return NULL;
}

enum rc reader_start(const char *conninfo, const struct db_server *server,
                     const struct reader_outside *outside, struct mailbox *control,
                     struct reader_thread **ret_reader, struct err *err)
{
    struct reader_thread *reader = xcalloc(1, sizeof *reader);
    reader->batch = (struct batch){.diag = db_diag_new()};
    reader->control = control;
    reader->conninfo = xstrdup(conninfo);
    reader->server = *server;
    reader->outside = *outside;
    action_stop_init(&reader->stop_action);
    (void)pthread_mutex_init(&reader->lock, NULL);
    enum rc rc = open_session(reader, err);
    if (rc == RC_OK)
        rc = thread_start(&reader->thread, "reader", reader_main, reader, err);
    if (rc == RC_OK) {
        *ret_reader = reader;
        return rc;
    }
    db_close(reader->db);
    db_canceller_free(reader->canceller);
    action_stop_done(&reader->stop_action);
    db_diag_free(reader->batch.diag);
    free(reader->conninfo);
    free(reader);
    return rc;
}

void reader_assign(struct reader_thread *reader, struct mail *works)
{
    mailbox_put_all(&reader->thread.inbox, works);
}

bool reader_cut_off(const struct reader_thread *reader)
{
    return reader->cut_off;
}

void reader_cut_off_why(struct reader_thread *reader, struct err *ret_why)
{
    (void)pthread_mutex_lock(&reader->lock);
    *ret_why = reader->no_session;
    (void)pthread_mutex_unlock(&reader->lock);
}

bool reader_bereft(const struct reader_thread *reader)
{
    return reader->bereft;
}

bool reader_saw_crash(const struct reader_thread *reader)
{
    return reader->crash;
}

int reader_pid(const struct reader_thread *reader)
{
    return reader->pid;
}

/* Under the lock, because pid and start must be of the same session. */
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
    thread_stop(&reader->thread);
    db_close(reader->db);
    db_canceller_free(reader->canceller);
    action_stop_done(&reader->stop_action);
    (void)pthread_mutex_destroy(&reader->lock);
    db_diag_free(reader->batch.diag);
    free(reader->conninfo);
    free(reader);
}

/* The thread of the dispatcher. One round: open the session, take its notifications, acquire the
 * lock of dispatch, report the answers of SQL of users, wake triggers whose tables have changed,
 * fire until nothing is due, warn of held rows, keep house; then sleep until the earliest of the
 * next time, news and an order. Each decision is the database's (scheduler/firing.c); this file
 * decides only when to ask, and never runs SQL of users (scheduler/asker.c does). */
#include "scheduler/dispatcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "db/backend.h"
#include "db/notification.h"
#include "scheduler/asker.h"
#include "scheduler/changed.h"
#include "scheduler/firing.h"
#include "scheduler/held.h"
#include "scheduler/house.h"
#include "scheduler/lasting.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

#define STANDBY_MS  2000  /* until the lock is asked for again */
#define PATIENCE_MS 30000 /* a template may have 100,000 tasks */
#define EARLY_MS    150   /* of the end of a long wait */
/* While many schedules are due, a large batch saves commits; the first one is small, because
 * firings become visible only at its commit. */
#define FIRINGS      32 /* of the first transaction; twice as many of the next */
#define FIRINGS_MOST 256
#define HELD_MS      200 /* until an answer that met a held row is reported again */

struct dispatcher {
    struct dispatcher_options options;
    struct thread thread;
    struct lasting session;
    struct asker *asker;  /* NULL: no job has needed SQL of users */
    int asking;           /* asks that are out */
    struct mail *answers; /* asks that have come back and are not reported to the database yet */
    bool check_again;     /* rows have come since they went out, or were on their way */
    bool locked, stopping;
    struct changed changed;
    struct house house;
    struct held held;
    int64_t due_us;   /* by the boot clock: when the next schedule is due; 0: it is not known */
    int64_t round_us; /* and when the next round is due without news */
};

/* While it may have the lock, the session is known to those that end a dead executor's sessions. */
static enum rc note_session(struct dispatcher *dispatcher, const struct sql_statement *stmt,
                            struct err *err)
{
    struct db *db = dispatcher->session.db;
    const char *params[] = {DB_INT(dispatcher->options.executor_no), DB_INT(db_backend_pid(db)),
                            db_backend_start(db)};
    return dispatcher->options.executor_no != 0 ? db_run(db, stmt, params, NULL, err) : RC_OK;
}

/* LISTEN comes before the first question about what is due: a change between the two is notified.
 * In the other order it would be missed until the next sleep ends, up to a minute later. */
static enum rc begin(struct dispatcher *dispatcher, struct err *err)
{
    struct lasting *session = &dispatcher->session;
    if (session->db != NULL)
        return RC_OK;
    enum rc rc = lasting_open(session, err);
    if (rc == RC_OK)
        rc = db_script(session->db, "LISTEN " DISPATCHER_CHANNEL, NULL, err);
    if (rc == RC_OK)
        rc = note_session(dispatcher, &sql_job_session, err);
    return rc == RC_OK ? db_run(session->db, &sql_job_settings, NULL, NULL, err) : rc;
}

static void stand_by(struct dispatcher *dispatcher, bool stands_by)
{
    if (dispatcher->options.stands_by != NULL)
        dispatcher->options.stands_by(dispatcher->options.context, stands_by);
}

/* What was notified before was for another dispatcher, and may be lost with it: all triggers of
 * rows are looked at. *ret_wait_ms: without the lock. */
static enum rc take_over(struct dispatcher *dispatcher, int *ret_wait_ms, struct err *err)
{
    struct db *db = dispatcher->session.db;
    /* Without an owner that polls for us (`scheduler run`), the lock is asked for every two
     * seconds. */
    *ret_wait_ms = STANDBY_MS;
    enum rc rc = firing_lock(db, &dispatcher->locked, err);
    if (rc == RC_OK && dispatcher->locked) {
        log_event(LOG_INFO, "dispatching", "dispatcher", dispatcher->options.who, NULL);
        stand_by(dispatcher, false);
        if (dispatcher->asking > 0) {
            /* Its token is void now. It could keep all SQL of users waiting for ten minutes, so it
             * is cut off: it comes back as lost, and the next ask starts another asker. */
            asker_stop(dispatcher->asker);
            dispatcher->asker = NULL;
        }
        rc = changed_all(&dispatcher->changed, db, err);
    } else if (rc == RC_OK && dispatcher->options.stands_by != NULL) {
        /* In an executor the heartbeat checks whether the lock is free, so 100 executors do not
         * keep 100 idle sessions. The session is closed before the owner learns of it:
         * dispatcher_try may come at once. */
        rc = note_session(dispatcher, &sql_job_session_end, err);
        lasting_close(&dispatcher->session);
        *ret_wait_ms = -1;
        if (rc == RC_OK)
            stand_by(dispatcher, true);
    }
    return rc;
}

/* SQL of users is out, or its result is not reported yet. */
static bool is_asking(const struct dispatcher *dispatcher)
{
    return dispatcher->asking > 0 || dispatcher->answers != NULL;
}

/* A look that is out may have begun before the rows came, and the database leaves it alone.
 * *ret_early: all notifications were of rows, which wait, and nothing else is due. */
static enum rc receive_news(struct dispatcher *dispatcher, bool *ret_early, struct err *err)
{
    bool rows = false, others = false;
    enum rc rc = changed_receive(&dispatcher->changed, dispatcher->session.db, &rows, &others, err);
    dispatcher->check_again |= rows && is_asking(dispatcher);
    /* A busy table wakes this thread at each statement. Without this way out each of them would
     * cost a round with several statements, though its triggers are looked at once a second at
     * most. */
    *ret_early = rc == RC_OK && dispatcher->locked && rows && !others &&
                 dispatcher->answers == NULL && changed_wait_ms(&dispatcher->changed, 1) > 0 &&
                 clock_boot_us() < dispatcher->round_us;
    return rc;
}

/* What has changed while SQL of users was out is looked at once more. */
static enum rc check_again(struct dispatcher *dispatcher, struct err *err)
{
    if (!dispatcher->check_again || is_asking(dispatcher))
        return RC_OK;
    dispatcher->check_again = false;
    return changed_all(&dispatcher->changed, dispatcher->session.db, err);
}

/* Hands it to the asker's thread, which is started for the first one. */
static enum rc hand_over(struct dispatcher *dispatcher, struct ask *ask, struct err *err)
{
    enum rc rc = RC_OK;
    if (ask == NULL)
        return RC_OK;
    bool open = false;
    /* Asked before the look is sent, and so before the look's snapshot: a writer that begins later
     * finds the look under way, and notifies. */
    if (ask->look != NULL)
        rc = changed_open(dispatcher->session.db, ask->token, &open, err);
    dispatcher->check_again |= open;
    if (rc == RC_OK && dispatcher->asker == NULL)
        rc = asker_start(dispatcher->options.task_conninfo, &dispatcher->thread.inbox,
                         &dispatcher->asker, err);
    /* The token stays in the database until it expires or the next dispatcher voids it. The
     * schedule is decided again then. */
    if (rc != RC_OK) {
        free(ask);
        return rc;
    }
    dispatcher->asking++;
    asker_give(dispatcher->asker, ask, &dispatcher->session.server);
    return RC_OK;
}

/* The database hears of the answers that have come. One that meets a held row is kept, and reported
 * again; the others do not wait for it. */
static enum rc answer(struct dispatcher *dispatcher, struct err *err)
{
    struct mail **at = &dispatcher->answers;
    enum rc rc = RC_OK;
    while (rc == RC_OK && *at != NULL) {
        struct mail *mail = *at;
        struct ask *next = NULL;
        rc = firing_report(dispatcher->session.db, &dispatcher->options, (struct ask *)mail, &next,
                           err);
        if (lasting_held(rc, err)) {
            at = &mail->next;
            rc = RC_OK;
        } else if (rc == RC_OK) {
            *at = mail->next;
            free(mail);
            rc = hand_over(dispatcher, next, err);
        }
    }
    return rc;
}

/* What has come back is to be reported, behind what already is. */
static void take_answers(struct dispatcher *dispatcher, struct mail *mails)
{
    struct mail **end = &dispatcher->answers;
    while (*end != NULL)
        end = &(*end)->next;
    *end = mails;
    for (; mails != NULL; mails = mails->next)
        dispatcher->asking--;
}

static void free_answers(struct dispatcher *dispatcher)
{
    struct mail *next;
    for (struct mail *mail = dispatcher->answers; mail != NULL; mail = next) {
        next = mail->next;
        free(mail);
    }
}

/* One round, with the lock or for it. *ret_wait_ms: until the next one. */
static enum rc round_of_jobs(struct dispatcher *dispatcher, int *ret_wait_ms, struct err *err)
{
    bool early = false;
    enum rc rc = begin(dispatcher, err);
    if (rc == RC_OK)
        rc = receive_news(dispatcher, &early, err);
    if (early) {
        int left_ms = (int)((dispatcher->round_us - clock_boot_us()) / 1000) + 1;
        *ret_wait_ms = changed_wait_ms(&dispatcher->changed, left_ms);
        return RC_OK;
    }
    dispatcher->due_us = 0;
    if (rc == RC_OK && !dispatcher->locked)
        rc = take_over(dispatcher, ret_wait_ms, err);
    if (rc != RC_OK || !dispatcher->locked)
        return rc;
    /* Answers come first: a look that is reported makes its trigger due, and the firing loop below
     * then finds it in this round. */
    rc = answer(dispatcher, err);
    if (rc == RC_OK)
        rc = check_again(dispatcher, err);
    if (rc == RC_OK)
        rc = changed_act(&dispatcher->changed, dispatcher->session.db, err);
    int64_t wait_us = -1;
    /* After a loss one firing at a time, until one has succeeded: if it is a firing that ends the
     * session, each try would undo the others of its batch as well. */
    int most = dispatcher->session.backoff_ms != 0 ? 1 : FIRINGS;
    /* An order ends the loop, so that a stop does not wait for a backlog of thousands. The wait is
     * then -1, and there is no wait. */
    while (rc == RC_OK && wait_us < 0 && !thread_has_mail(&dispatcher->thread)) {
        struct ask *ask = NULL;
        struct firing_turn turn = {.asks = dispatcher->asking == 0, .most = most};
        rc = firing_fire(dispatcher->session.db, &dispatcher->options, &turn, &wait_us, &ask, err);
        if (most > 1 && most < FIRINGS_MOST)
            most *= 2;
        if (rc == RC_OK)
            rc = hand_over(dispatcher, ask, err);
    }
    dispatcher->due_us = wait_us < 0 ? 0 : clock_boot_us() + wait_us;
    *ret_wait_ms = wait_us < 0 ? -1 : (int)((wait_us + 999) / 1000);
    if (rc == RC_OK)
        rc = held_check(&dispatcher->held, dispatcher->session.db, *ret_wait_ms, err);
    if (rc == RC_OK)
        rc = house_keep(&dispatcher->house, dispatcher->session.db, dispatcher->options.who,
                        dispatcher->options.keep_log_ms, ret_wait_ms, err);
    /* An answer was kept because another session holds the job's row; no notification comes when it
     * is free. */
    if (dispatcher->answers != NULL && *ret_wait_ms > HELD_MS)
        *ret_wait_ms = HELD_MS;
    *ret_wait_ms = changed_wait_ms(&dispatcher->changed, *ret_wait_ms);
    dispatcher->round_us = clock_boot_us() + *ret_wait_ms * 1000LL;
    if (dispatcher->due_us != 0 && dispatcher->due_us < dispatcher->round_us)
        dispatcher->round_us = dispatcher->due_us;
    return rc;
}

/* The kernel may let a poll last longer than asked, by a two-hundredth for a process of low
 * priority, and by 100 ms at most: so the end of a wait is a short one. It ends in the microsecond
 * in which the next schedule is due: milliseconds, rounded up here and in the database, would be
 * one or two more until a job fires. */
static void sleep_until_news(struct dispatcher *dispatcher, int wait_ms)
{
    struct db *db = dispatcher->session.db;
    /* libpq may have read a notification together with an answer: the socket is then silent
     * although there is news. */
    if (db != NULL && db_notified(db))
        return;
    struct pollfd fds[] = {{.fd = dispatcher->thread.inbox.fd, .events = POLLIN},
                           {.fd = db != NULL ? db_socket(db) : -1, .events = POLLIN}};
    if (wait_ms < 0) {
        (void)poll(fds, 2, -1);
        return;
    }
    int64_t until_us = clock_boot_us() + wait_ms * 1000LL;
    if (dispatcher->due_us != 0 && dispatcher->due_us < until_us)
        until_us = dispatcher->due_us;
    int early_ms = wait_ms / 100 < EARLY_MS ? wait_ms / 100 : EARLY_MS;
    if (early_ms > 0 && poll(fds, 2, wait_ms - early_ms) != 0)
        return;
    int64_t left_us = until_us - clock_boot_us();
    struct timespec left = {left_us / 1000000, left_us % 1000000 * 1000};
    if (left_us > 0)
        (void)ppoll(fds, 2, &left, NULL);
}

static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    struct err err = {0};
    for (;;) {
        int wait_ms;
        take_answers(dispatcher, thread_take(&dispatcher->thread, &dispatcher->stopping));
        if (dispatcher->stopping)
            break;
        if (round_of_jobs(dispatcher, &wait_ms, &err) != RC_OK) {
            /* The lock belongs to the session (PostgreSQL, "Advisory Locks"), and lasting_lost
             * closes the session. */
            dispatcher->locked = false;
            if (lasting_lost(&dispatcher->session, &err))
                log_err(LOG_WARN, "dispatcher_lost", NULL, &err);
            wait_ms = dispatcher->session.backoff_ms;
        } else if (lasting_works(&dispatcher->session)) {
            log_event(LOG_INFO, "dispatcher_is_back", NULL);
        }
        sleep_until_news(dispatcher, wait_ms);
    }
    asker_stop(dispatcher->asker);
    free_answers(dispatcher);
    if (dispatcher->locked)
        /* The statement also notifies the other dispatchers. Without it they would find the free
         * lock up to two seconds later. */
        (void)!db_run(dispatcher->session.db, &sql_job_unlock, NULL, NULL, &err);
    lasting_end(&dispatcher->session);
    return NULL;
}

enum rc dispatcher_start(const struct dispatcher_options *options,
                         struct dispatcher **ret_dispatcher, struct err *err)
{
    struct dispatcher *dispatcher = xcalloc(1, sizeof *dispatcher);
    dispatcher->options = *options;
    lasting_init(&dispatcher->session, options->conninfo, DB_DISPATCHER,
                 options->executor_no != 0 ? DB_SAME : DB_NOT_OLDER, options->server, PATIENCE_MS);
    dispatcher->options.server = NULL; /* only the session knows it from now on */
    enum rc rc = thread_start(&dispatcher->thread, "dispatcher", dispatcher_main, dispatcher, err);
    if (rc == RC_OK) {
        *ret_dispatcher = dispatcher;
        return RC_OK;
    }
    lasting_done(&dispatcher->session);
    free(dispatcher);
    return rc;
}

void dispatcher_try(struct dispatcher *dispatcher)
{
    mailbox_poke(&dispatcher->thread.inbox);
}

void dispatcher_stop(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    lasting_stop(&dispatcher->session, &dispatcher->thread);
    lasting_done(&dispatcher->session);
    held_done(&dispatcher->held);
    free(dispatcher);
}

/* The thread of the dispatcher, and one round of it for a cron of the user's. */
#include "scheduler/dispatcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/thread.h"
#include "db/backend.h"
#include "db/notification.h"
#include "db/sqlstate.h"
#include "metrics/tally.h"
#include "scheduler/asker.h"
#include "scheduler/changed.h"
#include "scheduler/decided.h"
#include "scheduler/house.h"
#include "scheduler/lasting.h"

#include <poll.h>
#include <stdlib.h>

#define STANDBY_MS   2000  /* until the lock is asked for again */
#define LOOK_MS      60000 /* the longest sleep: a notification may be lost */
#define PATIENCE_MS  30000 /* a template may have 100,000 tasks */
#define EARLY_MS     150   /* of the end of a long wait */
#define FIRINGS      32    /* of a transaction, and twice as many of the next while more is due */
#define FIRINGS_MOST 256
#define HELD_MS      200 /* until an answer that met a held row is reported again */

struct dispatcher {
    struct dispatcher_options options;
    struct thread thread;
    struct lasting session;
    struct asker *asker; /* NULL: no job has needed SQL of users */
    bool asking;         /* an ask is out */
    struct ask *answer;  /* it has come back, and the database has not heard of it */
    bool look_again;     /* rows have come since it went out, or were on their way */
    bool locked, stopping;
    struct changed changed;
    struct house house;
    int64_t round_us; /* by the boot clock: when the next round is due without news */
};

static void tell(const struct db_result *rows, int row, int verdict)
{
    bool fired = verdict == JOB_DISPATCH_IS_FIRE, failed = verdict == JOB_DISPATCH_IS_ERROR,
         missed = verdict == JOB_DISPATCH_IS_MISS, skipped = verdict == JOB_DISPATCH_IS_SKIP;
    log_event(failed || missed ? LOG_WARN : LOG_INFO,
              fired     ? "job_fired"
              : failed  ? "job_failed"
              : missed  ? "job_missed"
              : skipped ? "job_skipped"
                        : "job_waits",
              "job", db_text(rows, row, JOB_DISPATCH_JOB), "schedule",
              db_text(rows, row, JOB_DISPATCH_SCHEDULE), "scheduled_for",
              db_text(rows, row, JOB_DISPATCH_SCHEDULED_FOR), "run",
              db_text(rows, row, JOB_DISPATCH_RUN), "reason",
              db_text(rows, row, JOB_DISPATCH_REASON), NULL);
}

static const struct ask_columns DISPATCHED = {JOB_DISPATCH_TOKEN, JOB_DISPATCH_LOOK,
                                              JOB_DISPATCH_MARK, JOB_DISPATCH_QUERY,
                                              JOB_DISPATCH_WORDS};

/* A firing in the tasks' session counts when it has happened there: tell_fired. */
static void count(const struct dispatcher_options *options, const struct db_result *rows, int row,
                  int verdict)
{
    static const struct {
        int verdict;
        enum tally_decision decision;
    } of[] = {{JOB_DISPATCH_IS_FIRE, TALLY_FIRED},
              {JOB_DISPATCH_IS_SKIP, TALLY_SKIPPED},
              {JOB_DISPATCH_IS_MISS, TALLY_MISSED},
              {JOB_DISPATCH_IS_ERROR, TALLY_NOT_FIRED}};
    bool has = !db_null(rows, row, JOB_DISPATCH_LATE_US);
    int64_t late_us = has ? db_int(rows, row, JOB_DISPATCH_LATE_US) : -1;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (verdict == of[i].verdict)
            tally_decided(options->tally, of[i].decision, late_us);
}

/* What was decided. *ret_ask: SQL of users is to be run; otherwise NULL. */
static void decided(const struct dispatcher_options *options, const struct db_result *rows, int row,
                    int verdict, struct ask **ret_ask)
{
    *ret_ask = NULL;
    count(options, rows, row, verdict);
    if (verdict == JOB_DISPATCH_IS_LOOK || verdict == JOB_DISPATCH_IS_ASK)
        *ret_ask = ask_new(rows, row, &DISPATCHED);
    else if (verdict != JOB_DISPATCH_IS_WAIT)
        tell(rows, row, verdict);
}

/* At most most firings. *ret_wait_ms: -1: something was decided, and more may be due; otherwise how
 * long nothing is. *ret_ask: as decided; only if asks. */
static enum rc fire(struct db *db, const struct dispatcher_options *options, bool asks, int most,
                    int *ret_wait_ms, struct ask **ret_ask, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    probe("dispatch.send");
    enum rc rc =
        db_run(db, &sql_job_dispatch,
               (const char *const[]){options->who, asks ? "t" : "f", DB_INT(most)}, &rows, err);
    probe("dispatch.done");
    *ret_ask = NULL;
    if (rc != RC_OK)
        return rc;
    *ret_wait_ms = -1;
    for (int i = 0; i < db_rows(rows) && *ret_ask == NULL; i++) {
        int verdict = db_word(rows, i, JOB_DISPATCH_VERDICT);
        bool known = !db_null(rows, i, JOB_DISPATCH_WAIT_MS);
        int64_t wait_ms = known ? db_int(rows, i, JOB_DISPATCH_WAIT_MS) : LOOK_MS;
        if (verdict >= 0)
            decided(options, rows, i, verdict, ret_ask);
        else
            *ret_wait_ms = wait_ms < LOOK_MS ? (int)wait_ms : LOOK_MS;
    }
    return RC_OK;
}

/* A firing has happened in the tasks' session. */
static void tell_fired(const struct dispatcher_options *options, const struct ask *ask)
{
    if (ask->run[0] == '\0')
        return;
    tally_decided(options->tally, TALLY_FIRED, -1);
    log_event(LOG_INFO, "job_fired", "run", ask->run, NULL);
}

/* Reports what SQL of users has brought. *ret_ask: a look may lead to a firing that asks. */
static enum rc report(struct db *db, const struct dispatcher_options *options,
                      const struct ask *ask, struct ask **ret_ask, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    char why[1200];
    ask_why(ask, why, sizeof why);
    *ret_ask = NULL;
    if (!ask->failed && ask->look == NULL) {
        tell_fired(options, ask);
        return RC_OK;
    }
    enum rc rc;
    if (ask->look != NULL && !ask->again)
        rc = db_run(db, &sql_job_looked,
                    (const char *const[]){options->who, ask->token, ask->failed ? NULL : ask->rows,
                                          ask->oldest[0] != '\0' ? ask->oldest : NULL,
                                          ask->newest[0] != '\0' ? ask->newest : NULL, why},
                    &row, err);
    else
        rc = db_run(db, &sql_job_failed,
                    (const char *const[]){options->who, ask->token, ask->again ? "t" : "f", why},
                    &row, err);
    if (rc == RC_OK)
        decided(options, row, 0, db_word(row, 0, JOB_DISPATCH_VERDICT), ret_ask);
    if (rc == RC_OK && ask->again && !db_null(row, 0, JOB_DISPATCH_JOB))
        tell(row, 0, JOB_DISPATCH_IS_WAIT);
    return rc;
}

static enum rc lock(struct db *db, bool *ret_locked, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_lock, NULL, &row, err);
    *ret_locked = rc == RC_OK && db_bool(row, 0, JOB_LOCK_GRANTED);
    return *ret_locked ? db_run(db, &sql_job_begin, NULL, NULL, err) : rc;
}

/* Until nothing is due. */
static enum rc once(struct db *db, const struct dispatcher_options *options, struct asker *asker,
                    struct err *err)
{
    int wait_ms = -1;
    enum rc rc = RC_OK;
    while (rc == RC_OK && wait_ms < 0) {
        struct ask *ask = NULL, *next;
        rc = fire(db, options, true, 1, &wait_ms, &ask, err);
        while (rc == RC_OK && ask != NULL) {
            asker_run(asker, ask, db_server(db));
            rc = report(db, options, ask, &next, err);
            free(ask);
            ask = next;
        }
    }
    return rc;
}

enum rc dispatcher_once(struct db *db, const struct dispatcher_options *options, bool *ret_held,
                        struct err *err)
{
    bool locked = false;
    enum rc rc = lock(db, &locked, err);
    *ret_held = rc == RC_OK && !locked;
    if (rc != RC_OK || !locked)
        return rc;
    rc = house_cancel_overdue(db, err);
    struct asker *asker = asker_new(options->task_conninfo);
    if (rc == RC_OK)
        rc = once(db, options, asker, err);
    asker_free(asker);
    for (bool more = true; rc == RC_OK && more;)
        rc = house_sweep(db, options->keep_log_ms, &more, err);
    return rc == RC_OK ? db_run(db, &sql_job_unlock, NULL, NULL, err) : rc;
}

/* While it may have the lock, the session is known to those that end a dead executor's sessions. */
static enum rc note_session(struct dispatcher *dispatcher, const struct sql_statement *stmt,
                            struct err *err)
{
    struct db *db = dispatcher->session.db;
    const char *params[] = {DB_INT(dispatcher->options.executor_no), DB_INT(db_backend_pid(db)),
                            db_backend_start(db)};
    return dispatcher->options.executor_no != 0 ? db_run(db, stmt, params, NULL, err) : RC_OK;
}

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
    *ret_wait_ms = STANDBY_MS;
    enum rc rc = lock(db, &dispatcher->locked, err);
    if (rc == RC_OK && dispatcher->locked) {
        log_event(LOG_INFO, "dispatching", "dispatcher", dispatcher->options.who, NULL);
        stand_by(dispatcher, false);
        rc = changed_all(&dispatcher->changed, db, err);
    } else if (rc == RC_OK && dispatcher->options.stands_by != NULL) {
        rc = note_session(dispatcher, &sql_job_session_end, err);
        lasting_close(&dispatcher->session);
        *ret_wait_ms = -1;
        if (rc == RC_OK)
            stand_by(dispatcher, true);
    }
    return rc;
}

/* SQL of users is out, or what it brought is not told yet. */
static bool is_asking(const struct dispatcher *dispatcher)
{
    return dispatcher->asking || dispatcher->answer != NULL;
}

/* A look that is out may have begun before the rows came, and the database leaves it alone.
 * *ret_early: it has heard of nothing but rows, which wait, and nothing else is due. */
static enum rc hear(struct dispatcher *dispatcher, bool *ret_early, struct err *err)
{
    bool rows = false, others = false;
    enum rc rc = changed_hear(&dispatcher->changed, dispatcher->session.db, &rows, &others, err);
    dispatcher->look_again |= rows && is_asking(dispatcher);
    *ret_early = rc == RC_OK && dispatcher->locked && rows && !others &&
                 dispatcher->answer == NULL && changed_wait_ms(&dispatcher->changed, 1) > 0 &&
                 clock_boot_us() < dispatcher->round_us;
    return rc;
}

/* What has changed while SQL of users was out is looked at once more. */
static enum rc look_again(struct dispatcher *dispatcher, struct err *err)
{
    if (!dispatcher->look_again || is_asking(dispatcher))
        return RC_OK;
    dispatcher->look_again = false;
    return changed_all(&dispatcher->changed, dispatcher->session.db, err);
}

/* Hands it to the asker's thread, which is started for the first one. */
static enum rc hand_over(struct dispatcher *dispatcher, struct ask *ask, struct err *err)
{
    enum rc rc = RC_OK;
    if (ask == NULL)
        return RC_OK;
    bool open = false;
    if (ask->look != NULL)
        rc = changed_open(dispatcher->session.db, ask->token, &open, err);
    dispatcher->look_again |= open;
    if (rc == RC_OK && dispatcher->asker == NULL)
        rc = asker_start(dispatcher->options.task_conninfo, &dispatcher->thread.inbox,
                         &dispatcher->asker, err);
    if (rc != RC_OK) {
        free(ask);
        return rc;
    }
    dispatcher->asking = true;
    asker_give(dispatcher->asker, ask, &dispatcher->session.server);
    return RC_OK;
}

/* The database hears of the answer that has come. */
static enum rc answer(struct dispatcher *dispatcher, struct err *err)
{
    struct ask *next = NULL;
    if (dispatcher->answer == NULL)
        return RC_OK;
    enum rc rc =
        report(dispatcher->session.db, &dispatcher->options, dispatcher->answer, &next, err);
    if (rc != RC_OK) /* a row is held: it is reported again */
        return lasting_unless_held(rc, err);
    free(dispatcher->answer);
    dispatcher->answer = NULL;
    return hand_over(dispatcher, next, err);
}

/* One round, with the lock or for it. *ret_wait_ms: until the next one. */
static enum rc round_of_jobs(struct dispatcher *dispatcher, int *ret_wait_ms, struct err *err)
{
    bool early = false;
    enum rc rc = begin(dispatcher, err);
    if (rc == RC_OK)
        rc = hear(dispatcher, &early, err);
    if (early) {
        int left_ms = (int)((dispatcher->round_us - clock_boot_us()) / 1000) + 1;
        *ret_wait_ms = changed_wait_ms(&dispatcher->changed, left_ms);
        return RC_OK;
    }
    if (rc == RC_OK && !dispatcher->locked)
        rc = take_over(dispatcher, ret_wait_ms, err);
    if (rc != RC_OK || !dispatcher->locked)
        return rc;
    rc = answer(dispatcher, err);
    if (rc == RC_OK)
        rc = changed_act(&dispatcher->changed, dispatcher->session.db, err);
    if (rc == RC_OK)
        rc = look_again(dispatcher, err);
    *ret_wait_ms = -1;
    int most = dispatcher->session.backoff_ms != 0 ? 1 : FIRINGS;
    while (rc == RC_OK && *ret_wait_ms < 0 && !thread_has_mail(&dispatcher->thread)) {
        struct ask *ask = NULL;
        rc = fire(dispatcher->session.db, &dispatcher->options, !dispatcher->asking, most,
                  ret_wait_ms, &ask, err);
        if (most > 1 && most < FIRINGS_MOST)
            most *= 2;
        if (rc == RC_OK)
            rc = hand_over(dispatcher, ask, err);
    }
    if (rc == RC_OK)
        rc = house_keep(&dispatcher->house, dispatcher->session.db, dispatcher->options.who,
                        dispatcher->options.keep_log_ms, ret_wait_ms, err);
    if (dispatcher->answer != NULL && *ret_wait_ms > HELD_MS)
        *ret_wait_ms = HELD_MS;
    *ret_wait_ms = changed_wait_ms(&dispatcher->changed, *ret_wait_ms);
    dispatcher->round_us = clock_boot_us() + *ret_wait_ms * 1000LL;
    return rc;
}

/* The kernel may let a poll last longer than asked, by a two-hundredth for a process of low
 * priority, and by 100 ms at most: so the end of a wait is a short one. */
static void sleep_until_news(struct dispatcher *dispatcher, int wait_ms)
{
    struct db *db = dispatcher->session.db;
    if (db != NULL && db_notified(db))
        return;
    struct pollfd fds[] = {{.fd = dispatcher->thread.inbox.fd, .events = POLLIN},
                           {.fd = db != NULL ? db_socket(db) : -1, .events = POLLIN}};
    int64_t until_us = clock_boot_us() + wait_ms * 1000LL;
    int early_ms = wait_ms / 100 < EARLY_MS ? wait_ms / 100 : EARLY_MS;
    if (poll(fds, 2, wait_ms - early_ms) != 0 || early_ms <= 0)
        return;
    int64_t left_us = until_us - clock_boot_us();
    if (left_us > 0)
        (void)poll(fds, 2, (int)(left_us / 1000) + 1);
}

static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    struct err err = {0};
    for (;;) {
        int wait_ms;
        struct mail *mail = thread_take(&dispatcher->thread, &dispatcher->stopping);
        if (mail != NULL) { /* one ask is out at a time */
            dispatcher->asking = false;
            free(dispatcher->answer);
            dispatcher->answer = (struct ask *)mail;
        }
        if (dispatcher->stopping)
            break;
        if (round_of_jobs(dispatcher, &wait_ms, &err) != RC_OK) {
            dispatcher->locked = false;
            if (lasting_lost(&dispatcher->session))
                log_err(LOG_WARN, "dispatcher_lost", NULL, &err);
            wait_ms = dispatcher->session.backoff_ms;
        } else if (lasting_works(&dispatcher->session)) {
            log_event(LOG_INFO, "dispatcher_is_back", NULL);
        }
        sleep_until_news(dispatcher, wait_ms);
    }
    asker_stop(dispatcher->asker);
    free(dispatcher->answer);
    if (dispatcher->locked)
        (void)!db_run(dispatcher->session.db, &sql_job_unlock, NULL, NULL, &err);
    lasting_close(&dispatcher->session);
    return NULL;
}

enum rc dispatcher_start(const struct dispatcher_options *options,
                         struct dispatcher **ret_dispatcher, struct err *err)
{
    struct dispatcher *dispatcher = xcalloc(1, sizeof *dispatcher);
    dispatcher->options = *options;
    dispatcher->session =
        (struct lasting){.conninfo = options->conninfo,
                         .role = DB_DISPATCHER,
                         .match = options->executor_no != 0 ? DB_SAME : DB_NOT_OLDER,
                         .server = *options->server,
                         .patience_ms = PATIENCE_MS};
    dispatcher->options.server = NULL; /* only the session knows it from now on */
    enum rc rc = thread_start(&dispatcher->thread, "dispatcher", dispatcher_main, dispatcher, err);
    if (rc == RC_OK) {
        *ret_dispatcher = dispatcher;
        return RC_OK;
    }
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
    thread_stop(&dispatcher->thread);
    free(dispatcher);
}

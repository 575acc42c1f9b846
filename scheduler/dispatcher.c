/* The thread of the dispatcher, and one round of it for whoever has a cron of his own. */
#include "scheduler/dispatcher.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/str.h"
#include "base/thread.h"
#include "db/backend.h"
#include "db/notification.h"
#include "scheduler/look.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define STANDBY_MS       2000  /* until the lock is asked for again */
#define LOOK_MS          60000 /* the longest sleep: a notification may be lost */
#define PATIENCE_MS      30000 /* a template may have 100,000 tasks */
#define BATCH            1000  /* rows that job_sweep deletes at most of each table */
#define BACKOFF_FIRST_MS 250
#define BACKOFF_LAST_MS  5000

struct dispatcher {
    const char *conninfo, *who;
    struct db_server server;
    int executor_no;
    int64_t keep_log_ms;
    struct thread thread;
    struct db *db; /* NULL: lost, or not open yet */
    bool locked, stopping;
    int backoff_ms;   /* 0: nothing is wrong */
    int64_t house_us; /* when house is kept again */
};

static void tell(const struct db_result *row, int verdict)
{
    bool fired = verdict == JOB_DISPATCH_IS_FIRE, failed = verdict == JOB_DISPATCH_IS_ERROR,
         missed = verdict == JOB_DISPATCH_IS_MISS, skipped = verdict == JOB_DISPATCH_IS_SKIP;
    log_event(failed || missed ? LOG_WARN : LOG_INFO,
              fired     ? "job_fired"
              : failed  ? "job_failed"
              : missed  ? "job_missed"
              : skipped ? "job_skipped"
                        : "job_waits",
              "job", db_text(row, 0, JOB_DISPATCH_JOB), "schedule",
              db_text(row, 0, JOB_DISPATCH_SCHEDULE), "scheduled_for",
              db_text(row, 0, JOB_DISPATCH_SCHEDULED_FOR), "run", db_text(row, 0, JOB_DISPATCH_RUN),
              "reason", db_text(row, 0, JOB_DISPATCH_REASON), NULL);
}

/* One firing. *ret_wait_ms: -1: something was decided, and more may be due; otherwise how long nothing is. */
static enum rc fire(struct db *db, const char *who, int *ret_wait_ms, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    probe("dispatch.send");
    enum rc rc = db_run(db, &sql_job_dispatch, (const char *const[]){who}, &row, err);
    probe("dispatch.done");
    if (rc != RC_OK)
        return rc;
    int verdict = db_word(row, 0, JOB_DISPATCH_VERDICT);
    if (verdict >= 0) {
        *ret_wait_ms = -1;
        if (verdict != JOB_DISPATCH_IS_WAIT)
            tell(row, verdict);
        return RC_OK;
    }
    bool known = !db_null(row, 0, JOB_DISPATCH_WAIT_MS);
    int64_t wait_ms = known ? db_int(row, 0, JOB_DISPATCH_WAIT_MS) : LOOK_MS;
    *ret_wait_ms = wait_ms < LOOK_MS ? (int)wait_ms : LOOK_MS;
    return RC_OK;
}

static enum rc cancel_overdue(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_overdue, NULL, &row, err);
    if (rc == RC_OK && db_int(row, 0, JOB_OVERDUE_CANCELLED) > 0)
        log_event(LOG_WARN, "job_runs_cancelled", "runs", db_text(row, 0, JOB_OVERDUE_CANCELLED),
                  NULL);
    return rc;
}

/* What is done once a minute. */
static enum rc keep_house(struct db *db, const char *who, int64_t keep_log_ms, struct err *err)
{
    enum rc rc = cancel_overdue(db, err);
    if (rc == RC_OK)
        rc = monitor_look(db, who, LOOK_MS, err);
    for (int64_t deleted = BATCH; rc == RC_OK && deleted >= BATCH;) {
        DB_RESULT_AUTO *row = NULL;
        rc = db_run(db, &sql_job_sweep, (const char *const[]){DB_INT(keep_log_ms)}, &row, err);
        deleted = rc == RC_OK ? db_int(row, 0, JOB_SWEEP_DELETED) : 0;
    }
    return rc;
}

static enum rc lock(struct db *db, bool *ret_locked, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_lock, NULL, &row, err);
    *ret_locked = rc == RC_OK && db_bool(row, 0, JOB_LOCK_GRANTED);
    return rc;
}

enum rc dispatcher_once(struct db *db, const char *who, int64_t keep_log_ms, bool *ret_held,
                        struct err *err)
{
    bool locked = false;
    int wait_ms = -1;
    enum rc rc = lock(db, &locked, err);
    *ret_held = rc == RC_OK && !locked;
    if (rc != RC_OK || !locked)
        return rc;
    rc = keep_house(db, who, keep_log_ms, err);
    while (rc == RC_OK && wait_ms < 0)
        rc = fire(db, who, &wait_ms, err);
    return rc == RC_OK ? db_run(db, &sql_job_unlock, NULL, NULL, err) : rc;
}

static enum rc session_open(struct dispatcher *dispatcher, struct err *err)
{
    enum rc rc = db_open_on(dispatcher->conninfo, DB_DISPATCHER, &dispatcher->server, DB_SAME,
                            &dispatcher->db, err);
    if (rc != RC_OK)
        return rc;
    db_patience(dispatcher->db, PATIENCE_MS);
    rc = db_script(dispatcher->db, "LISTEN " DISPATCHER_CHANNEL, NULL, err);
    if (rc == RC_OK && dispatcher->executor_no != 0)
        rc = db_run(dispatcher->db, &sql_job_session,
                    (const char *const[]){DB_INT(dispatcher->executor_no),
                                          DB_INT(db_backend_pid(dispatcher->db)),
                                          db_backend_start(dispatcher->db)},
                    NULL, err);
    return rc == RC_OK ? db_run(dispatcher->db, &sql_job_settings, NULL, NULL, err) : rc;
}

/* What was heard is not looked at: whatever it says, the rows are. */
static enum rc hear(struct db *db, struct err *err)
{
    const char *channel, *payload;
    enum rc rc = RC_OK;
    while (rc == RC_OK)
        rc = db_notification(db, &channel, &payload, err);
    return rc == RC_NONE ? RC_OK : rc;
}

/* One round, with the lock or for it. *ret_wait_ms: until the next one. */
static enum rc round_of_jobs(struct dispatcher *dispatcher, int *ret_wait_ms, struct err *err)
{
    *ret_wait_ms = STANDBY_MS;
    enum rc rc = dispatcher->db == NULL ? session_open(dispatcher, err) : RC_OK;
    if (rc == RC_OK)
        rc = hear(dispatcher->db, err);
    if (rc == RC_OK && !dispatcher->locked) {
        rc = lock(dispatcher->db, &dispatcher->locked, err);
        if (rc == RC_OK && dispatcher->locked)
            log_event(LOG_INFO, "dispatching", "dispatcher", dispatcher->who, NULL);
    }
    if (rc != RC_OK || !dispatcher->locked)
        return rc;
    if (clock_boot_us() >= dispatcher->house_us) {
        rc = keep_house(dispatcher->db, dispatcher->who, dispatcher->keep_log_ms, err);
        dispatcher->house_us = clock_boot_us() + LOOK_MS * 1000LL;
    }
    *ret_wait_ms = -1;
    while (rc == RC_OK && *ret_wait_ms < 0 && !thread_has_mail(&dispatcher->thread))
        rc = fire(dispatcher->db, dispatcher->who, ret_wait_ms, err);
    return rc;
}

static void session_lost(struct dispatcher *dispatcher, const struct err *why)
{
    if (dispatcher->backoff_ms == 0)
        log_err(LOG_WARN, "dispatcher_lost", NULL, why);
    dispatcher->backoff_ms =
        backoff_next(dispatcher->backoff_ms, BACKOFF_FIRST_MS, BACKOFF_LAST_MS);
    db_close(dispatcher->db);
    dispatcher->db = NULL;
    dispatcher->locked = false;
}

static void sleep_until_news(struct dispatcher *dispatcher, int wait_ms)
{
    if (dispatcher->db != NULL && db_notified(dispatcher->db))
        return;
    struct pollfd fds[] = {
        {.fd = dispatcher->thread.inbox.fd, .events = POLLIN},
        {.fd = dispatcher->db != NULL ? db_socket(dispatcher->db) : -1, .events = POLLIN}};
    (void)poll(fds, 2, wait_ms);
}

static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    struct err err = {0};
    for (;;) {
        int wait_ms;
        (void)thread_take(&dispatcher->thread, &dispatcher->stopping);
        if (dispatcher->stopping)
            break;
        if (round_of_jobs(dispatcher, &wait_ms, &err) != RC_OK) {
            session_lost(dispatcher, &err);
            wait_ms = dispatcher->backoff_ms;
        } else if (dispatcher->backoff_ms != 0) {
            dispatcher->backoff_ms = 0;
            log_event(LOG_INFO, "dispatcher_is_back", NULL);
        }
        sleep_until_news(dispatcher, wait_ms);
    }
    if (dispatcher->locked)
        (void)!db_run(dispatcher->db, &sql_job_unlock, NULL, NULL, &err);
    db_close(dispatcher->db);
    return NULL;
}

enum rc dispatcher_start(const char *conninfo, const struct db_server *server, int executor_no,
                         const char *who, int64_t keep_log_ms, struct dispatcher **ret_dispatcher,
                         struct err *err)
{
    struct dispatcher *dispatcher = xcalloc(1, sizeof *dispatcher);
    *dispatcher = (struct dispatcher){.conninfo = conninfo,
                                      .server = *server,
                                      .executor_no = executor_no,
                                      .who = who,
                                      .keep_log_ms = keep_log_ms};
    enum rc rc = thread_start(&dispatcher->thread, "dispatcher", dispatcher_main, dispatcher, err);
    if (rc == RC_OK) {
        *ret_dispatcher = dispatcher;
        return RC_OK;
    }
    free(dispatcher);
    return rc;
}

void dispatcher_stop(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    thread_stop(&dispatcher->thread);
    free(dispatcher);
}

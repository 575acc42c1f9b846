/* Waits for the outcome of a run that is published already; begin with publishing_wait(). The
 * publisher holds no lock any more, and an interrupt ends the waiting and not the run. */
#include "producer/publishing.h"

#include "base/clock.h"
#include "base/remedies.h"
#include "db/notification.h"
#include "producer/blocked.h"
#include "task/stalled.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define STATUS_SIZE     32
#define READ_EVERY_MS   1000  /* in case a notification was lost with its session */
#define RECONNECT_MS    60000 /* a restart or a fail-over of the server */
#define RECONNECT_EVERY 1000
#define CHECK_EVERY_US  10000000 /* why no executor has met the run yet */

struct waiting {
    struct publishing *p;
    char *status;     /* of the run, as last seen */
    int64_t until_us; /* -1: for ever */
    int64_t check_us; /* when to search for a transaction that hides the run; -1: not again */
    bool reconnected;
    int64_t run_no; /* 0: not known yet, or not any more */
    struct stalled stalled;
};

/** RC_NONE: not ended yet. The end is flushed to the disk of the server before it is reported: a
 * crash of a server with synchronous_commit=off would otherwise undo an end that the caller has
 * seen. */
static enum rc read_outcome(struct waiting *w, struct err *err)
{
    DB_RESULT_AUTO *outcome = NULL;
    const char *run = w->p->run.id;
    struct db *db = w->p->session.db;
    const char *const params[] = {DB_INT(w->p->target.queue_id), run};
    enum rc rc = db_run(db, &sql_publish_outcome, params, &outcome, err);
    /* A fail-over may have lost its row: its first claim makes it again. */
    if (rc == RC_NONE && w->reconnected)
        return RC_NONE;
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, run, NULL,
                       "the run is not there any more: somebody deleted it");
    if (rc != RC_OK)
        return rc;
    const char *status = db_text(outcome, 0, PUBLISH_OUTCOME_STATUS),
               *reason = db_text(outcome, 0, PUBLISH_OUTCOME_ERROR);
    (void)snprintf(w->status, STATUS_SIZE, "%s", status);
    w->run_no = db_int(outcome, 0, PUBLISH_OUTCOME_RUN_NO);
    if (!db_bool(outcome, 0, PUBLISH_OUTCOME_HAS_ENDED))
        return RC_NONE;
    rc = db_run(db, &sql_session_flush, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    if (db_word(outcome, 0, PUBLISH_OUTCOME_STATUS) == PUBLISH_OUTCOME_IS_COMPLETED)
        return RC_OK;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_FAILED, run);
    return err_set(err, RC_REJECT, ERR_FAILED, run, hint, "the run ended as %s%s%s", status,
                   reason[0] != '\0' ? ": " : "", reason);
}

/** Until a notification, or READ_EVERY_MS, whichever is first. */
static enum rc await_news(const struct waiting *w, struct err *err)
{
    struct db *db = w->p->session.db;
    const char *channel, *payload;
    enum rc rc = db_notification(db, &channel, &payload, err);
    if (rc == RC_NONE) {
        int left_ms = w->until_us >= 0 ? clock_left_ms(w->until_us) : READ_EVERY_MS;
        struct pollfd input = {.fd = db_socket(db), .events = POLLIN};
        (void)poll(&input, 1, left_ms < READ_EVERY_MS ? left_ms : READ_EVERY_MS);
        rc = db_notification(db, &channel, &payload, err);
    }
    while (rc == RC_OK) /* what they say is read from the row */
        rc = db_notification(db, &channel, &payload, err);
    return rc == RC_NONE ? RC_OK : rc;
}

static enum rc listen(const struct publishing *p, struct err *err)
{
    return db_run(p->session.db, &sql_publish_listen,
                  (const char *const[]){DB_INT(p->target.queue_id)}, NULL, err);
}

/** All is published: it is only the waiting that an interrupt ends. */
static enum rc interrupted(const struct waiting *w, struct err *err)
{
    enum rc rc = progress_cancelled(&w->p->progress, err);
    char hint[120];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_WATCH, w->p->run.id);
    return rc == RC_OK ? rc
                       : err_set(err, rc, ERR_CANCELLED, w->p->run.id, hint,
                                 "the waiting was interrupted; the run is %s", w->status);
}

/** The run does not need us, so a lost session is only a reason to ask again. */
static enum rc reconnect(struct waiting *w, struct err *err)
{
    struct session *session = &w->p->session;
    int64_t until_us = clock_boot_us() + (int64_t)RECONNECT_MS * 1000;
    w->reconnected = true;
    w->run_no = 0;
    for (;;) {
        session_close(session);
        enum rc rc = session_open(session, w->p->options->conninfo, err);
        if (rc == RC_OK)
            rc = listen(w->p, err);
        if ((rc != RC_LOST && rc != RC_RETRY) || clock_boot_us() >= until_us)
            return rc;
        rc = interrupted(w, err);
        if (rc != RC_OK)
            return rc;
        (void)poll(NULL, 0, RECONNECT_EVERY);
    }
}

/** A run that no executor has met may be hidden from them by an open transaction, which is reported
 * once. */
static void check_hidden(struct waiting *w)
{
    const struct publishing *p = w->p;
    struct kafka_open_transaction open;
    struct err ignored;
    int64_t now_us = clock_boot_us();
    if (w->check_us < 0 || now_us < w->check_us || strncmp(w->status, "Publish", 7) != 0)
        return;
    w->check_us = now_us + CHECK_EVERY_US;
    if (blocked_check(&p->target, &open, &ignored) != RC_OK || open.offset > p->records.last_offset)
        return;
    blocked_report(&p->target, &p->progress, &open);
    w->check_us = -1;
}

/** Without progress for a while: why. */
static enum rc check_stalled(struct waiting *w, struct err *err)
{
    enum rc rc =
        w->run_no > 0 ? stalled_check(&w->stalled, w->p->session.db, w->run_no, err) : RC_NONE;
    if (rc == RC_OK)
        progress_notice(&w->p->progress, "%s", w->stalled.sentence);
    return rc == RC_NONE ? RC_OK : rc;
}

static enum rc timed_out(const struct waiting *w, struct err *err)
{
    char hint[120];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_WATCH, w->p->run.id);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, w->p->run.id, hint,
                   "the run has not ended within %d ms; it is %s", w->p->options->wait_timeout_ms,
                   w->status);
}

/** One round of the wait for a run that has not ended: report, check the limits, then await the
 * next notification. RC_OK: read its row again. */
static enum rc wait_on(struct waiting *w, struct err *err)
{
    progress_report(&w->p->progress, w->status);
    check_hidden(w);
    if (w->until_us >= 0 && clock_boot_us() >= w->until_us)
        return timed_out(w, err);
    enum rc rc = interrupted(w, err);
    if (rc == RC_OK)
        rc = check_stalled(w, err);
    return rc == RC_OK ? await_news(w, err) : rc;
}

enum rc publishing_wait(struct publishing *p, char ret_status[STATUS_SIZE], struct err *err)
{
    int timeout_ms = p->options->wait_timeout_ms;
    int64_t now_us = clock_boot_us();
    struct waiting w = {.p = p,
                        .status = ret_status,
                        .until_us = timeout_ms >= 0 ? now_us + (int64_t)timeout_ms * 1000 : -1,
                        .check_us = now_us + CHECK_EVERY_US};
    progress_stage(&p->progress, PUBLISH_WAITING);
    /* before the first read: the end of a run between the two would be noticed READ_EVERY_MS late
     */
    enum rc rc = listen(p, err);
    for (;;) {
        if (rc == RC_OK)
            rc = read_outcome(&w, err);
        bool ended = rc != RC_NONE;
        if (!ended)
            rc = wait_on(&w, err);
        if (rc == RC_LOST)
            rc = reconnect(&w, err);
        else if (ended || rc != RC_OK)
            return rc;
    }
}

#include "producer/publishing.h"

#include "base/clock.h"
#include "base/remedies.h"
#include "task/stalled.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define READ_EVERY_MS   1000  /* in case a notification was lost with its session */
#define RECONNECT_MS    60000 /* a restart or a fail-over of the server */
#define RECONNECT_EVERY 1000
#define LOOK_EVERY_US   10000000 /* why no executor has met the run yet */

/** RC_NONE: not ended yet. What is told as ended has been made durable before. */
static enum rc read_outcome(struct publishing *p, bool reconnected, int64_t *ret_run_no,
                            struct err *err)
{
    DB_RESULT_AUTO *outcome = NULL;
    const char *const params[] = {DB_INT(p->queue_id), p->run};
    enum rc rc = db_run(p->db, &sql_publish_outcome, params, &outcome, err);
    if (rc == RC_NONE &&
        reconnected) /* a fail-over may have lost its row: its first claim makes it again */
        return RC_NONE;
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, p->run, NULL,
                       "The run is not there any more: somebody deleted it.");
    if (rc != RC_OK)
        return rc;
    const char *status = db_text(outcome, 0, PUBLISH_OUTCOME_STATUS),
               *reason = db_text(outcome, 0, PUBLISH_OUTCOME_ERROR);
    (void)snprintf(p->result->status, sizeof p->result->status, "%s", status);
    *ret_run_no = db_int(outcome, 0, PUBLISH_OUTCOME_RUN_NO);
    if (!db_bool(outcome, 0, PUBLISH_OUTCOME_HAS_ENDED))
        return RC_NONE;
    rc = db_run(p->db, &sql_session_flush, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    if (strcmp(status, "Completed") == 0)
        return RC_OK;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_FAILED, p->run);
    return err_set(err, RC_REJECT, ERR_FAILED, p->run, hint, "The run ended as %s%s%s", status,
                   reason[0] != '\0' ? ": " : ".", reason);
}

/** Until a notification, or READ_EVERY_MS, whichever is first. */
static enum rc await_news(struct publishing *p, int64_t until_us, struct err *err)
{
    const char *channel, *payload;
    enum rc rc = db_notification(p->db, &channel, &payload, err);
    if (rc == RC_NONE) {
        int left_ms = until_us >= 0 ? clock_left_ms(until_us) : READ_EVERY_MS;
        struct pollfd input = {.fd = db_socket(p->db), .events = POLLIN};
        (void)poll(&input, 1, left_ms < READ_EVERY_MS ? left_ms : READ_EVERY_MS);
        rc = db_notification(p->db, &channel, &payload, err);
    }
    while (rc == RC_OK) /* what they say is read from the row */
        rc = db_notification(p->db, &channel, &payload, err);
    return rc == RC_NONE ? RC_OK : rc;
}

static enum rc listen(struct publishing *p, struct err *err)
{
    return db_run(p->db, &sql_publish_listen, (const char *const[]){DB_INT(p->queue_id)}, NULL,
                  err);
}

/** All is published: it is only the waiting that an interrupt ends. */
static enum rc interrupted(const struct publishing *p, struct err *err)
{
    enum rc rc = tick_cancelled(p, err);
    char hint[120];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_WATCH, p->run);
    return rc == RC_OK ? rc
                       : err_set(err, rc, ERR_CANCELLED, p->run, hint,
                                 "The waiting was interrupted; the run is %s.", p->result->status);
}

/** The run does not need us, so a lost session is only a reason to ask anew. */
static enum rc reconnect(struct publishing *p, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)RECONNECT_MS * 1000;
    for (;;) {
        db_close(p->db);
        p->db = NULL;
        enum rc rc = db_open(p->options->conninfo, DB_PRODUCER, &p->db, err);
        if (rc == RC_OK)
            rc = listen(p, err);
        if ((rc != RC_LOST && rc != RC_RETRY) || clock_boot_us() >= until_us)
            return rc;
        rc = interrupted(p, err);
        if (rc != RC_OK)
            return rc;
        (void)poll(NULL, 0, RECONNECT_EVERY);
    }
}

/** A run that no executor has met may be hidden from them by an open transaction, which is told of once. */
static void look_why(struct publishing *p, int64_t *look_us)
{
    struct kafka_open_transaction open;
    struct err ignored;
    int64_t now_us = clock_boot_us();
    if (*look_us < 0 || now_us < *look_us || strncmp(p->result->status, "Publish", 7) != 0)
        return;
    *look_us = now_us + LOOK_EVERY_US;
    if (blocked_look(p, &open, &ignored) != RC_OK || open.offset > p->result->last_offset)
        return;
    blocked_tell(p, &open);
    *look_us = -1;
}

/** Without progress for a while: why. */
static enum rc look_stalled(struct publishing *p, struct stalled *stalled, int64_t run_no,
                            struct err *err)
{
    enum rc rc = run_no > 0 ? stalled_look(stalled, p->db, run_no, err) : RC_NONE;
    if (rc == RC_OK)
        publish_notice(p, "%s", stalled->sentence);
    return rc == RC_NONE ? RC_OK : rc;
}

static enum rc timed_out(const struct publishing *p, struct err *err)
{
    char hint[120];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_WATCH, p->run);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, p->run, hint,
                   "The run has not ended within %d ms; it is %s.", p->options->wait_timeout_ms,
                   p->result->status);
}

enum rc publishing_wait(struct publishing *p, struct err *err)
{
    int timeout_ms = p->options->wait_timeout_ms;
    int64_t until_us = timeout_ms >= 0 ? clock_boot_us() + (int64_t)timeout_ms * 1000 : -1;
    int64_t look_us = clock_boot_us() + LOOK_EVERY_US;
    bool reconnected = false;
    struct stalled stalled = {0};
    int64_t run_no = 0;
    tick_stage(p, PUBLISH_WAITING);
    enum rc rc = listen(p, err); /* before the first look, so that nothing falls between */
    for (;;) {
        if (rc == RC_OK)
            rc = read_outcome(p, reconnected, &run_no, err);
        if (rc == RC_NONE) {
            tick_progress(p, p->result->status);
            look_why(p, &look_us);
            if (until_us >= 0 && clock_boot_us() >= until_us)
                return timed_out(p, err);
            rc = interrupted(p, err);
            if (rc == RC_OK)
                rc = look_stalled(p, &stalled, run_no, err);
            if (rc == RC_OK)
                rc = await_news(p, until_us, err);
            if (rc == RC_OK)
                continue;
        }
        if (rc != RC_LOST)
            return rc;
        run_no = 0;
        rc = reconnect(p, err);
        reconnected = true;
    }
}

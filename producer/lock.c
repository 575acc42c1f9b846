#include "producer/publishing.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

#include <poll.h>

#define TRY_EVERY_MS                                                                               \
    50 /* in the client: a lock call that waits in the server would hold back vacuum */

static enum rc held(struct publishing *p, struct err *err)
{
    DB_RESULT_AUTO *holder = NULL;
    struct err ignored;
    const char *name = p->options->queue;
    const char *hint =
        "Publish again when it has finished: the lock is free as soon as its session "
        "ends";
    if (db_run(p->db, &sql_publish_holder, (const char *const[]){DB_INT(p->queue_id)}, &holder,
               &ignored) != RC_OK)
        return err_set(err, RC_RETRY, ERR_HELD, name, hint,
                       "Another producer is publishing to this queue.");
    return err_set(
        err, RC_RETRY, ERR_HELD, name, hint,
        "Another producer is publishing to this queue: user %s from %s, backend %s, "
        "connected since %s.",
        db_text(holder, 0, PUBLISH_HOLDER_USENAME), db_text(holder, 0, PUBLISH_HOLDER_ADDRESS),
        db_text(holder, 0, PUBLISH_HOLDER_PID), db_text(holder, 0, PUBLISH_HOLDER_SINCE));
}

enum rc publishing_lock(struct publishing *p, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)p->options->lock_wait_ms * 1000;
    tick_stage(p, PUBLISH_LOCKING);
    probe("publish.locking");
    for (;;) {
        DB_RESULT_AUTO *got = NULL;
        enum rc rc =
            db_run(p->db, &sql_publish_lock, (const char *const[]){DB_INT(p->queue_id)}, &got, err);
        if (rc != RC_OK)
            return rc;
        p->locked = db_bool(got, 0, PUBLISH_LOCK_GRANTED);
        if (p->locked) {
            probe("publish.locked");
            return RC_OK;
        }
        if (clock_boot_us() >= until_us)
            return held(p, err);
        rc = tick_cancelled(p, err);
        if (rc != RC_OK)
            return rc;
        tick_progress(p, "");
        (void)poll(NULL, 0, TRY_EVERY_MS);
    }
}

void publishing_unlock(struct publishing *p)
{
    if (!p->locked)
        return;
    p->locked = false;
    DB_RESULT_AUTO *gone = NULL;
    struct err err;
    enum rc rc =
        db_run(p->db, &sql_publish_unlock, (const char *const[]){DB_INT(p->queue_id)}, &gone, &err);
    if (rc != RC_OK)
        log_err(LOG_WARN, "publish_unlock_failed", p->options->queue, &err);
    else if (!db_bool(gone, 0, PUBLISH_UNLOCK_HELD))
        log_event(LOG_WARN, "publish_unlock_failed", "queue", p->options->queue, "error",
                  "the lock was not held", NULL);
}

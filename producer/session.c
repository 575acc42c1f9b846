/* The session of the publisher and its lock. The lock is an advisory lock of the session
 * (PostgreSQL, Explicit Locking), so it ends with the session, also when this process is killed.
 * Each commit of Kafka is preceded by a question on this session (session_check). The lock alone
 * does not fence: a publisher that lost it may still send, until its successor opens the same
 * transactional id (transaction.c). */
#include "producer/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

#include <poll.h>

/* The client tries again and again: a lock call that waits in the server keeps a snapshot, which
 * would hold back vacuum. */
#define TRY_EVERY_MS 50

enum rc session_open(struct session *session, const char *conninfo, struct err *err)
{
    return db_open(conninfo, DB_PRODUCER, &session->db, err);
}

struct session session_borrowed(struct db *db)
{
    return (struct session){.db = db, .locked = true};
}

void session_close(struct session *session)
{
    db_close(session->db);
    *session = (struct session){0};
}

/** The holder may end between the try and this query. Then the error names no holder. */
static enum rc held(const struct session *session, const struct target *target, struct err *err)
{
    DB_RESULT_AUTO *holder = NULL;
    struct err ignored;
    const char *name = target->queue;
    const char *hint =
        "Publish again when it has finished: the lock is free as soon as its session "
        "ends";
    if (db_run(session->db, &sql_publish_holder, (const char *const[]){DB_INT(target->queue_id)},
               &holder, &ignored) != RC_OK)
        return err_set(err, RC_RETRY, ERR_HELD, name, hint,
                       "another producer is publishing to this queue");
    return err_set(err, RC_RETRY, ERR_HELD, name, hint,
                   "another producer is publishing to this queue: user %s from %s, backend %s%s%s",
                   db_text(holder, 0, PUBLISH_HOLDER_USENAME),
                   db_text(holder, 0, PUBLISH_HOLDER_ADDRESS),
                   db_text(holder, 0, PUBLISH_HOLDER_PID),
                   /* of another login only members of pg_read_all_stats see it */
                   db_null(holder, 0, PUBLISH_HOLDER_SINCE) ? "" : ", connected since ",
                   db_text(holder, 0, PUBLISH_HOLDER_SINCE));
}

enum rc session_lock(struct session *session, const struct target *target,
                     struct progress *progress, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)progress->options->lock_wait_ms * 1000;
    probe("publish.locking");
    for (bool waits = false;; waits = true) {
        DB_RESULT_AUTO *got = NULL;
        enum rc rc = db_run(session->db, &sql_publish_lock,
                            (const char *const[]){DB_INT(target->queue_id)}, &got, err);
        if (rc != RC_OK)
            return rc;
        session->locked = db_bool(got, 0, PUBLISH_LOCK_GRANTED);
        if (session->locked) {
            probe("publish.locked");
            return RC_OK;
        }
        if (clock_boot_us() >= until_us)
            return held(session, target, err);
        rc = progress_cancelled(progress, err);
        if (rc != RC_OK)
            return rc;
        if (waits)
            progress_report(progress, "");
        else
            progress_stage(progress, PUBLISH_LOCKING);
        (void)poll(NULL, 0, TRY_EVERY_MS);
    }
}

void session_unlock(struct session *session, const struct target *target)
{
    if (!session->locked)
        return;
    /* Before the query: a session that fails here is no reason to unlock again. */
    session->locked = false;
    DB_RESULT_AUTO *gone = NULL;
    struct err err;
    enum rc rc = db_run(session->db, &sql_publish_unlock,
                        (const char *const[]){DB_INT(target->queue_id)}, &gone, &err);
    if (rc != RC_OK)
        log_err(LOG_WARN, "publish_unlock_failed", target->queue, &err);
    else if (!db_bool(gone, 0, PUBLISH_UNLOCK_HELD))
        log_event(LOG_WARN, "publish_unlock_failed", "queue", target->queue, "error",
                  "the lock was not held", NULL);
}

/* An answer proves that the session lives, and with it the lock: PostgreSQL releases session-level
 * locks at the end of the session only. */
enum rc session_check(const struct session *session, struct err *err)
{
    return db_run(session->db, &sql_publish_alive, NULL, NULL, err);
}

void session_lost(struct session *session)
{
    session->locked = false;
}

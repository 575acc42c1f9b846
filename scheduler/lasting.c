/* One session that outlives its connections. The owner calls lasting_open before each use and
 * lasting_lost after each failure; in between this file remembers the server and the pause. It does
 * not sleep: the owner waits backoff_ms in its own mailbox, where an order can wake it. */
#include "scheduler/lasting.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "db/canceller.h"
#include "db/sqlstate.h"

#include <string.h>

/* A short restart costs a fraction of a second of waiting. In a long outage each thread of each
 * process tries once in 5 s. */
#define BACKOFF_FIRST_MS 250
#define BACKOFF_LAST_MS  5000
/* A firing that is being decided may be committed. Longer than the rows of other sessions hold up a
 * statement (lock_timeout), and shorter than the patience of a service manager. */
#define STOP_MS 5000

void lasting_init(struct lasting *session, const char *conninfo, enum db_role role,
                  enum db_match match, const struct db_server *server, int patience_ms)
{
    *session = (struct lasting){
        .conninfo = conninfo, .role = role, .match = match, .patience_ms = patience_ms};
    if (server != NULL)
        session->server = *server;
    (void)pthread_mutex_init(&session->lock, NULL);
    condition_init(&session->done);
}

void lasting_done(struct lasting *session)
{
    lasting_close(session);
    (void)pthread_cond_destroy(&session->done);
    (void)pthread_mutex_destroy(&session->lock);
}

/* lasting_sever finds no canceller while the session is being opened: the cut is made up for
 * here. */
static enum rc may_be_severed(struct lasting *session, struct err *err)
{
    (void)pthread_mutex_lock(&session->lock);
    session->severs = db_canceller_new(session->db);
    enum rc rc = db_canceller_whole(session->severs, err);
    if (session->severed)
        db_sever(session->severs);
    (void)pthread_mutex_unlock(&session->lock);
    return rc;
}

void lasting_sever(struct lasting *session)
{
    (void)pthread_mutex_lock(&session->lock);
    session->severed = true;
    db_sever(session->severs);
    (void)pthread_mutex_unlock(&session->lock);
}

enum rc lasting_open(struct lasting *session, struct err *err)
{
    struct db_server *server = &session->server;
    if (session->db != NULL)
        return RC_OK;
    enum rc rc = db_open_wanted(session->conninfo, session->role, server, session->match,
                                &session->severed, &session->db, err);
    if (rc != RC_OK)
        return rc;
    rc = may_be_severed(session, err);
    if (rc != RC_OK) {
        lasting_close(session);
        return rc;
    }
    const struct db_server *is = db_server(session->db);
    db_patience(session->db, session->patience_ms);
    /* Only DB_NOT_OLDER gets here with another system: the operator has moved the database. */
    if (*server->system_id && *is->system_id && strcmp(server->system_id, is->system_id) != 0)
        log_event(LOG_WARN, "server_changed", "system_was", server->system_id, "system",
                  is->system_id, NULL);
    /* The newer server becomes the measure: the old primary is refused from now on. */
    if (*is->system_id)
        *server = *is;
    return RC_OK;
}

/* The canceller first: it holds the session's socket open. */
void lasting_close(struct lasting *session)
{
    (void)pthread_mutex_lock(&session->lock);
    db_canceller_free(session->severs);
    session->severs = NULL;
    (void)pthread_mutex_unlock(&session->lock);
    db_close(session->db);
    session->db = NULL;
}

void lasting_aim(struct lasting *session, const struct db_server *server)
{
    lasting_close(session);
    session->server = *server;
}

void lasting_end(struct lasting *session)
{
    lasting_close(session);
    (void)pthread_mutex_lock(&session->lock);
    session->ended = true;
    (void)pthread_cond_signal(&session->done);
    (void)pthread_mutex_unlock(&session->lock);
}

/* Without the limit a server that takes statements and answers none would hold up the end of the
 * process for as long as the session's patience, which covers the longest statement. */
void lasting_stop(struct lasting *session, struct thread *thread)
{
    struct timespec until = condition_until(STOP_MS * 1000LL);
    int failed = 0;
    thread_ask_stop(thread);
    (void)pthread_mutex_lock(&session->lock);
    while (!session->ended && failed == 0)
        failed = pthread_cond_timedwait(&session->done, &session->lock, &until);
    bool ended = session->ended;
    (void)pthread_mutex_unlock(&session->lock);
    if (!ended)
        lasting_sever(session);
    thread_join(thread);
}

bool lasting_lost(struct lasting *session, const struct err *why)
{
    session->backoff_ms = backoff_next(session->backoff_ms, BACKOFF_FIRST_MS, BACKOFF_LAST_MS);
    lasting_close(session);
    return outage_must_log(&session->outage, why, clock_boot_us());
}

bool lasting_works(struct lasting *session)
{
    bool was_lost = session->backoff_ms != 0;
    int64_t lasted_ms;
    session->backoff_ms = 0;
    (void)outage_over(&session->outage, clock_boot_us(), &lasted_ms);
    return was_lost;
}

/* lock_timeout (55P03) and deadlock (40P01) end the statement and leave the session as it was, so
 * opening a new session would only cost time. */
bool lasting_held(enum rc rc, const struct err *err)
{
    return rc == RC_RETRY && (sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE) ||
                              sqlstate_is(err, SQLSTATE_DEADLOCK_DETECTED));
}

enum rc lasting_unless_held(enum rc rc, const struct err *err)
{
    return lasting_held(rc, err) ? RC_OK : rc;
}

/* One session that outlives its connections. The owner calls lasting_open before each use and
 * lasting_lost after each failure; in between this file remembers the server and the pause. It does
 * not sleep: the owner waits backoff_ms in its own mailbox, where an order can wake it. */
#include "scheduler/lasting.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "db/sqlstate.h"

#include <string.h>

/* A short restart costs a fraction of a second of waiting. In a long outage each thread of each
 * process tries once in 5 s. */
#define BACKOFF_FIRST_MS 250
#define BACKOFF_LAST_MS  5000

enum rc lasting_open(struct lasting *session, struct err *err)
{
    struct db_server *server = &session->server;
    if (session->db != NULL)
        return RC_OK;
    enum rc rc =
        db_open_on(session->conninfo, session->role, server, session->match, &session->db, err);
    if (rc != RC_OK)
        return rc;
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

void lasting_close(struct lasting *session)
{
    db_close(session->db);
    session->db = NULL;
}

bool lasting_lost(struct lasting *session, const struct err *why)
{
    session->backoff_ms = backoff_next(session->backoff_ms, BACKOFF_FIRST_MS, BACKOFF_LAST_MS);
    lasting_close(session);
    return outage_tells(&session->outage, why, clock_boot_us());
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

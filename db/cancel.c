/* Cancels and cuts from other threads; begin with db_cancel(). PQcancel opens a connection of its
 * own and returns when the server has closed it (libpq manual, Canceling Queries in Progress). It
 * has no time-out, so each request has a thread, and nothing waits for it but db_cancel_wait(),
 * which has one. The socket is duplicated, because the session may be closed, and its descriptor
 * given to another file, while another thread cuts it. */
#include "db/canceller.h"
#include "db/session.h"

#include "base/condition.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/str.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct db_canceller {
    PGcancel *cancel;
    int socket; /* a descriptor of its own for the session's socket */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a request */
    int uses;             /* by its owner, and by each request under way; guarded by lock */
};

struct db_canceller *db_canceller_new(struct db *db)
{
    struct db_canceller *canceller = xcalloc(1, sizeof *canceller);
    canceller->cancel = PQgetCancel(db->conn);
    canceller->socket = fcntl(PQsocket(db->conn), F_DUPFD_CLOEXEC, 0);
    canceller->uses = 1;
    (void)pthread_mutex_init(&canceller->lock, NULL);
    condition_init(&canceller->ended);
    return canceller;
}

int db_canceller_socket(const struct db_canceller *canceller)
{
    return canceller != NULL ? canceller->socket : -1;
}

enum rc db_canceller_whole(const struct db_canceller *canceller, struct err *err)
{
    return canceller->socket >= 0
               ? RC_OK
               : err_set(err, RC_LOST, ERR_DB, "session",
                         "Raise the limit of open files (ulimit -n, LimitNOFILE= of the unit).",
                         "its socket cannot be duplicated: too many open files");
}

/* Counted, because a request that is under way uses the canceller after its owner has freed it. */
void db_canceller_free(struct db_canceller *canceller)
{
    if (canceller == NULL)
        return;
    (void)pthread_mutex_lock(&canceller->lock);
    bool used = --canceller->uses > 0;
    (void)pthread_cond_signal(&canceller->ended);
    (void)pthread_mutex_unlock(&canceller->lock);
    if (used)
        return;
    (void)pthread_cond_destroy(&canceller->ended);
    (void)pthread_mutex_destroy(&canceller->lock);
    PQfreeCancel(canceller->cancel);
    if (canceller->socket >= 0)
        (void)close(canceller->socket);
    free(canceller);
}

/* It connects and waits for the server to hang up, without a time-out of its own, so no caller may
 * wait for it. */
static void *request(void *context)
{
    struct db_canceller *canceller = context;
    char text[256];
    probe("cancel.send");
    if (!PQcancel(canceller->cancel, text, sizeof text))
        log_event(LOG_WARN, "cancel_failed", "error", text, NULL);
    probe("cancel.sent");
    db_canceller_free(canceller);
    return NULL;
}

void db_cancel(struct db_canceller *canceller)
{
    pthread_t thread;
    if (canceller == NULL || canceller->cancel == NULL)
        return;
    (void)pthread_mutex_lock(&canceller->lock);
    canceller->uses++;
    (void)pthread_mutex_unlock(&canceller->lock);
    int failed = pthread_create(&thread, NULL, request, canceller);
    if (failed == 0) {
        (void)pthread_detach(thread);
        return;
    }
    db_canceller_free(canceller);
    log_event(LOG_WARN, "cancel_failed", "error", strerror(failed), NULL);
}

bool db_cancel_wait(struct db_canceller *canceller, int patience_ms)
{
    struct timespec until = condition_until(patience_ms * 1000LL);
    (void)pthread_mutex_lock(&canceller->lock);
    int failed = 0;
    while (canceller->uses > 1 && failed == 0)
        failed = pthread_cond_timedwait(&canceller->ended, &canceller->lock, &until);
    bool ended = canceller->uses == 1;
    (void)pthread_mutex_unlock(&canceller->lock);
    return ended;
}

void db_sever(struct db_canceller *canceller)
{
    if (canceller != NULL && canceller->socket >= 0)
        (void)shutdown(canceller->socket, SHUT_RDWR);
}

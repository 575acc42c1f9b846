#include "db/session.h"

#include "base/log.h"
#include "base/str.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct db_canceller {
    PGcancel *cancel;
    int socket;       /* a descriptor of its own for the session's socket */
    _Atomic int uses; /* by its owner, and by each request under way */
};

struct db_canceller *db_canceller_new(struct db *db)
{
    struct db_canceller *canceller = xcalloc(1, sizeof *canceller);
    canceller->cancel = PQgetCancel(db->conn);
    canceller->socket = fcntl(PQsocket(db->conn), F_DUPFD_CLOEXEC, 0);
    canceller->uses = 1;
    return canceller;
}

int db_canceller_socket(const struct db_canceller *canceller)
{
    return canceller != NULL ? canceller->socket : -1;
}

void db_canceller_free(struct db_canceller *canceller)
{
    if (canceller == NULL || atomic_fetch_sub(&canceller->uses, 1) > 1)
        return;
    PQfreeCancel(canceller->cancel);
    if (canceller->socket >= 0)
        (void)close(canceller->socket);
    free(canceller);
}

/* It connects and waits for the server to hang up, without a time-out of its own: nobody may wait for it. */
static void *request(void *context)
{
    struct db_canceller *canceller = context;
    char text[256];
    if (!PQcancel(canceller->cancel, text, sizeof text))
        log_event(LOG_WARN, "cancel_failed", "error", text, NULL);
    db_canceller_free(canceller);
    return NULL;
}

void db_cancel(struct db_canceller *canceller)
{
    pthread_t thread;
    if (canceller == NULL || canceller->cancel == NULL)
        return;
    (void)atomic_fetch_add(&canceller->uses, 1);
    int failed = pthread_create(&thread, NULL, request, canceller);
    if (failed == 0) {
        (void)pthread_detach(thread);
        return;
    }
    db_canceller_free(canceller);
    log_event(LOG_WARN, "cancel_failed", "error", strerror(failed), NULL);
}

void db_sever(struct db_canceller *canceller)
{
    if (canceller != NULL && canceller->socket >= 0)
        (void)shutdown(canceller->socket, SHUT_RDWR);
}

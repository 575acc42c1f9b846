/* One call and its answer, within the session's patience. A peer that says nothing (a stopped
 * backend, a cut line) keeps its connection for ever; keepalive does not see it, because the kernel
 * answers. */
#include "db/canceller.h"
#include "db/session.h"

#include "base/clock.h"

#include <poll.h>
#include <sys/socket.h>

/* No further call on this session gets an answer, nor waits for one. The connection is not used
 * again: libpq would give the late answer to the next question. */
static void give_up(struct db *db)
{
    db->late = true;
    if (PQsocket(db->conn) >=
        0) /* nothing that comes later is read, and closing it does not wait */
        (void)shutdown(PQsocket(db->conn), SHUT_RDWR);
}

void db_patience(struct db *db, int patience_ms)
{
    db->patience_ms = patience_ms;
    if (!db->late && PQsetnonblocking(db->conn, patience_ms > 0) != 0)
        give_up(db);
}

/* A statement that ends by itself within this time after Ctrl-C is not cancelled: its result is
 * worth more than the two seconds. */
#define INTERRUPT_US (2 * 1000 * 1000)
/* A server that answers neither the statement nor the cancel request within this time is frozen, or
 * the line to it is cut: the command ends without its answer. */
#define CANCELLED_US (10 * 1000 * 1000)

static int interrupt_fd = -1; /* of the process: set before the first session is opened */

void db_interrupt(int fd)
{
    interrupt_fd = fd;
}

void db_asks(struct db *db)
{
    struct pollfd fd = {.fd = interrupt_fd, .events = POLLIN};
    bool command = db->role == DB_CLI || db->role == DB_PRODUCER || db->role == DB_QUERY;
    db->interruptible = interrupt_fd >= 0 && command && poll(&fd, 1, 0) == 0;
}

/* The request has a thread of its own (db/canceller.h): PQcancel has no time-out, and a frozen
 * server accepts the connection but never closes it. */
static void interrupt(struct db *db)
{
    db->interrupt = db_canceller_new(db);
    db->interrupted = true;
    db_cancel(db->interrupt);
}

/* The statement may end by itself while the request is still under way, and the server would then
 * cancel the next one, which tidies up. So nothing is sent before the request has ended. */
static void interrupt_end(struct db *db)
{
    if (db->interrupt == NULL)
        return;
    if (!db->late && !db_cancel_wait(db->interrupt, CANCELLED_US / 1000))
        give_up(db);
    db_canceller_free(db->interrupt);
    db->interrupt = NULL;
}

/* Until an answer comes, for a session without patience. A short statement is not interrupted. */
static void wait_interruptibly(struct db *db)
{
    int64_t until_us = 0; /* 0: nothing has come */
    struct pollfd fds[] = {{.fd = PQsocket(db->conn), .events = POLLIN},
                           {.fd = interrupt_fd, .events = POLLIN}};
    while (fds[0].fd >= 0 && PQisBusy(db->conn)) {
        int ready = poll(fds, 2, until_us == 0 ? -1 : clock_left_ms(until_us));
        if (ready > 0 && fds[0].revents != 0 && PQconsumeInput(db->conn) != 1)
            return;
        if (ready > 0 && fds[1].revents != 0) {
            until_us = clock_boot_us() + INTERRUPT_US;
            fds[1].fd = -1;
        } else if (until_us != 0 && clock_boot_us() >= until_us) {
            if (db->interrupted) {
                give_up(db);
                return;
            }
            interrupt(db);
            until_us = clock_boot_us() + CANCELLED_US;
        }
    }
}

/* Until PQgetResult would not wait. PQgetResult reports an error, if there is one. It reads while
 * it still has unsent data: a server whose answers are not taken stops reading the rest of the
 * question (libpq manual, PQflush). */
static bool ready(struct db *db, int64_t until_us)
{
    for (;;) {
        int unsent = PQflush(db->conn);
        if (unsent < 0 || PQsocket(db->conn) < 0 || (unsent == 0 && !PQisBusy(db->conn)))
            return true;
        int64_t left_us = until_us - clock_boot_us();
        struct pollfd fds[] = {
            {.fd = PQsocket(db->conn), .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))},
            {.fd = db->beside != NULL ? db->beside->fd : -1, .events = POLLIN}};
        if (left_us <= 0)
            return false;
        if (poll(fds, 2, (int)(left_us / 1000) + 1) <= 0)
            continue;
        if ((fds[0].revents & ~POLLOUT) != 0 && PQconsumeInput(db->conn) != 1)
            return true;
        if (fds[1].revents != 0)
            db->beside->fn(db->beside->context);
    }
}

/* Copying to or from us is nothing that we ask for: its result is the last one, and an error. */
static bool copies(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* PQgetResult is called until it returns NULL, as the manual demands (Asynchronous Command
 * Processing): an error may follow good results, and a command cannot be sent before that. */
static PGresult *answer(struct db *db, int sent)
{
    int64_t until_us = clock_boot_us() + db->patience_ms * 1000LL;
    PGresult *last = NULL, *next;
    if (sent != 1 || db->late)
        return NULL;
    db->interrupted = false;
    db->done = false;
    for (;;) {
        if (db->interruptible && db->patience_ms == 0)
            wait_interruptibly(db);
        if (db->patience_ms > 0 && !ready(db, until_us))
            give_up(db);
        if (db->late) {
            PQclear(last);
            return NULL;
        }
        if ((next = PQgetResult(db->conn)) == NULL)
            return last;
        if (last != NULL && PQresultStatus(last) == PGRES_FATAL_ERROR) {
            PQclear(next); /* what comes after an error does not heal it */
            continue;
        }
        /* In the extended protocol the server commits behind the result. */
        db->done = last != NULL && PQresultStatus(next) == PGRES_FATAL_ERROR;
        PQclear(last);
        last = next;
        if (copies(last) || PQstatus(db->conn) == CONNECTION_BAD)
            return last;
    }
}

PGresult *db_answer(struct db *db, int sent)
{
    PGresult *result = answer(db, sent);
    interrupt_end(db);
    return result;
}

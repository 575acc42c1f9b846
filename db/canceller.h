/**
 * What: how other threads reach a session: they cancel what it runs, or cut its socket.
 * Invariants: db_cancel asks the server and waits for nothing: the request has a thread of its own.
 *   db_sever cuts the session's socket: a call that waits on it returns RC_LOST at once, and the
 *   server cancels what it runs within a second (client_connection_check_interval). While a
 *   canceller exists, closing the session does not close the socket.
 * Threads: any, but for db_canceller_new: the session's own.
 * Ownership: a canceller is the caller's until db_canceller_free; it outlives the session.
 * Failure: none is reported: a request that does not reach the server changes nothing.
 */
#ifndef DB_CANCELLER_H
#define DB_CANCELLER_H

#include "base/err.h"

struct db;
struct db_canceller;

struct db_canceller *db_canceller_new(struct db *db);
void db_canceller_free(struct db_canceller *canceller);
void db_cancel(struct db_canceller *canceller);
/** Waits until each request that was made has ended: from then on none hits what the session is
 * given. False: not within so long. */
bool db_cancel_wait(struct db_canceller *canceller, int patience_ms);
void db_sever(struct db_canceller *canceller);
/** Its descriptor of the session's socket, for others to hold open: the server does not see us go
 * before they do. */
int db_canceller_socket(const struct db_canceller *canceller);
/** RC_LOST: it has no such descriptor, because the process may open no more. */
MUST_CHECK enum rc db_canceller_whole(const struct db_canceller *canceller, struct err *err);

#endif

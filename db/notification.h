/**
 * What: notifications that the server sends unasked, and when to read them.
 * Invariants: a notification that came with the answer to a statement is not on the socket any
 *   more: the caller asks db_notified before it waits for the socket.
 * Threads: the session's own.
 * Ownership: channel and payload belong to the session and live until the next call.
 * Failure: as db.h.
 */
#ifndef DB_NOTIFICATION_H
#define DB_NOTIFICATION_H

#include "base/err.h"

#include <stdbool.h>

struct db;

/** The socket, for poll(2); changes when the session is opened again. */
int db_socket(const struct db *db);

/** A notification has come already, with the answer to a statement. */
bool db_notified(struct db *db);
/** The server has ended the session, or the connection is broken, and that has arrived; nothing is
 * asked. Between two statements. */
bool db_has_ended(struct db *db);

/** Reads what the server sent unasked. RC_OK with channel and payload (live until the next call),
 * RC_NONE if nothing. */
MUST_CHECK enum rc db_notification(struct db *db, const char **ret_channel,
                                   const char **ret_payload, struct err *err);

#endif

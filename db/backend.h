/**
 * What: the server's side of a session: where it is, its login, and the process (backend) that
 *   serves it.
 * Invariants: pid and start together name a backend for good; the system uses a pid again.
 * Threads: the session's own.
 * Ownership: the texts belong to the session and live as long as it is open.
 * Failure: none: the values were read when the session was opened.
 */
#ifndef DB_BACKEND_H
#define DB_BACKEND_H

#include <stdbool.h>

struct db;

/** The role that the session is logged in as. */
const char *db_login(const struct db *db);
/** Where it is: the host or the directory of the socket, the port, and the database. */
struct db_place {
    const char *host, *port, *dbname;
};
struct db_place db_place(const struct db *db);
/** Whether the server asked for the password, which proves the identity of the login. */
bool db_used_password(const struct db *db);
/** The backend's process id. */
int db_backend_pid(const struct db *db);
/** When the backend started, a timestamptz. */
const char *db_backend_start(const struct db *db);

#endif

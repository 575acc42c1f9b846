/**
 * What: the inside of struct db, for the files of db/ only.
 * Invariants: prepared[] has which statements of sql/ this session has prepared.
 * Threads: the session's own.
 * Ownership: struct db owns conn.
 * Failure: see db.h.
 */
#ifndef DB_SESSION_H
#define DB_SESSION_H

#include "db/db.h"
#include "db/diag.h"
#include "db/recall.h"
#include <libpq-fe.h>

struct db {
    PGconn *conn;
    enum db_role role;
    int backend_pid;
    char backend_start[64];
    struct db_server server;
    PGnotify *notify;  /* the one that db_notification returned last, */
    PGnotify *pending; /* the one that comes next, NULL: not taken from libpq yet */
    /* borrowed: gets the notices and errors of a user's SQL; NULL: none does */
    struct db_diag *diag;
    int patience_ms;                /* for one call to be answered, 0: no limit */
    char ended_state[6];            /* the server has ended the session while nothing was asked, */
    char ended_why[256];            /* and said so; "": it has not */
    bool late;                      /* one was not: the session is given up */
    bool interruptible;             /* db_asks: an interrupt that comes is meant for the call */
    bool interrupted;               /* the call was cancelled for db_interrupt */
    bool done;                      /* its statement was done: an error is that of its commit */
    struct db_canceller *interrupt; /* the request that cancels it; NULL: none was made */
    const struct db_beside *beside; /* during db_run_beside */
    int syncs;                      /* pipeline: syncs not yet answered */
    bool fresh;                     /* pipeline: the next result is the first of its statement */
    bool prepared[SQL_STATEMENT_COUNT + 1];
    bool wary;            /* prepared names may lead to something else: db_wary */
    struct recall recall; /* pipeline: statements of the user's that are prepared */
};

struct db_result {
    PGresult *result;
    const struct sql_statement *stmt; /* whose contract lists its words; NULL: a script's */
};

/** By enum db_role. */
extern const char *const db_role_names[];

/** Notices of the server go to the session's callback, or to the log. */
void db_receive_notices(struct db *db);

/** Fills err from a failed result, or from the connection when result is NULL, and says how to
 * react. */
enum rc db_fail(struct db *db, const char *object, const PGresult *result, struct err *err);

/** This statement is prepared on the session from now on. */
void db_has_prepared(struct db *db, const struct sql_statement *stmt);

/** Puts an error of a user's command down, and a notice. */
void db_diag_error(struct db_diag *diag, const PGresult *result);
/** So many rows were counted so far; -1: nothing counts them. */
void db_diag_rows(struct db_diag *diag, int64_t rows);
void db_diag_notice(struct db_diag *diag, const char *severity, const PGresult *result);

/** Runs sql/session/settings.sql: after connecting and after DISCARD ALL. */
MUST_CHECK enum rc db_setup(struct db *db, struct err *err);

/** Before a call is sent: an interrupt that comes from now on is meant for it. A call that is made
 * because of an interrupt is not interrupted. Behind the send it would be too late: the call may
 * wait already, and the interrupt have come. */
void db_asks(struct db *db);

/** The result that PQexec would return for the command of a PQsend function (sent: its result);
 * NULL: not sent, or not answered in time. */
PGresult *db_answer(struct db *db, int sent);

/** Wraps a result; takes it. */
struct db_result *db_result_new(PGresult *result, const struct sql_statement *stmt);

#endif

/**
 * What: one who asks: a person who signed in, a program with a token, or anyone where no sign-in is
 *   asked for; with a session of PostgreSQL.
 * Invariants: its requests run on its session, one statement after the other, as the login that it
 *   came with. A session is released outside of a transaction.
 * Threads: any.
 * Ownership: counted: a caller that got or held one returns it with visitor_release.
 * Failure: visitor_run: as db_run; RC_LOST with the code VISITOR_LOST: a person's session is lost
 *   for good: sign in again.
 */
#ifndef CONSOLE_VISITOR_H
#define CONSOLE_VISITOR_H

#include "db/db.h"

#define VISITOR_LOST "signed_out"

/** LEVEL_PING: a token that reports to watches, and sees nothing. */
enum level { LEVEL_NONE, LEVEL_PING, LEVEL_MONITOR, LEVEL_OPERATOR };

struct visitor;
struct http_request;

struct visitor *visitor_hold(struct visitor *visitor);
void visitor_release(struct visitor *visitor);           /* NULL is fine */
const char *visitor_id(const struct visitor *visitor);   /* of its cookie; "": it has none */
const char *visitor_csrf(const struct visitor *visitor); /* "": it needs none */
const char *visitor_login(
    const struct visitor *visitor); /* as people know it: a login, token NAME, anonymous */
enum level visitor_level(const struct visitor *visitor);
/** Whether it may report to a watch now: VISITOR_BURST times at once, then ten times a second. */
#define VISITOR_BURST 100
bool visitor_may_report(struct visitor *visitor);

typedef enum rc visitor_fn(struct db *db, void *context, struct err *err);
/** Has its session to itself, for several statements. When the client of request (may be NULL) goes
 * away or the server stops, waiting for it ends, and PostgreSQL is asked to cancel what runs.
 * RC_RETRY: too many wait for it, or the client has gone. */
MUST_CHECK enum rc visitor_use(struct visitor *visitor, struct http_request *request,
                               visitor_fn *fn, void *context, struct err *err);
/** The same, to read: a session that had ended while it was idle is opened again, unless it is a
 * person's, and fn is called once more. */
MUST_CHECK enum rc visitor_read(struct visitor *visitor, struct http_request *request,
                                visitor_fn *fn, void *context, struct err *err);
/** One statement that reads. */
MUST_CHECK enum rc visitor_run(struct visitor *visitor, struct http_request *request,
                               const struct sql_statement *stmt, const char *const *params,
                               struct db_result **ret_result, struct err *err);
/** While a session is in use the first `most` wait for it, as long as a statement may take, and the
 * others for others_ms. */
struct visitor_patience {
    int most, others_ms;
};
/** The same, for questions of the console itself. RC_RETRY: the session was not free. */
MUST_CHECK enum rc visitor_ask(struct visitor *visitor, struct visitor_patience patience,
                               const struct sql_statement *stmt, const char *const *params,
                               struct db_result **ret_result, struct err *err);

#endif

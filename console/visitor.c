/* One visitor and its PostgreSQL session. A request takes a turn at the session (acquire_session),
 * runs its function while a watch would cancel it (run_watched), and releases the session clean or
 * closed. A session of the console's login is opened when it is needed; a person's cannot be opened
 * again, because the password is not kept. console/sessions.c decides which visitors there are, and
 * for how long. */
#include "console/visitor_make.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "console/patience.h"
#include "console/right.h"
#include "console/secret.h"
#include "db/backend.h"
#include "db/canceller.h"
#include "db/notification.h"
#include "db/task_session.h"
#include "sql/sql.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE_MS  8000 /* longer than statement_timeout, 5 s, which ends a statement first */
#define AT_ONCE_US   1000000
#define REPORT_US    100000
#define WAITERS_MOST 6 /* requests that may wait for one visitor's session */

struct visitor {
    char id[SECRET_SIZE], csrf[SECRET_SIZE], proof[SECRET_SIZE], login[300];
    _Atomic int level, holders;
    _Atomic int waiting;  /* for the session */
    _Atomic int opened;   /* sessions of PostgreSQL, so far */
    const char *conninfo; /* NULL: a person's */
    _Atomic int64_t since_us, used_us, checked_us;
    _Atomic bool lost;
    pthread_mutex_t lock; /* of busy */
    pthread_cond_t released;
    bool busy;           /* with a request, whose the session is */
    struct db *db;       /* NULL: none is open */
    int db_level;        /* that SET ROLE was done for */
    int64_t reported_us; /* as if its reports had come at their pace; with the lock */
};

struct visitor *visitor_new(const char *login, enum level level, const char *conninfo)
{
    struct visitor *visitor = xcalloc(1, sizeof *visitor);
    (void)snprintf(visitor->login, sizeof visitor->login, "%s", login);
    (void)pthread_mutex_init(&visitor->lock, NULL);
    condition_init(&visitor->released);
    visitor->conninfo = conninfo;
    visitor->level = level;
    visitor->holders = 1;
    visitor->since_us = visitor->used_us = visitor->checked_us = clock_boot_us();
    return visitor;
}

struct visitor *visitor_of_person(const char *login, struct db *db)
{
    struct visitor *visitor = visitor_new(login, LEVEL_NONE, NULL);
    secret_new(visitor->id);
    secret_new(visitor->csrf);
    db_patience(db, PATIENCE_MS);
    visitor->db = db;
    return visitor;
}

struct visitor *visitor_hold(struct visitor *visitor)
{
    visitor->holders++;
    return visitor;
}

void visitor_release(struct visitor *visitor)
{
    if (visitor == NULL || --visitor->holders > 0)
        return;
    db_close(visitor->db);
    (void)pthread_cond_destroy(&visitor->released);
    (void)pthread_mutex_destroy(&visitor->lock);
    free(visitor);
}

const char *visitor_id(const struct visitor *visitor)
{
    return visitor->id;
}

const char *visitor_csrf(const struct visitor *visitor)
{
    return visitor->csrf;
}

const char *visitor_login(const struct visitor *visitor)
{
    return visitor->login;
}

enum level visitor_level(const struct visitor *visitor)
{
    return (enum level)visitor->level;
}

struct visitor_ages visitor_ages(const struct visitor *visitor)
{
    return (struct visitor_ages){.since_us = visitor->since_us,
                                 .used_us = visitor->used_us,
                                 .checked_us = visitor->checked_us,
                                 .lost = visitor->lost};
}

int visitor_opened(const struct visitor *visitor)
{
    return visitor->opened;
}

void visitor_checked(struct visitor *visitor, int64_t now_us)
{
    visitor->checked_us = now_us;
}

void visitor_set_level(struct visitor *visitor, enum level level)
{
    visitor->level = level;
}

void visitor_set_token(struct visitor *visitor, const char *token, const char *proof)
{
    (void)snprintf(visitor->id, sizeof visitor->id, "%s", token);
    (void)snprintf(visitor->proof, sizeof visitor->proof, "%s", proof);
}

bool visitor_may_report(struct visitor *visitor)
{
    int64_t now_us = clock_boot_us();
    (void)pthread_mutex_lock(&visitor->lock);
    /* A token bucket that keeps one number, the time at which the reports would be over if they had
     * come one per REPORT_US. */
    int64_t from_us = visitor->reported_us > now_us ? visitor->reported_us : now_us;
    bool may = from_us - now_us < VISITOR_BURST * REPORT_US;
    if (may)
        visitor->reported_us = from_us + REPORT_US;
    (void)pthread_mutex_unlock(&visitor->lock);
    return may;
}

void visitor_touch(struct visitor *visitor, int64_t now_us)
{
    visitor->used_us = now_us;
}

void visitor_renew(struct visitor *visitor, const struct visitor *found, int64_t now_us)
{
    visitor->level = found->level;
    visitor->since_us = visitor->used_us = now_us;
}

/* The session of a person is lost for good: the answer is 401, and the page asks for a sign-in. */
static enum rc refuse_lost(const struct visitor *visitor, struct err *err)
{
    (void)err_set(err, RC_LOST, ERR_DB_DOWN, visitor->login, "Sign in again.",
                  "the session with PostgreSQL was lost");
    err_code(err, VISITOR_LOST);
    return RC_LOST;
}

static enum rc refuse_gone(struct err *err)
{
    (void)err_set(err, RC_RETRY, ERR_CANCELLED, "", "", "the client has gone, or the server stops");
    return RC_RETRY;
}

/* Its session is not lost: RC_RETRY. */
static enum rc refuse_wait(const struct visitor *visitor, struct err *err)
{
    return err_set(err, RC_RETRY, ERR_DB_DOWN, visitor->login, "Try again in a moment.",
                   "too many requests of this login wait for the database");
}

/* SET ROLE takes the group's rights and leaves the console's own login visible as session_user. The
 * proof makes the event log name the token. A new level is set on the same session by the next
 * use. */
static enum rc take_role(struct visitor *visitor, struct err *err)
{
    static const char *const roles[] = {[LEVEL_NONE] = "none",
                                        [LEVEL_PING] = "lockstep_monitor", /* of both groups */
                                        [LEVEL_MONITOR] = "lockstep_monitor",
                                        [LEVEL_OPERATOR] = "lockstep_operator"};
    int level = visitor->level;
    const char *const params[] = {roles[level], visitor->proof};
    enum rc rc = db_run(visitor->db, &sql_console_set_role, params, NULL, err);
    if (rc == RC_OK)
        visitor->db_level = level;
    else
        right_hint(err, db_login(visitor->db));
    return rc;
}

static enum rc open_session(struct visitor *visitor, struct err *err)
{
    enum rc rc = RC_OK;
    /* A restart of the server ends sessions that are idle: found before a change is sent, because a
     * change is not sent twice. */
    if (visitor->db != NULL && db_has_ended(visitor->db)) {
        db_close(visitor->db);
        visitor->db = NULL;
    }
    if (visitor->db == NULL && visitor->conninfo == NULL)
        return refuse_lost(visitor, err);
    if (visitor->db == NULL) {
        visitor->db_level = LEVEL_NONE;
        rc = db_open(visitor->conninfo, DB_CONSOLE, &visitor->db, err);
        if (rc == RC_OK) {
            db_patience(visitor->db, PATIENCE_MS);
            visitor->opened++;
        }
    }
    if (rc == RC_OK && visitor->conninfo != NULL && visitor->db_level != visitor->level)
        rc = take_role(visitor, err);
    return rc;
}

static void close_session(struct visitor *visitor)
{
    db_close(visitor->db);
    visitor->db = NULL;
    visitor->lost = visitor->conninfo == NULL;
}

static void cancel(void *context)
{
    db_cancel(context);
}

/* Runs fn while the departure of the client cancels its statement. *ret_aimed: a cancel request is
 * still under way. PostgreSQL's cancel names a session, not a statement ("Canceling Queries in
 * Progress"), so it would hit the next request's statement. */
static enum rc run_watched(struct db *db, struct http_request *request, visitor_fn *fn,
                           void *context, bool *ret_aimed, struct err *err)
{
    struct db_canceller *canceller = db_canceller_new(db);
    http_watch(request, cancel, canceller);
    /* Between the end of the wait and this watch the client may have left. */
    enum rc rc = http_gone(request) ? refuse_gone(err) : fn(db, context, err);
    http_watch(request, NULL, NULL);
    *ret_aimed = !db_cancel_wait(canceller, PATIENCE_MS);
    db_canceller_free(canceller);
    return rc;
}

struct turn {
    struct visitor *visitor;
    int wait_ms; /* at most */
    bool gone;   /* with the visitor's lock */
};

/* Called with the server's lock, by its watcher: this function only takes the visitor's. */
static void gone(void *context)
{
    struct turn *turn = context;
    (void)pthread_mutex_lock(&turn->visitor->lock);
    turn->gone = true;
    (void)pthread_cond_broadcast(&turn->visitor->released);
    (void)pthread_mutex_unlock(&turn->visitor->lock);
}

/* RC_OK: the session is the caller's. */
static enum rc await(struct turn *turn, struct err *err)
{
    struct visitor *visitor = turn->visitor;
    struct timespec until = condition_until(turn->wait_ms * 1000LL);
    bool late = false;
    (void)pthread_mutex_lock(&visitor->lock);
    while (visitor->busy && !turn->gone && !late)
        late = pthread_cond_timedwait(&visitor->released, &visitor->lock, &until) != 0;
    bool mine = !visitor->busy;
    bool has_gone = turn->gone;
    if (mine)
        visitor->busy = true;
    (void)pthread_mutex_unlock(&visitor->lock);
    return mine ? RC_OK : has_gone ? refuse_gone(err) : refuse_wait(visitor, err);
}

/* A transaction that was left open, because its end failed or was cancelled, would take in the
 * statements of the next request, and roll them back with its own. */
static bool is_clean(struct db *db)
{
    return !db_in_transaction(db) ||
           (db_run(db, &sql_console_rollback, NULL, NULL, NULL) == RC_OK && !db_in_transaction(db));
}

static void release_session(struct visitor *visitor, enum rc rc)
{
    if (rc == RC_LOST || (visitor->db != NULL && !is_clean(visitor->db)))
        close_session(visitor);
    (void)pthread_mutex_lock(&visitor->lock);
    visitor->busy = false;
    (void)pthread_cond_signal(&visitor->released);
    (void)pthread_mutex_unlock(&visitor->lock);
}

static enum rc acquire_session(struct visitor *visitor, struct http_request *request,
                               struct visitor_patience patience, struct err *err)
{
    struct turn turn = {.visitor = visitor};
    /* A visitor with many requests must not take all workers: the later ones are refused after
     * others_ms. */
    turn.wait_ms = visitor->waiting++ < patience.most ? PATIENCE_MS : patience.others_ms;
    if (request != NULL)
        http_watch(request, gone, &turn);
    enum rc rc = await(&turn, err);
    if (request != NULL)
        http_watch(request, NULL, NULL);
    visitor->waiting--;
    if (rc != RC_OK)
        return rc;
    rc = open_session(visitor, err);
    if (rc != RC_OK)
        release_session(visitor, rc);
    return rc;
}

static enum rc use(struct visitor *visitor, struct http_request *request,
                   struct visitor_patience patience, visitor_fn *fn, void *context, struct err *err)
{
    bool aimed = false;
    enum rc rc = acquire_session(visitor, request, patience, err);
    if (rc != RC_OK)
        return rc;
    rc = request != NULL ? run_watched(visitor->db, request, fn, context, &aimed, err)
                         : fn(visitor->db, context, err);
    if (rc != RC_OK)
        right_hint(err, db_login(visitor->db));
    if (rc == RC_LOST && visitor->conninfo == NULL)
        rc = refuse_lost(visitor, err);
    release_session(visitor, aimed ? RC_LOST : rc); /* closes it if aimed; rc stays the answer */
    return rc;
}

static struct visitor_patience patience_of(const struct http_request *request)
{
    return (struct visitor_patience){.most = request != NULL ? WAITERS_MOST : INT_MAX};
}

enum rc visitor_use(struct visitor *visitor, struct http_request *request, visitor_fn *fn,
                    void *context, struct err *err)
{
    return use(visitor, request, patience_of(request), fn, context, err);
}

/* Reads may run twice, changes may not: whether a lost change was committed is unknown. A session
 * that was lost within a second had ended while it was idle (a restart of the server); a server
 * that is slow is not asked twice. */
static enum rc use_again(struct visitor *visitor, struct http_request *request,
                         struct visitor_patience patience, visitor_fn *fn, void *context,
                         struct err *err)
{
    int64_t since_us = clock_boot_us();
    enum rc rc = use(visitor, request, patience, fn, context, err);
    if (rc == RC_LOST && visitor->conninfo != NULL && clock_boot_us() - since_us < AT_ONCE_US)
        rc = use(visitor, request, patience, fn, context, err);
    return rc;
}

enum rc visitor_read(struct visitor *visitor, struct http_request *request, visitor_fn *fn,
                     void *context, struct err *err)
{
    return use_again(visitor, request, patience_of(request), fn, context, err);
}

struct one {
    const struct sql_statement *stmt;
    const char *const *params;
    struct db_result **ret_result;
};

static enum rc run_one(struct db *db, void *context, struct err *err)
{
    const struct one *one = context;
    return db_run(db, one->stmt, one->params, one->ret_result, err);
}

enum rc visitor_run(struct visitor *visitor, struct http_request *request,
                    const struct sql_statement *stmt, const char *const *params,
                    struct db_result **ret_result, struct err *err)
{
    struct one one = {.stmt = stmt, .params = params, .ret_result = ret_result};
    return visitor_read(visitor, request, run_one, &one, err);
}

enum rc visitor_ask(struct visitor *visitor, struct visitor_patience patience,
                    const struct sql_statement *stmt, const char *const *params,
                    struct db_result **ret_result, struct err *err)
{
    struct one one = {.stmt = stmt, .params = params, .ret_result = ret_result};
    return use_again(visitor, NULL, patience, run_one, &one, err);
}

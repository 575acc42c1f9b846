/* Makes a change once per Idempotency-Key. With a key: BEGIN, the note of the key, the change, its
 * answer into the note, COMMIT. The note is a unique row, so a second request with the same key
 * waits at it until the first transaction has ended, and then finds the answer, or, after a
 * rollback, no row. Without a key the statement is its own transaction. The statement of the route
 * makes the change itself. */
#include "console/change.h"

#include "base/clock.h"
#include "base/log.h"
#include "console/document.h"
#include "console/patience.h"
#include "db/sqlstate.h"
#include "sql/sql.h"

/* No portion begins later, so that the answer comes within about five seconds: clients and proxies
 * give up on slow requests, and the client would not learn which runs are left. */
#define PORTIONS_US 4000000

struct making {
    const struct visitor *visitor;
    const struct change *change;
    struct str *answer;
    int portions;  /* that were made */
    bool known;    /* the answer is that of the first request with this key */
    bool in_doubt; /* what commits it was sent, and the session was lost before the answer */
};

/* *ret_known: the change was made before, and answer has its answer. The same key with another
 * request is a mistake of the client: two changes would share one answer. */
static enum rc note(struct db *db, const struct making *making, struct str *answer, bool *ret_known,
                    struct err *err)
{
    const struct visitor *visitor = making->visitor;
    const struct change *change = making->change;
    DB_RESULT_AUTO *result = NULL;
    const char *const params[] = {visitor_login(visitor), change->key, change->request};
    enum rc rc = db_run(db, &sql_console_change_begin, params, &result, err);
    if (rc != RC_OK || db_bool(result, 0, CONSOLE_CHANGE_BEGIN_IS_NEW))
        return rc;
    bool is_same = db_bool(result, 0, CONSOLE_CHANGE_BEGIN_IS_SAME);
    /* An answer with a secret is not stored, so a second request cannot get it. */
    if (is_same && !route_code(change->route)->once) {
        *ret_known = true;
        str_text(answer, db_text(result, 0, CONSOLE_CHANGE_BEGIN_ANSWER));
        return RC_OK;
    }
    if (is_same)
        rc =
            err_set(err, RC_REJECT, ERR_FAILED, "Idempotency-Key",
                    "If the answer was lost, revoke what was made and make another with a new key.",
                    "the change was made before; its answer has a secret and was given once");
    else
        rc = err_set(err, RC_REJECT, ERR_FAILED, "Idempotency-Key",
                     "Take a new key for each change.", "the key was used for another request");
    err_code(err, "key");
    return rc;
}

static enum rc make_noted(struct db *db, struct making *making, struct str *answer, struct err *err)
{
    const struct change *change = making->change;
    /* Only the first portion checks the key: the later ones are the same request. */
    enum rc rc = making->portions == 0 ? note(db, making, answer, &making->known, err) : RC_OK;
    if (rc != RC_OK || making->known)
        return rc;
    rc = document_make(change->context, db, change->route, change->params, answer, err);
    const char *kept = route_code(change->route)->once ? "" : answer->data;
    const char *const params[] = {visitor_login(making->visitor), change->key, kept};
    return rc == RC_OK ? db_run(db, &sql_console_change_end, params, NULL, err) : rc;
}

static enum rc make_once(struct db *db, struct making *making, struct str *answer, struct err *err)
{
    enum rc rc = db_run(db, &sql_console_begin, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    rc = make_noted(db, making, answer, err);
    if (rc == RC_OK) {
        rc = db_run(db, &sql_console_commit, NULL, NULL, err);
        making->in_doubt = rc == RC_LOST && !making->known;
    }
    if (rc == RC_OK)
        return rc;
    /* A rollback that fails leaves a session in an unknown state. RC_LOST makes its owner close
     * it. */
    enum rc undone = rc == RC_LOST ? rc : db_run(db, &sql_console_rollback, NULL, NULL, NULL);
    return undone == RC_LOST ? RC_LOST : rc;
}

/* answer: of the portion before. The server may undo the whole transaction for another session's
 * sake. It is then repeated from its beginning, as db_run repeats a statement that is a transaction
 * of its own. */
static enum rc make_whole(struct db *db, struct making *making, struct str *answer, struct err *err)
{
    const struct change *change = making->change;
    enum rc rc = make_once(db, making, answer, err);
    for (int i = 0; i < UNDONE_MOST && rc == RC_RETRY && sqlstate_undone(err) &&
                    !http_gone(change->context->request);
         i++) {
        log_event(LOG_INFO, "statement_repeated", "statement", change->route->path, "code",
                  err->code, "detail", err->detail, NULL);
        sqlstate_undone_wait(i);
        str_clear(answer);
        str_add(answer, making->answer->data, making->answer->len);
        rc = make_once(db, making, answer, err);
    }
    return rc;
}

/* Runs one portion in a transaction of its own. Its answer replaces that of the portion before only
 * when it has succeeded, so the caller always has the answer that is committed. */
static enum rc make_portion(struct db *db, struct making *making, struct err *err)
{
    const struct change *change = making->change;
    STR_AUTO answer = {0};
    str_add(&answer, making->answer->data, making->answer->len);
    enum rc rc = change->key != NULL ? make_whole(db, making, &answer, err)
                                     : document_make(change->context, db, change->route,
                                                     change->params, &answer, err);
    making->in_doubt |= rc == RC_LOST && change->key == NULL;
    if (rc != RC_OK)
        return rc;
    making->portions++;
    str_clear(making->answer);
    str_add(making->answer, answer.data, answer.len);
    return RC_OK;
}

static enum rc make_on(struct db *db, void *context, struct err *err)
{
    struct making *making = context;
    const struct change *change = making->change;
    const struct route_code *code = route_code(change->route);
    struct err ignored = {0};
    int64_t until_us = clock_boot_us() + PORTIONS_US;
    enum rc rc = make_portion(db, making, err);
    while (rc == RC_OK && code->left != NULL && !making->known && code->left(making->answer) &&
           clock_boot_us() < until_us && !http_gone(change->context->request))
        rc = make_portion(db, making, err);
    if (rc == RC_OK && code->after != NULL)
        /* After the commit and without a say: the change has happened, so its answer must not be an
         * error. */
        (void)!code->after(change->context, db, change->params, &ignored);
    return rc;
}

/* Also for a person, whose next request gets 401: a client that gets it for a change signs in and
 * sends the change once more. */
static enum rc doubt(const struct change *change, struct err *err)
{
    const char *hint =
        route_code(change->route)->keyless ? "Repeat it: it continues."
        : change->key != NULL
            ? "Repeat it with the same Idempotency-Key, which makes it once, or check whether it "
              "was made."
            : "Check whether it was made before you repeat it. Next time send an Idempotency-Key.";
    return err_set(err, RC_LOST, err->kind, change->route->path, hint,
                   "it is not known whether the change was made: %s", err->message);
}

/* A portion that fails takes nothing from those before it: their answer has what is left. */
enum rc change_make(struct visitor *visitor, const struct change *change, struct str *answer,
                    struct err *err)
{
    struct making making = {.visitor = visitor, .change = change, .answer = answer};
    enum rc rc = visitor_use(visitor, change->context->request, make_on, &making, err);
    if (making.portions > 0 && route_code(change->route)->left != NULL)
        return RC_OK;
    return making.in_doubt ? doubt(change, err) : rc;
}

#include "console/change.h"

#include "console/document.h"
#include "sql/sql.h"

/* RC_OK with an answer: it was made before. */
static enum rc note(struct db *db, const struct visitor *visitor, const struct change *change,
                    struct str *answer, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *const params[] = {visitor_login(visitor), change->key, change->request};
    enum rc rc = db_run(db, &sql_console_change_begin, params, &result, err);
    if (rc != RC_OK || db_bool(result, 0, CONSOLE_CHANGE_BEGIN_IS_NEW))
        return rc;
    bool is_same = db_bool(result, 0, CONSOLE_CHANGE_BEGIN_IS_SAME);
    if (is_same && !route_code(change->route)->once) {
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

static enum rc make_noted(struct db *db, const struct visitor *visitor, const struct change *change,
                          struct str *answer, struct err *err)
{
    enum rc rc = note(db, visitor, change, answer, err);
    if (rc != RC_OK || answer->len > 0)
        return rc;
    rc = document_make(change->context, db, change->route, change->params, answer, err);
    const char *kept = route_code(change->route)->once ? "" : answer->data;
    const char *const params[] = {visitor_login(visitor), change->key, kept};
    return rc == RC_OK ? db_run(db, &sql_console_change_end, params, NULL, err) : rc;
}

static enum rc make_once(struct db *db, const struct visitor *visitor, const struct change *change,
                         struct str *answer, struct err *err)
{
    enum rc rc = db_run(db, &sql_console_begin, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    rc = make_noted(db, visitor, change, answer, err);
    if (rc == RC_OK)
        return db_run(db, &sql_console_commit, NULL, NULL, err);
    enum rc undone = rc == RC_LOST ? rc : db_run(db, &sql_console_rollback, NULL, NULL, NULL);
    return undone == RC_LOST ? RC_LOST : rc;
}

struct making {
    const struct visitor *visitor;
    const struct change *change;
    struct str *answer;
};

static enum rc make_on(struct db *db, void *context, struct err *err)
{
    const struct making *making = context;
    const struct change *change = making->change;
    route_step_fn *after = route_code(change->route)->after;
    struct err ignored = {0};
    enum rc rc = change->key != NULL ? make_once(db, making->visitor, change, making->answer, err)
                                     : document_make(change->context, db, change->route,
                                                     change->params, making->answer, err);
    if (rc == RC_OK && after != NULL)
        (void)!after(change->context, db, change->params, &ignored);
    return rc;
}

enum rc change_make(struct visitor *visitor, const struct change *change, struct str *answer,
                    struct err *err)
{
    struct making making = {.visitor = visitor, .change = change, .answer = answer};
    return visitor_use(visitor, change->context->request, make_on, &making, err);
}

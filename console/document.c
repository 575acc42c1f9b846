/* Runs the statement of a route, or its C function, and hands its JSON on without reading it:
 * PostgreSQL makes the documents, so the API, the page and `-o json` show the same. visitor.c has
 * the session, call.c the parameters. */
#include "console/document.h"

#define DOCUMENT CONSOLE_RUN_DOCUMENT /* the first column of each route's statement */

/* RC_LOST says of a session that it is gone and that its last change is not known. A broker that
 * does not answer says nothing of the session, which the visitor keeps. */
static enum rc of_session(enum rc rc, const struct err *err)
{
    bool kafka = err->kind == ERR_KAFKA || err->kind == ERR_KAFKA_DOWN;
    return rc == RC_LOST && kafka ? RC_RETRY : rc;
}

enum rc document_make(const struct route_context *context, struct db *db, const struct route *route,
                      const char *const *params, struct str *document, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const struct route_code *code = route_code(route);
    enum rc rc = code->before != NULL ? code->before(context, db, params, err) : RC_OK;
    if (rc != RC_OK)
        return of_session(rc, err);
    if (route->stmt == NULL)
        return of_session(code->make(context, db, params, document, err), err);
    rc = db_run(db, route->stmt, params, &result, err);
    if (rc != RC_OK)
        return rc;
    /* A statement about one thing returns NULL when there is none: 404. */
    if (db_null(result, 0, DOCUMENT))
        return RC_NONE;
    str_add(document, db_text(result, 0, DOCUMENT), (size_t)db_length(result, 0, DOCUMENT));
    return RC_OK;
}

struct reading {
    const struct route_context *context;
    const struct route *route;
    const char *const *params;
    struct str *document;
};

static enum rc read_on(struct db *db, void *context, struct err *err)
{
    const struct reading *reading = context;
    /* visitor_read may call this twice, and the first call may have added half of an answer. */
    str_clear(reading->document);
    return document_make(reading->context, db, reading->route, reading->params, reading->document,
                         err);
}

enum rc document_read(struct visitor *visitor, const struct route_context *context,
                      const struct route *route, const char *const *params, struct str *document,
                      struct err *err)
{
    struct reading reading = {
        .context = context, .route = route, .params = params, .document = document};
    return visitor_read(visitor, context->request, read_on, &reading, err);
}

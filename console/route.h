/**
 * What: the routes of the API: which path with which method runs which statement, who may, and with which parameters.
 * Invariants: the table in routes.c is the only list of routes: what is answered, and the OpenAPI document, are made from it. A route is one
 *   statement of sql/console/ with one column, `document`, which is the answer. Its parameters are, in the order of $1, $2 ..., those of
 *   `params`: words of field.c, "!" behind one that must be given, "WORD=FIELD" where the API's name is another than the field's. What a path names in
 *   braces is a parameter, too. GET takes them from the query, other methods from the body, one JSON object. What is not named is refused.
 *   "@login" is the visitor, "@payloads" whether it may see payloads.
 * Threads: any: it is constant.
 * Ownership: static; a struct call belongs to the caller, call_done takes it.
 * Failure: RC_REJECT: a parameter is wrong; err->object names it.
 */
#ifndef CONSOLE_ROUTE_H
#define CONSOLE_ROUTE_H

#include "console/sessions.h"
#include "sql/sql.h"

struct http_request;

#define ROUTE_PARAMS_MOST 12

/** A document that no statement makes. */
typedef enum rc route_make_fn(struct db *db, const char *const *params, struct str *document,
                              struct err *err);
struct route {
    const char *method, *path;        /* below /api/v1/ */
    const struct sql_statement *stmt; /* NULL: route_make */
    enum level level;
    const char *params;
    const char *summary;
};

extern const struct route routes[]; /* ended by one without method */
/** How the document of a route without a statement is made. */
route_make_fn *route_make(const struct route *route);

/** The route of a request, whose path has `skip` segments before /api; NULL: none. *ret_allow: the methods that its path has, "" if there is no such path. */
const struct route *route_find(const struct http_request *request, int skip, struct str *ret_allow);

/** What a route's statement gets. */
struct call {
    struct str values[ROUTE_PARAMS_MOST];
    const char *params[ROUTE_PARAMS_MOST];
    int count;
};
struct call_visitor {
    const char *login;
    bool payloads;
};
MUST_CHECK enum rc call_read(const struct route *route, const struct http_request *request,
                             int skip, const struct call_visitor *visitor, struct call *call,
                             struct err *err);
void call_done(struct call *call);

/** The next parameter of a route's list: its name in the API, its field (NULL: one that begins with @), whether it must be given; false: there is none. */
struct route_param {
    char name[40];
    const struct field *field;
    bool required, in_path;
};
bool route_param_next(const struct route *route, const char **at, struct route_param *ret_param);

#endif

/**
 * What: the routes of the API: which path with which method runs which statement, for which level,
 *   and with which parameters.
 * Invariants: the table in routes.c is the only list of routes: the answers and the OpenAPI
 *   document are made from it. A route is one statement whose first column, `document`, is the
 *   answer, or a function that makes it; a second table there names what else is done in C. Its
 *   parameters are, in the order of $1, $2 ..., those of `params`: words of field.c, "!" behind one
 *   that must be given, "^" behind those of which exactly one must be given, "WORD=FIELD" where the
 *   API's name is another than the field's. A name in braces in the path is a parameter, too.
 *   "@login" is the visitor, "@payloads" whether it may see payloads. Where two paths fit a
 *   request, it means the one with fewer braces.
 * Threads: any: it is constant.
 * Ownership: static.
 * Failure: none.
 */
#ifndef CONSOLE_ROUTE_H
#define CONSOLE_ROUTE_H

#include "console/sessions.h"
#include "sql/sql.h"

struct config;
struct http_request;
struct kafka_properties;

/** A document that no statement makes. context: its other sources besides the database. */
struct route_context {
    const struct config *config;
    const struct kafka_properties *kafka;
    struct http_request *request;
    const char *task_conninfo; /* of the tasks' login; "": not known */
};
typedef enum rc route_make_fn(const struct route_context *context, struct db *db,
                              const char *const *params, struct str *document, struct err *err);
typedef enum rc route_step_fn(const struct route_context *context, struct db *db,
                              const char *const *params, struct err *err);
/** Whether there is another portion: it is made with the document of the one before, which it
 * replaces, and which is "" before the first. */
typedef bool route_left_fn(const struct str *document);
/** What a route does beside its statement. */
struct route_code {
    const char *method, *path;
    route_make_fn *make;   /* instead of a statement */
    route_step_fn *before; /* what SQL cannot check; RC_NONE: there is no such thing */
    route_step_fn *after;  /* when it is committed; if that fails the change is made all the same */
    bool once;             /* its answer has a secret: it is given once, and not kept */
    route_left_fn *left;   /* NULL: one transaction; else its document is made in portions */
    bool reads;            /* a POST that changes nothing */
    bool keyless;          /* takes no Idempotency-Key: it lasts for more than a transaction */
};
struct route {
    const char *method, *path;        /* below /api/v1/ */
    const struct sql_statement *stmt; /* NULL: its route_code makes it, or api.c */
    enum level level;
    const char *params;
    const char *summary;
    const char *answer; /* its members, in the words of console/shape.h; NULL: it is no JSON */
};

extern const struct route routes[]; /* ended by one without method */
/** Those that api.c answers itself: the first ones of the table. */
enum { ROUTE_SIGN_IN, ROUTE_SESSION, ROUTE_SIGN_OUT, ROUTE_STREAM, ROUTE_OPENAPI, ROUTE_CLUSTERS };

/** Never NULL. */
const struct route_code *route_code(const struct route *route);

/** The route of a request, whose path has `skip` segments before /api; NULL: none. *ret_allow: the
 * methods that its path has, "" if there is no such path. */
const struct route *route_find(const struct http_request *request, int skip, struct str *ret_allow);
/** What the request's path has where the route's has {name}; NULL: the route has none. */
const char *route_segment(const struct route *route, const struct http_request *request, int skip,
                          const char *name);
/** Whether what it reads depends on the rights of the login itself, not on its level alone. */
bool route_is_personal(const struct route *route);
/** Whether it changes nothing with these parameters: it only reads, is a preview or a dry run. */
bool route_only_reads(const struct route *route, const char *const *params);
/** Whether its body may be JSON Lines, one task a line. */
bool route_takes_lines(const struct route *route);

/** The next parameter of a list: its name in the API, its field (NULL: one that begins with @),
 * whether it must be given; false: there is none. path: of the route; "": the list is that of an
 * object's members. */
struct route_param {
    char name[40];
    const struct field *field;
    bool required, either, in_path;
};
bool route_param_next(const char *path, const char **at, struct route_param *ret_param);

#endif

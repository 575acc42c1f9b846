/**
 * What: the parameters of one request: read, checked, and in the order in which its route's
 *   statement takes them.
 * Invariants: GET has them in the query, other methods in the body, one JSON object. A body of JSON
 *   Lines is the tasks, the other parameters are in the query then. A name that the route does not
 *   have is refused before anything else; a null is as if it were not given.
 * Threads: that of the handler.
 * Ownership: a struct call belongs to the caller, call_done takes it.
 * Failure: RC_REJECT: a parameter is wrong; err->object names it.
 */
#ifndef CONSOLE_CALL_H
#define CONSOLE_CALL_H

#include "console/route.h"

#define CALL_PARAMS_MOST 20

struct call {
    struct str values[CALL_PARAMS_MOST];
    const char *params[CALL_PARAMS_MOST];
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

/** Of a Content-Type: application/jsonl, or application/x-ndjson. */
bool call_is_lines(const struct http_request *request);

#endif

/**
 * What: the content of a request, as its handler reads it.
 * Invariants: as http.h: whole, decoded, within the limits.
 * Threads: that of the handler.
 * Ownership: texts live until the handler returns.
 * Failure: NULL or false: it has no such thing.
 */
#ifndef CONSOLE_REQUEST_H
#define CONSOLE_REQUEST_H

#include "console/listen.h"

#include <stdbool.h>
#include <stddef.h>

struct http_request;

const struct listener *http_listener_of(const struct http_request *request);
const char *http_method(const struct http_request *request);
/** As it was sent, with the slash that it begins with. */
const char *http_path(const struct http_request *request);
/** The text between its slashes, decoded, so that a %2F does not divide; NULL: it has not so
 * many. */
const char *http_segment(const struct http_request *request, int i);
/** The i-th pair of the query, decoded; false: there are not so many. */
bool http_query_at(const struct http_request *request, int i, const char **ret_name,
                   const char **ret_value);
/** NULL: it has none. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_cookie(const struct http_request *request, const char *name);
/** Ended by a NUL that does not count. */
const char *http_body(const struct http_request *request, size_t *ret_len);
/** The client's address without its port; "local" for a Unix socket. */
const char *http_client(const struct http_request *request);

#endif

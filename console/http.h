/**
 * What: an HTTP server, and one request of it: libmicrohttpd with the limits that a server on a
 *   network needs. Only http.c, request.c and http_stream.c know libmicrohttpd. request.h has what
 *   a handler reads, answer.h how it answers.
 * Guarantee: each complete request is answered once, and no client, however slow, keeps another one
 *   waiting.
 * Mechanism: the thread of libmicrohttpd reads a request, suspends its connection and puts the
 *   request into a queue. One of `workers` threads takes it, calls the handler and resumes the
 *   connection. A handler that says http_wait leaves its worker and is called again when another
 *   request has made what it waits for. A handler that leaves without an answer answers 500.
 * Invariants: a request whose client has gone before its turn reaches no handler. The server ends a
 *   connection that has not sent a whole request within `idle_s`, and a connection above
 *   `connections`. A body above `body_most` is answered 413: at once if its length is announced,
 *   else at its end, and above BODY_DROPPED_MOST times that it is cut off. Path and query are
 *   decoded; a request with invalid percent-encoding, invalid UTF-8 or a NUL is answered 400 and
 *   reaches no handler.
 * Not its concern: visitors and routes (console.c).
 * Threads: http_open, http_serve and http_stop: one thread, the same. A request belongs to the
 *   thread of its handler.
 * Ownership: the server borrows its options; texts of a request live until the handler returns.
 * Failure: RC_FATAL + ERR_CONFIG: address, certificate or key (see listen.h).
 */
#ifndef CONSOLE_HTTP_H
#define CONSOLE_HTTP_H

#include "base/err.h"
#include "base/str.h"
#include "console/listen.h"

#include <stddef.h>

struct http;
struct http_request;
typedef void http_handler(void *context, struct http_request *request);
/** When the handler is called for a request: by a worker in the order in which they come; before
 * those, by workers of which some are kept for them; by the server's own thread, as it waits for
 * nothing. */
enum http_turn { HTTP_QUEUED, HTTP_FIRST, HTTP_AT_ONCE };
typedef enum http_turn http_turn_of(void *context, const struct http_request *request);

struct http_options {
    const char *listen;            /* as listen.h */
    const char *certificate, *key; /* PEM files; NULL: no TLS */
    int connections;               /* at once */
    int workers;                   /* handlers at once */
    int reserved;                  /* of them: for HTTP_FIRST only */
    int idle_s;                    /* for a whole request to come */
    size_t body_most;              /* bytes */
    http_handler *handler;
    http_turn_of *turn; /* NULL: HTTP_QUEUED */
    void *context;
};

/** Binds the address, so that the caller may look at it; no request is answered yet. */
MUST_CHECK enum rc http_open(const struct http_options *options, struct http **ret_http,
                             struct err *err);
MUST_CHECK enum rc http_serve(struct http *http, struct err *err);
/** Waits for the handlers that run; ends all connections. NULL is fine. */
void http_stop(struct http *http);
/** Where it listens; for people: http_url. */
const struct listener *http_listener(const struct http *http);
void http_url(const struct http *http, struct str *url);

#endif

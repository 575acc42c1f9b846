/**
 * What: an HTTP server, and one request of it: libmicrohttpd with the limits that a server on a network needs. Only http.c,
 *   request.c and http_stream.c know libmicrohttpd.
 * Invariants: a handler is called once a request, when its body is complete, on one of `workers` threads, and answers exactly
 *   once (http_answer or http_stream_open); one that did not answers 500. A connection that has not sent a whole request within
 *   `idle_s`, however slowly it sends, a body above `body_most` and a connection above `connections` are ended here. Path and query
 *   are decoded; what is not valid percent-encoded UTF-8 without a NUL is answered 400 and not seen by the handler.
 * Threads: http_start and http_stop: one. A request belongs to the thread of its handler.
 * Ownership: options are borrowed while the server runs; texts of a request live until the handler returns.
 * Failure: RC_FATAL + ERR_CONFIG: address, certificate or key (see listen.h).
 */
#ifndef CONSOLE_HTTP_H
#define CONSOLE_HTTP_H

#include "base/err.h"
#include "base/str.h"
#include "console/listen.h"

#include <stdbool.h>
#include <stddef.h>

struct http;
struct http_request;
typedef void http_handler(void *context, struct http_request *request);

struct http_options {
    const char *listen;            /* as listen.h */
    const char *certificate, *key; /* PEM files; NULL: no TLS */
    int connections;               /* at once */
    int workers;                   /* handlers at once */
    int idle_s;                    /* for a whole request to come */
    size_t body_most;              /* bytes */
    http_handler *handler;
    void *context;
};

MUST_CHECK enum rc http_start(const struct http_options *options, struct http **ret_http,
                              struct err *err);
/** Waits for the handlers that run; ends all connections. NULL is fine. */
void http_stop(struct http *http);
/** Where it listens; for people: http_url. */
const struct listener *http_listener(const struct http *http);
void http_url(const struct http *http, struct str *url);

const char *http_method(const struct http_request *request);
/** As it was sent, with the slash that it begins with. */
const char *http_path(const struct http_request *request);
/** What stands between its slashes, decoded, so that a %2F does not divide; NULL: it has not so many. */
const char *http_segment(const struct http_request *request, int i);
/** The i-th pair of the query, decoded; false: there are not so many. */
bool http_query_at(const struct http_request *request, int i, const char **ret_name,
                   const char **ret_value);
/** NULL: it has none. */
const char *http_query(const struct http_request *request, const char *name);
const char *http_header(const struct http_request *request, const char *name);
const char *http_cookie(const struct http_request *request, const char *name);
/** Ended by a NUL that does not count. */
const char *http_body(const struct http_request *request, size_t *ret_len);
/** The client's address without its port; "local" for a Unix socket. */
const char *http_client(const struct http_request *request);

/** While fn is set, it is called, by another thread, when the client has gone; fn NULL: from now on no more, and no call is under way. */
void http_watch(struct http_request *request, void (*fn)(void *context), void *context);

/** For the answer; before it is given. */
void http_add_header(struct http_request *request, const char *name, const char *value);
void http_answer(struct http_request *request, int status, const char *type, const char *body,
                 size_t len);
bool http_answered(const struct http_request *request);

/** An answer without an end. It belongs to the caller until http_stream_close. */
struct http_stream;
struct http_stream *http_stream_open(struct http_request *request, const char *type);
/** From any thread. False: the client has gone, or has not read 256 kB: it is cut off. */
bool http_stream_send(struct http_stream *stream, const char *text, size_t len);
void http_stream_close(struct http_stream *stream);

#endif

/**
 * What: /api/v1 of one database: sign-in, the routes of routes.c, the event stream and the OpenAPI
 *   document.
 * Invariants: the visitor of a request is found in this order: a token (Authorization: Bearer), the
 *   cookie of a web session, the anonymous visitor. A change is made by POST, PUT or DELETE, after
 *   guard_change. An Idempotency-Key makes a change that comes twice happen once: the second gets
 *   the first one's answer.
 * Threads: handlers of http.h.
 * Ownership: borrows what it has.
 * Failure: problem documents.
 */
#ifndef CONSOLE_API_H
#define CONSOLE_API_H

#include "console/cache.h"
#include "console/sessions.h"
#include "console/stream.h"

#include <stdbool.h>

struct config;
struct http_request;
struct kafka_properties;
struct openapi;
struct page;

struct api;
typedef void api_list_fn(void *context, const struct api *api, struct http_request *request);

/** That of one database. */
struct api {
    struct sessions *sessions;
    struct cache *cache;
    struct stream *stream;
    struct openapi *openapi;
    struct page *page; /* /metrics */
    const struct config *config;
    const struct kafka_properties *kafka;
    const char *task_conninfo; /* of the tasks' login in this database; "": not known */
    const char *base_path;     /* below which it is */
    const char *cookie_path;   /* of its web sessions */
    int idle_s;                /* of a session without a request */
    int limit_s;               /* of a session since its sign-in */
    bool sign_in, encrypted, show_payloads;
    char cookie[96];   /* its name */
    api_list_fn *list; /* answers GET clusters */
    void *list_context;
};

/** Before the first request. port 0: none; cluster NULL: the only one. */
void api_name_cookie(struct api *api, int port, const char *cluster);
/** The visitor of a request. RC_NONE: it has none that we know. */
MUST_CHECK enum rc api_visitor(const struct api *api, const struct http_request *request,
                               struct visitor **ret_visitor, struct err *err);

/** skip: segments of the path before /api. */
void api_answer(const struct api *api, struct http_request *request, int skip);
/** Numbers for Prometheus, for those who may look. */
void api_answer_metrics(const struct api *api, struct http_request *request);

#endif

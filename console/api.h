/**
 * What: /api/v1: sign-in, the routes of routes.c, the event stream and the OpenAPI document.
 * Invariants: who asks is found in this order: a token (Authorization: Bearer), the cookie of a web session, the anonymous visitor. A change is made by POST,
 *   PUT or DELETE, after guard_change. An Idempotency-Key makes a change that comes twice happen once: the second gets the first one's answer.
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
struct page;

struct api {
    struct sessions *sessions;
    struct cache *cache;
    struct stream *stream;
    struct page *page; /* /metrics */
    const struct config *config;
    const struct kafka_properties *kafka;
    const char *base_path;
    int idle_s; /* of a session without a request */
    bool sign_in, encrypted, show_payloads;
    char cookie[32]; /* its name */
};

/** Before the first request. port 0: none. */
void api_name_cookie(struct api *api, int port);

/** skip: segments of the path before /api. */
void api_answer(struct api *api, struct http_request *request, int skip);
/** Numbers for Prometheus, for those who may look. */
void api_answer_metrics(struct api *api, struct http_request *request);
/** Whether the database answers: 200, or 503 with a problem document. */
void api_answer_ready(struct api *api, struct http_request *request);

#endif

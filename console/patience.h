/**
 * What: how a request waits: for the database, which it gives up when its client goes; and for an
 *   answer that another request makes. Invariants: a wait ends when the client has gone or the
 *   server stops.
 * Threads: that of the handler; http_wake: any.
 * Ownership: a request whose handler has called http_wait is the server's again when the handler
 *   returns.
 * Failure: false: it may not wait.
 */
#ifndef CONSOLE_PATIENCE_H
#define CONSOLE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct http_request;

/** While fn is set, it is called, by another thread, when the client has gone or the server stops,
 * and at once where that was before; fn NULL: from now on no more, and no call is under way. */
void http_watch(struct http_request *request, void (*fn)(void *context), void *context);
/** Whether the watch was called, or the server stops. */
bool http_gone(struct http_request *request);

/** Instead of an answer: another request is making it. The handler is called again when http_wake
 * reports that the awaited answer has an outcome; until then no worker is held. False: it has
 * waited long enough, or the server stops. */
bool http_wait(struct http_request *request, uint64_t awaited);
/** On whose behalf it was made does not matter: by is any request of this server. */
void http_wake(struct http_request *by, uint64_t awaited);

#endif

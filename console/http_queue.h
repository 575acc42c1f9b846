/**
 * What: the two queues in which a server's requests wait for a worker, and the workers.
 * Invariants: requests of the second one go first; a request is in one of them, with a worker, or
 *   waits for an answer that another makes.
 * Threads: queue_add: the server's; queue_serve: a worker each.
 * Ownership: requests are the server's.
 * Failure: see the functions.
 */
#ifndef CONSOLE_HTTP_QUEUE_H
#define CONSOLE_HTTP_QUEUE_H

#include "console/http_inside.h"

void queue_init(struct http *http);
/** False: the server stops, and no worker would resume its connection. */
bool queue_add(struct http_request *request, bool first);
/** Workers: of all requests, and of those that go first only. */
void *queue_serve(void *http);
void *queue_serve_first(void *http);
/** The server stops: requests that wait are woken, and watches are called. With the lock. */
void queue_end(struct http *http);

#endif

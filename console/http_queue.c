/* Decides whose turn it is. Requests wait in two queues for a worker; a request that needs an
 * answer which another request is making waits in a list and holds no worker. turn of such a
 * request: TURN_IS (its handler runs) -> http_wait -> TURN_WAITS -> its handler returns ->
 * TURN_LEFT -> http_wake -> back into its queue. If http_wake comes before the handler has
 * returned, it is TURN_AGAIN, and the worker puts it back itself. Which request goes first is the
 * server's option (console/console.c). */
#include "console/http_queue.h"
#include "base/clock.h"
#include "console/patience.h"

#define WAIT_MOST_US 8000000 /* since the request was complete; a statement may take 5 s */

void queue_init(struct http *http)
{
    for (int queue = 0; queue < 2; queue++)
        http->last[queue] = &http->first[queue];
}

/* With the lock. */
static void append(struct http *http, struct http_request *request)
{
    int queue = request->first;
    request->next = NULL;
    *http->last[queue] = request;
    http->last[queue] = &request->next;
    /* Two conditions: a signal for a common request must not wake a reserved worker, which would
     * not take it. */
    (void)pthread_cond_signal(&http->filled);
    if (request->first)
        (void)pthread_cond_signal(&http->hurries);
}

bool queue_add(struct http_request *request, bool first)
{
    struct http *http = request->http;
    (void)pthread_mutex_lock(&http->lock);
    bool open = !http->stopping;
    if (open) {
        /* Before the request is in the queue: a worker may resume it before this function
         * returns. */
        MHD_suspend_connection(request->connection);
        request->queued = true;
        request->first = first;
        request->came_us = clock_boot_us();
        append(http, request);
    }
    (void)pthread_mutex_unlock(&http->lock);
    return open;
}

/* With the lock; NULL: none is there. */
static struct http_request *take(struct http *http, int queue)
{
    struct http_request *request = http->first[queue];
    if (request == NULL)
        return NULL;
    http->first[queue] = request->next;
    if (http->first[queue] == NULL)
        http->last[queue] = &http->first[queue];
    return request;
}

/* NULL: the server stops. */
static struct http_request *dequeue(struct http *http, bool first_only, bool *ret_stopping)
{
    struct http_request *request;
    (void)pthread_mutex_lock(&http->lock);
    /* Every worker prefers the first queue; only the reserved ones never look into the other. */
    while ((request = take(http, 1)) == NULL && (first_only || (request = take(http, 0)) == NULL) &&
           !http->stopping)
        (void)pthread_cond_wait(first_only ? &http->hurries : &http->filled, &http->lock);
    if (request != NULL)
        request->turn = TURN_IS;
    *ret_stopping = http->stopping;
    (void)pthread_mutex_unlock(&http->lock);
    return request;
}

/* Whether its handler has called http_wait. If it has been woken meanwhile, this worker puts it
 * back into its queue; otherwise another thread owns the request from here on, and this one must
 * not touch it. */
static bool leaves(struct http *http, struct http_request *request)
{
    (void)pthread_mutex_lock(&http->lock);
    bool again = request->turn == TURN_AGAIN, waits = request->turn == TURN_WAITS;
    if (waits)
        request->turn = TURN_LEFT;
    if (again)
        append(http, request);
    (void)pthread_mutex_unlock(&http->lock);
    return waits || again;
}

static void serve(struct http *http, bool first_only)
{
    struct http_request *request;
    bool stopping;
    while ((request = dequeue(http, first_only, &stopping)) != NULL) {
        struct MHD_Connection *connection = request->connection;
        /* A handler that runs for the second time adds its headers again. */
        request_forget_headers(request);
        if (stopping)
            request_refuse(request, 503, "the server stops", "Try again in a moment.");
        /* A client that has left while its request was queued costs no statement. */
        else if (request->mark != NULL && socket_left(request->mark->fd))
            request_refuse(request, 503, "the client has gone", "Try again.");
        else
            http->options.handler(http->options.context, request);
        if (request->response == NULL && leaves(http, request))
            continue;
        if (request->response == NULL)
            http_answer(request, 500, NULL, "", 0);
        /* The last step: libmicrohttpd may free the request at once. */
        MHD_resume_connection(connection);
    }
}

void *queue_serve(void *http)
{
    serve(http, false);
    return NULL;
}

void *queue_serve_first(void *http)
{
    serve(http, true);
    return NULL;
}

/* ---- Waiting for another request ---- */

bool http_wait(struct http_request *request, uint64_t awaited)
{
    struct http *http = request->http;
    (void)pthread_mutex_lock(&http->lock);
    /* Measured from its arrival, so a request that is woken again and again comes to an end. */
    bool may = !http->stopping && clock_boot_us() - request->came_us < WAIT_MOST_US;
    if (may) {
        request->turn = TURN_WAITS;
        request->awaited = awaited;
        request->next = http->waiting;
        http->waiting = request;
    }
    (void)pthread_mutex_unlock(&http->lock);
    return may;
}

/* With the lock. */
static void wake(struct http *http, struct http_request **at)
{
    struct http_request *request = *at;
    *at = request->next;
    /* TURN_WAITS: its worker is still in the handler and would append it a second time (see
     * leaves). */
    if (request->turn == TURN_LEFT)
        append(http, request);
    else
        request->turn = TURN_AGAIN;
}

void http_wake(struct http_request *by, uint64_t awaited)
{
    struct http *http = by->http;
    (void)pthread_mutex_lock(&http->lock);
    for (struct http_request **at = &http->waiting; *at != NULL;)
        if ((*at)->awaited == awaited)
            wake(http, at);
        else
            at = &(*at)->next;
    (void)pthread_mutex_unlock(&http->lock);
}

void queue_end(struct http *http)
{
    while (http->waiting != NULL)
        wake(http, &http->waiting);
    /* Statements are cancelled, so that the workers come to an end. */
    for (struct http_request *request = http->watched; request != NULL; request = request->watched)
        request_notify_gone(request);
    (void)pthread_cond_broadcast(&http->filled);
    (void)pthread_cond_broadcast(&http->hurries);
}

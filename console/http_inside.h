/**
 * What: the inside of a server and of its requests and streams, for http.c, request.c and
 *   http_stream.c only.
 * Invariants: a request is made when its head has come, queued when its body has, and freed when
 *   libmicrohttpd has sent the answer or lost the client. From being queued to being answered its
 *   connection is suspended, so that libmicrohttpd does not touch it.
 * Threads: `lock` of the server guards the queue, the lists and each field marked "with the lock".
 * Ownership: the server owns its requests and the connections' marks; a stream belongs to its two
 *   holders, libmicrohttpd and the caller.
 * Failure: see http.h.
 */
#ifndef CONSOLE_HTTP_INSIDE_H
#define CONSOLE_HTTP_INSIDE_H

#include "base/crew.h"
#include "base/thread.h"
#include "console/answer.h"
#include "console/http.h"
#include "console/request.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>

#define REQUEST_QUERY_MOST    32
#define BODY_DROPPED_MOST     8 /* times body_most */
#define REQUEST_SEGMENTS_MOST 16
#define REQUEST_HEADERS_MOST  24

/** A connection, from its first byte to its end. */
struct http_mark {
    struct http_mark *next, **link; /* with the lock */
    int fd;
    int64_t since_us; /* with the lock: waiting for a whole request since then; 0: it is not */
    bool ending;      /* with the lock: it was shut down */
};

struct http_request {
    struct http *http;
    struct MHD_Connection *connection;
    struct http_mark *mark;
    struct http_request *next; /* in a queue, or with those that wait */
    struct http_request *watched,
        **place; /* with the lock: in the list of those that are watched */
    char *method, *path, *decoded, *raw_query;
    const char *segments[REQUEST_SEGMENTS_MOST];
    struct {
        const char *name, *value;
    } query[REQUEST_QUERY_MOST];
    int segment_count, query_count;
    char client[64];
    struct str body;
    size_t body_seen; /* bytes, kept or dropped */
    bool wrong, queued;
    int64_t came_us; /* when it was complete */
    bool first;      /* its queue */
    uint64_t awaited;
    enum { TURN_IS, TURN_WAITS, TURN_LEFT, TURN_AGAIN } turn; /* with the lock; see http_queue.c */
    void (*gone)(void *context);                              /* with the lock */
    void *gone_context;
    bool has_gone; /* with the lock: and its watch was called */
    struct {
        char *name, *value;
    } headers[REQUEST_HEADERS_MOST];
    int header_count;
    struct MHD_Response *response; /* NULL: not answered yet */
    int status;
};

struct http {
    struct http_options options;
    struct listener listener;
    struct MHD_Daemon *daemon;
    char *certificate, *key; /* the files' contents */
    pthread_mutex_t lock;
    pthread_cond_t filled, hurries;
    struct http_request *first[2], **last[2]; /* the queues: 1 goes first */
    struct http_request *waiting;             /* for http_wake */
    struct http_request *watched;
    struct http_mark *marks;
    struct http_stream *streams;
    struct crew workers;
    struct thread watcher;
    bool watching, stopping; /* stopping: with the lock */
    char trouble[256];       /* the last message of libmicrohttpd */
};

struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const char *method, const char *path);
/** Reads path and query; false: they are not valid. */
bool request_read(struct http_request *request);
void request_free(struct http_request *request);
/** The headers that a handler has added without an answer. */
void request_forget_headers(struct http_request *request);
/** Calls the watch of the request, once. With the lock. */
void request_notify_gone(struct http_request *request);
void request_refuse(struct http_request *request, int status, const char *detail, const char *hint);
/** Takes the response over: the client gets it. */
void request_respond(struct http_request *request, int status, struct MHD_Response *response);
/** Whether the client at the other end has gone. */
bool socket_left(int fd);
/** Adds to the body; of one that is too large nothing is kept. False: it does not end; the
 * connection is to be closed. */
MUST_CHECK bool request_take(struct http_request *request, const char *data, size_t len);
/** All streams end, so that the daemon can. With the lock. */
void streams_end(struct http *http);

#endif

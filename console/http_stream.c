/* Answers without an end. The caller appends text from any thread; libmicrohttpd fetches it when
 * the socket has room (on_room) and suspends the connection while there is none to send. The memory
 * of a client that does not read is bounded: it is cut off, never waited for. console/stream.c
 * chooses the events. */
#include "base/clock.h"
#include "console/http_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define UNREAD_MOST  262144 /* bytes that a client has not taken for BEHIND_US */
#define BEHIND_US    5000000
#define AT_ONCE_MOST 4194304 /* bytes that it has not taken, however short the time */
#define KEPT         16384   /* bytes of memory that stay for the next text */
#define BLOCK        8192

struct http_stream {
    struct http_stream *next,
        **place; /* with the server's lock: in its list; place NULL: not in it */
    struct http *http;
    struct MHD_Connection *connection;
    int fd;
    pthread_mutex_t lock; /* of all below */
    struct str unread;
    size_t taken;      /* of unread */
    int64_t behind_us; /* since then there is something that it has not taken */
    bool asleep, ended;
    int holders; /* libmicrohttpd and the caller */
};

static void let_go(struct http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    /* Two holders, because either side may end first: a browser that leaves, or a visitor who signs
     * out. */
    bool last = --stream->holders == 0;
    (void)pthread_mutex_unlock(&stream->lock);
    if (!last)
        return;
    (void)pthread_mutex_destroy(&stream->lock);
    str_done(&stream->unread);
    free(stream);
}

/* With its lock. */
static void wake(struct http_stream *stream)
{
    if (!stream->asleep)
        return;
    stream->asleep = false;
    MHD_resume_connection(stream->connection);
}

/* Called by libmicrohttpd's thread. A return of 0 without a suspend would make it call again at
 * once, in a loop (libmicrohttpd manual, MHD_ContentReaderCallback). */
static ssize_t on_room(void *context, uint64_t position, char *to, size_t most)
{
    struct http_stream *stream = context;
    ssize_t len = 0;
    (void)position;
    (void)pthread_mutex_lock(&stream->lock);
    size_t left = stream->unread.len - stream->taken;
    if (left > 0 && !stream->ended) {
        len = (ssize_t)(left < most ? left : most);
        memcpy(to, stream->unread.data + stream->taken, (size_t)len);
        stream->taken += (size_t)len;
        if (stream->taken == stream->unread.len) {
            /* A burst must not stay allocated for each of a thousand clients. */
            if (stream->unread.len > KEPT)
                str_done(&stream->unread);
            str_clear(&stream->unread);
            stream->taken = 0;
        }
    } else if (stream->ended) {
        len = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        /* With the lock: a text that is added now finds asleep and resumes the connection. */
        stream->asleep = true;
        MHD_suspend_connection(stream->connection);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return len;
}

/* libmicrohttpd has done with the answer: after its end, or because the client has gone. */
static void on_end(void *context)
{
    struct http_stream *stream = context;
    struct http *http = stream->http;
    (void)pthread_mutex_lock(&http->lock);
    *stream->place = stream->next;
    if (stream->next != NULL)
        stream->next->place = stream->place;
    (void)pthread_mutex_unlock(&http->lock);
    (void)pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    stream->asleep = false;
    (void)pthread_mutex_unlock(&stream->lock);
    let_go(stream);
}

struct http_stream *http_stream_open(struct http_request *request, const char *type)
{
    struct http *http = request->http;
    struct http_stream *stream = xcalloc(1, sizeof *stream);
    *stream = (struct http_stream){.http = http,
                                   .connection = request->connection,
                                   .fd = request->mark != NULL ? request->mark->fd : -1,
                                   .holders = 2};
    (void)pthread_mutex_init(&stream->lock, NULL);
    (void)pthread_mutex_lock(&http->lock);
    /* A stream that opens while the server stops is not in the list that streams_end has walked. */
    stream->ended = http->stopping;
    stream->next = http->streams;
    stream->place = &http->streams;
    if (http->streams != NULL)
        http->streams->place = &stream->next;
    http->streams = stream;
    (void)pthread_mutex_unlock(&http->lock);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_room, stream, on_end);
    (void)MHD_add_response_header(response, "Content-Type", type);
    request_respond(request, 200, response);
    return stream;
}

/* With its lock. Whether the client is too far behind for len more bytes: UNREAD_MOST for longer
 * than BEHIND_US, or AT_ONCE_MOST at any time, because much may happen in one moment. */
static bool is_deaf(struct http_stream *stream, size_t len)
{
    size_t unread = stream->unread.len - stream->taken;
    int64_t now_us = clock_boot_us();
    if (unread == 0)
        stream->behind_us = now_us;
    return unread + len > AT_ONCE_MOST ||
           (unread + len > UNREAD_MOST && now_us - stream->behind_us > BEHIND_US);
}

bool http_stream_send(struct http_stream *stream, const char *text, size_t len)
{
    (void)pthread_mutex_lock(&stream->lock);
    if (!stream->ended && is_deaf(stream, len)) {
        stream->ended = true;
        /* libmicrohttpd waits for room in a socket that has none; only a shutdown makes it notice
         * the end. */
        (void)shutdown(stream->fd, SHUT_RDWR);
    }
    bool there = !stream->ended;
    if (there)
        str_add(&stream->unread, text, len);
    wake(stream);
    (void)pthread_mutex_unlock(&stream->lock);
    return there;
}

void http_stream_close(struct http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    wake(stream);
    (void)pthread_mutex_unlock(&stream->lock);
    let_go(stream);
}

void streams_end(struct http *http)
{
    for (struct http_stream *stream = http->streams; stream != NULL; stream = stream->next) {
        (void)pthread_mutex_lock(&stream->lock);
        stream->ended = true;
        wake(stream);
        (void)pthread_mutex_unlock(&stream->lock);
    }
}

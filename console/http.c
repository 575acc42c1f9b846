/* The HTTP server on libmicrohttpd, with three kinds of threads: the library's own reads requests
 * and writes answers, workers (console/http_queue.c) run the handlers, a watcher ends connections
 * that take too long and notices clients that have gone. A request suspends its connection while a
 * worker has it, so the library's thread never waits. console/request.c has the request,
 * console/http_stream.c answers without an end, console/listen.c the socket. */
#include "base/ascii.h"
#include "base/clock.h"
#include "base/log.h"
#include "console/http_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DAY_MS         (24 * 3600 * 1000)
#define WATCH_MS       200   /* within it a statement is cancelled after its client has gone */
#define HEADERS_MOST   32768 /* bytes of a connection: a request's head, and libmicrohttpd's own */
#define FILE_MOST      1048576
#define EXPIRES_SOON_S (14 * 24 * 3600)
#define ROOM           4 /* connections that are kept free */

/* ---- Requests come ---- */

static struct http_mark *mark_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void mark_waits(struct http *http, struct http_mark *mark, bool waits)
{
    if (mark == NULL)
        return;
    (void)pthread_mutex_lock(&http->lock);
    mark->since_us = waits ? clock_boot_us() : 0;
    (void)pthread_mutex_unlock(&http->lock);
}

/* With the lock, a moment before the limit: the connection that has waited longest for a whole
 * request is shut down, so that idle connections, however many, keep no client out. At the limit
 * itself libmicrohttpd would refuse the new one. */
static void make_room(struct http *http)
{
    struct http_mark *oldest = NULL;
    int count = 0;
    for (struct http_mark *mark = http->marks; mark != NULL; mark = mark->next) {
        count++;
        if (mark->since_us != 0 && !mark->ending &&
            (oldest == NULL || mark->since_us < oldest->since_us))
            oldest = mark;
    }
    if (count + ROOM < http->options.connections || oldest == NULL)
        return;
    /* shutdown, not close: libmicrohttpd still has the descriptor, and a new connection could get
     * its number. */
    oldest->ending = true;
    (void)shutdown(oldest->fd, SHUT_RDWR);
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    struct http_mark *mark = *socket_context;
    (void)pthread_mutex_lock(&http->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        make_room(http);
        /* The first connection: the watcher sleeps without a limit until now. */
        if (http->marks == NULL && !http->stopping)
            mailbox_poke(&http->watcher.inbox);
        mark = xcalloc(1, sizeof *mark);
        mark->fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        mark->since_us = clock_boot_us();
        mark->next = http->marks;
        mark->link = &http->marks;
        if (http->marks != NULL)
            http->marks->link = &mark->next;
        http->marks = mark;
        *socket_context = mark;
    } else if (mark != NULL) {
        *mark->link = mark->next;
        if (mark->next != NULL)
            mark->next->link = mark->link;
        *socket_context = NULL;
        free(mark);
    }
    (void)pthread_mutex_unlock(&http->lock);
}

/* Without cJSON and problem.c, which know the API: this file answers what never reaches it. The
 * texts are constants without a character that JSON would escape. */
void request_refuse(struct http_request *request, int status, const char *detail, const char *hint)
{
    STR_AUTO body = {0};
    str_format(&body,
               "{\"type\":\"about:blank\",\"status\":%d,\"title\":\"%s\",\"detail\":\"%s\","
               "\"hint\":\"%s\"}",
               status,
               status == 413   ? "Content Too Large"
               : status == 503 ? "Service Unavailable"
                               : "Bad Request",
               detail, hint);
    http_answer(request, status, "application/problem+json", body.data, body.len);
}

static void refuse_large(struct http_request *request)
{
    STR_AUTO hint = {0};
    str_format(&hint, "Send at most %zu bytes; many tasks are published in several runs.",
               request->http->options.body_most);
    request_refuse(request, 413, "the body is too large", hint.data);
}

static enum http_turn turn_of(const struct http *http, const struct http_request *request)
{
    return http->options.turn != NULL ? http->options.turn(http->options.context, request)
                                      : HTTP_QUEUED;
}

/* The headers that say where a request ends. With two lengths, or a length and a coding, a proxy
 * and this server could find two different requests in the same bytes: request smuggling (RFC 9112,
 * sections 6.3 and 11.2). Two Host headers: RFC 9112, section 3.2. */
struct framing {
    int hosts, lengths, codings;
    bool chunked;
};

static enum MHD_Result take_frame(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct framing *framing = context;
    (void)kind;
    framing->hosts += ascii_same(name, MHD_HTTP_HEADER_HOST);
    framing->lengths += ascii_same(name, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (ascii_same(name, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        framing->codings++;
        framing->chunked = value != NULL && ascii_same(value, "chunked");
    }
    return MHD_YES;
}

static bool is_framed(struct MHD_Connection *connection)
{
    struct framing framing = {0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, take_frame, &framing);
    return framing.hosts <= 1 && framing.lengths + framing.codings <= 1 &&
           (framing.codings == 0 || framing.chunked);
}

/* A body whose Content-Length is too large is refused before any of it is read. */
static bool announces_too_large(const struct http *http, struct MHD_Connection *connection)
{
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length != NULL && strtoull(length, NULL, 10) > http->options.body_most;
}

/* libmicrohttpd calls it when the head has come, for each piece of the body, at the body's end, and
 * after a resume. The call that finds a response queues it. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_len, void **request_context)
{
    struct http *http = context;
    struct http_request *request = *request_context;
    (void)version;
    if (request == NULL) {
        request = request_new(http, connection, method, url);
        request->mark = mark_of(connection);
        *request_context = request;
        if (!is_framed(connection))
            request_refuse(
                request, 400,
                "its Host or the length of its body is given twice, or in a coding that is "
                "not known here",
                "Send one Host, and one Content-Length or Transfer-Encoding: chunked.");
        else if (announces_too_large(http, connection))
            refuse_large(request);
        else
            return MHD_YES;
        return MHD_queue_response(connection, (unsigned)request->status, request->response);
    }
    if (*data_len > 0) {
        bool goes_on = request_take(request, data, *data_len);
        *data_len = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    if (request->body_seen > http->options.body_most && request->response == NULL)
        refuse_large(request);
    if (request->response == NULL && !request->queued && !request_read(request))
        request_refuse(request, 400,
                       "the path or the query is not valid percent-encoded UTF-8, is too long, or "
                       "is for another host",
                       "Encode what is not plain as %XX of UTF-8, and send the host of the address "
                       "as Host.");
    if (request->response == NULL && !request->queued) {
        enum http_turn turn = turn_of(http, request);
        /* The whole request is here: from now on the client waits for the server, not the other way
         * round. */
        mark_waits(http, request->mark, false);
        if (turn == HTTP_AT_ONCE)
            http->options.handler(http->options.context, request);
        else if (queue_add(request, turn == HTTP_FIRST))
            return MHD_YES; /* from here on it is the worker's */
        else
            request_refuse(request, 503, "the server stops", "Try again in a moment.");
    }
    if (request->response != NULL)
        return MHD_queue_response(connection, (unsigned)request->status, request->response);
    return MHD_YES;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct http_request *request = *request_context;
    (void)connection;
    (void)code;
    if (request == NULL)
        return;
    /* Keep-alive: the time for the next request begins now. */
    mark_waits(http, request->mark, true);
    request_free(request);
    *request_context = NULL;
}

/* libmicrohttpd would decode the whole path at once, and a %2F in the name of a job would become a
 * slash between segments. request.c decodes a segment and a value at a time. */
static size_t keep_encoded(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* The library logs what clients do wrong, too, so only the last line is kept, for a start that
 * fails. */
static void on_trouble(void *context, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
static void on_trouble(void *context, const char *fmt, va_list ap)
{
    struct http *http = context;
    (void)vsnprintf(http->trouble, sizeof http->trouble, fmt, ap);
}

/* ---- The certificate ---- */

/* A PEM file as libmicrohttpd takes it. */
static enum rc read_file(const char *path, char **ret_text, struct err *err)
{
    char text[128];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, path,
                       "The file must be readable for the login of this process.",
                       "cannot read it: %s", strerror_r(errno, text, sizeof text));
    /* One more, so that the text ends with a NUL: libmicrohttpd takes it as a string. */
    *ret_text = xcalloc(1, FILE_MOST + 1);
    size_t len = fread(*ret_text, 1, FILE_MOST, file);
    (void)fclose(file);
    if (len == 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, path, "It is a file in PEM format.",
                       "the file is empty");
    return RC_OK;
}

/* The text of a PEM file as GnuTLS takes it; it borrows the text. */
static gnutls_datum_t datum_of(char *pem)
{
    return (gnutls_datum_t){(unsigned char *)pem, (unsigned)strlen(pem)};
}

/* libmicrohttpd only reports that it could not start; GnuTLS says why the pair is wrong. */
static enum rc check_pair(const struct http *http, struct err *err)
{
    const struct http_options *options = &http->options;
    gnutls_certificate_credentials_t pair;
    if (gnutls_certificate_allocate_credentials(&pair) != 0)
        return err_set(err, RC_FATAL, ERR_INTERNAL, options->certificate, "", "no memory for TLS");
    const gnutls_datum_t certificate = datum_of(http->certificate), key = datum_of(http->key);
    int answer = gnutls_certificate_set_x509_key_mem(pair, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(pair);
    if (answer >= 0)
        return RC_OK;
    return err_set(
        err, RC_FATAL, ERR_CONFIG, options->certificate,
        "Name the PEM file with the certificate and its chain in tls_certificate, and the "
        "file with its private key in tls_key.",
        "certificate and key (%s) do not fit: %s", options->key, gnutls_strerror(answer));
}

/* A process that lives for months outlives its certificate, and its clients see only that they are
 * refused. The first certificate of the file is the server's own; the rest is its chain. */
static void warn_of_expiry(const struct http *http)
{
    const gnutls_datum_t text = datum_of(http->certificate);
    gnutls_x509_crt_t own;
    char day[16];
    struct tm utc;
    if (gnutls_x509_crt_init(&own) != 0)
        return;
    time_t until = gnutls_x509_crt_import(own, &text, GNUTLS_X509_FMT_PEM) == 0
                       ? gnutls_x509_crt_get_expiration_time(own)
                       : (time_t)-1;
    gnutls_x509_crt_deinit(own);
    if (until == (time_t)-1 || until - time(NULL) > EXPIRES_SOON_S)
        return;
    (void)gmtime_r(&until, &utc);
    (void)strftime(day, sizeof day, "%Y-%m-%d", &utc);
    log_event(LOG_WARN, "certificate_expires", "certificate", http->options.certificate,
              "not_after", day, "hint", "Renew it, then restart the console.", NULL);
}

static enum rc load_tls(struct http *http, struct err *err)
{
    if (http->options.certificate == NULL)
        return RC_OK;
    enum rc rc = read_file(http->options.certificate, &http->certificate, err);
    if (rc == RC_OK)
        rc = read_file(http->options.key, &http->key, err);
    if (rc == RC_OK)
        rc = check_pair(http, err);
    if (rc == RC_OK)
        warn_of_expiry(http);
    return rc;
}

/* ---- The watcher ---- */

/* A client that has closed, and one that has shut down its sending side but still reads, look the
 * same here and to libmicrohttpd, which gives both up. A statement whose answer no client awaits is
 * the greater harm. */
bool socket_left(int fd)
{
    struct pollfd state = {.fd = fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* MHD_OPTION_CONNECTION_TIMEOUT counts from the last byte, so a client that sends one byte a second
 * is never late for it. since_us counts from the begin of the connection, or from the end of the
 * request before. */
static void watch(struct http *http)
{
    int64_t late_us = clock_boot_us() - (int64_t)http->options.idle_s * 1000000;
    for (struct http_request *request = http->watched; request != NULL; request = request->watched)
        if (!request->has_gone && request->mark != NULL && socket_left(request->mark->fd))
            request_notify_gone(request);
    for (struct http_mark *mark = http->marks; mark != NULL; mark = mark->next)
        if (mark->since_us != 0 && mark->since_us < late_us)
            (void)shutdown(mark->fd, SHUT_RDWR);
}

/* Sleeps while there is no connection: a daemon whose metrics no one reads costs nothing. A process
 * with a certificate wakes once a day. */
static void *watcher_main(void *context)
{
    struct http *http = context;
    bool stop = false, connected = false;
    int asleep_ms = http->certificate != NULL ? DAY_MS : -1;
    int64_t warn_us = clock_boot_us() + DAY_MS * 1000LL; /* load_tls has warned */
    while (!stop) {
        mailbox_wait(&http->watcher.inbox, connected ? WATCH_MS : asleep_ms);
        (void)thread_take(&http->watcher, &stop);
        if (http->certificate != NULL && clock_boot_us() >= warn_us) {
            warn_of_expiry(http);
            warn_us += DAY_MS * 1000LL;
        }
        (void)pthread_mutex_lock(&http->lock);
        watch(http);
        connected = http->marks != NULL;
        (void)pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* ---- Start and stop ---- */

static enum rc start_daemon(struct http *http, struct err *err)
{
    const struct http_options *options = &http->options;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, http->key},
                                   {MHD_OPTION_END, 0, NULL}};
    bool encrypted = http->certificate != NULL;
    /* One internal thread with epoll; ALLOW_SUSPEND_RESUME is needed for both queues and streams.
     * STRICT_FOR_CLIENT refuses requests that only lenient servers read. */
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
            (encrypted ? MHD_USE_TLS : 0),
        0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_trouble, http,
        MHD_OPTION_LISTEN_SOCKET, http->listener.fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        http, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_encoded, http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)options->idle_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MOST, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, encrypted ? tls : tls + 2, MHD_OPTION_END);
    if (http->daemon != NULL)
        return RC_OK;
    return err_set(err, RC_FATAL, ERR_CONFIG, options->listen, "",
                   "the HTTP server does not start: %s", http->trouble);
}

static enum rc start_threads(struct http *http, struct err *err)
{
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < http->options.workers; i++)
        rc = crew_add(&http->workers, "http",
                      i < http->options.reserved ? queue_serve_first : queue_serve, http, err);
    if (rc == RC_OK)
        rc = thread_start(&http->watcher, "http", watcher_main, http, err);
    http->watching = rc == RC_OK;
    return rc;
}

enum rc http_open(const struct http_options *options, struct http **ret_http, struct err *err)
{
    struct http *http = xcalloc(1, sizeof *http);
    *http = (struct http){.options = *options, .listener.fd = -1};
    queue_init(http);
    (void)pthread_mutex_init(&http->lock, NULL);
    (void)pthread_cond_init(&http->filled, NULL);
    (void)pthread_cond_init(&http->hurries, NULL);
    enum rc rc = load_tls(http, err);
    if (rc == RC_OK)
        rc = listen_open(options->listen, &http->listener, err);
    if (rc != RC_OK) {
        http_stop(http);
        return rc;
    }
    *ret_http = http;
    return RC_OK;
}

enum rc http_serve(struct http *http, struct err *err)
{
    /* Workers before the daemon: the first request finds them there. */
    enum rc rc = start_threads(http, err);
    return rc == RC_OK ? start_daemon(http, err) : rc;
}

/* No new request is taken; each one that is queued or under way gets an answer first, because
 * MHD_stop_daemon must not be called with suspended connections (libmicrohttpd manual). Requests in
 * the queue are answered that the server stops; a handler whose statement was cancelled answers
 * that. */
void http_stop(struct http *http)
{
    if (http == NULL)
        return;
    if (http->daemon != NULL)
        (void)MHD_quiesce_daemon(http->daemon);
    (void)pthread_mutex_lock(&http->lock);
    http->stopping = true;
    streams_end(http);
    queue_end(http);
    (void)pthread_mutex_unlock(&http->lock);
    crew_join(&http->workers);
    if (http->watching)
        thread_stop(&http->watcher);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    listen_close(&http->listener);
    (void)pthread_cond_destroy(&http->filled);
    (void)pthread_cond_destroy(&http->hurries);
    (void)pthread_mutex_destroy(&http->lock);
    free(http->certificate);
    free(http->key);
    free(http);
}

const struct listener *http_listener(const struct http *http)
{
    return &http->listener;
}

void http_url(const struct http *http, struct str *url)
{
    const struct listener *listener = &http->listener;
    const char *scheme = http->certificate != NULL ? "https" : "http";
    if (listener->local)
        str_text(url, http->options.listen);
    else if (strchr(listener->host, ':') != NULL)
        str_format(url, "%s://[%s]:%d/", scheme, listener->host, listener->port);
    else
        str_format(url, "%s://%s:%d/", scheme, listener->host, listener->port);
}

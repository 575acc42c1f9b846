/* One request of libmicrohttpd: decodes target, query and body into what a handler reads
 * (console/request.h), builds its answer (console/answer.h), and remembers whom to notify when its
 * client goes (console/patience.h). console/http.c calls it for each request; no route is known
 * here. */
#include "base/ascii.h"
#include "base/utf8.h"
#include "console/http_inside.h"
#include "console/patience.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#define ZLIB_CONST
#include <zlib.h>

static const char *header_of(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static void find_client(struct http_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info != NULL ? info->client_addr : NULL;
    /* A Unix socket has no address. */
    (void)strcpy(request->client, "local");
    if (address == NULL)
        return;
    if (address->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
                        request->client, sizeof request->client);
    if (address->sa_family != AF_INET6)
        return;
    /* A client with IPv4 that comes to an IPv6 socket (RFC 4291, section 2.5.5.2) has its own
     * address: 127.0.0.1 means this host, whichever socket it comes to. */
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    bool mapped = IN6_IS_ADDR_V4MAPPED(six);
    (void)inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? &six->s6_addr[12] : six->s6_addr,
                    request->client, sizeof request->client);
}

struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const char *method, const char *path)
{
    struct http_request *request = xcalloc(1, sizeof *request);
    *request = (struct http_request){
        .http = http, .connection = connection, .method = xstrdup(method), .path = xstrdup(path)};
    find_client(request);
    return request;
}

/* In place: %NN, and + as a blank in a query only (in a path + is itself). False: a % without two
 * digits, an encoded NUL, which would cut the text for every later reader, or bytes that are not
 * UTF-8, which PostgreSQL would refuse. */
static bool decode(char *text, bool query)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        bool coded = *at == '%';
        if (coded && !(ascii_xdigit(at[1]) && ascii_xdigit(at[2])))
            return false;
        *to = coded ? ascii_byte(at + 1) : query && *at == '+' ? ' ' : *at;
        if (*to++ == '\0')
            return false;
        at += coded ? 2 : 0;
    }
    *to = '\0';
    return utf8_prefix(text, (size_t)(to - text)) == (size_t)(to - text);
}

static bool read_path(struct http_request *request)
{
    request->decoded = xstrdup(request->path);
    char *rest = request->decoded, *segment;
    /* Divided first, decoded then: a name with a slash, sent as %2F, stays one segment. */
    while ((segment = strsep(&rest, "/")) != NULL) {
        if (*segment == '\0')
            continue;
        if (request->segment_count == REQUEST_SEGMENTS_MOST || !decode(segment, false))
            return false;
        request->segments[request->segment_count++] = segment;
    }
    return true;
}

static enum MHD_Result take_pair(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct http_request *request = context;
    (void)kind;
    if (request->query_count == REQUEST_QUERY_MOST) {
        request->wrong = true;
        return MHD_NO;
    }
    /* libmicrohttpd has split the query at & and = without decoding (keep_encoded in
     * console/http.c). */
    char *copy = xstrdup(name), *text = xstrdup(value != NULL ? value : "");
    request->query[request->query_count].name = copy;
    request->query[request->query_count++].value = text;
    if (!decode(copy, true) || !decode(text, true))
        request->wrong = true;
    return MHD_YES;
}

/* A target may be a whole address (RFC 9112, section 3.2.2). Its host must be that of the Host
 * header: guard_host checks only the header. */
static bool take_target(struct http_request *request)
{
    static const char *const schemes[] = {"http://", "https://"};
    const char *host = header_of(request, MHD_HTTP_HEADER_HOST);
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        if (!ascii_same_start(request->path, schemes[i], len))
            continue;
        char *path = request->path + len;
        size_t name = strcspn(path, "/");
        if (host == NULL || strlen(host) != name || !ascii_same_start(path, host, name))
            return false;
        path = xstrdup(path[name] != '\0' ? path + name : "/");
        free(request->path);
        request->path = path;
    }
    return *request->path == '/';
}

bool request_read(struct http_request *request)
{
    if (!take_target(request))
        return false;
    if (!read_path(request))
        return false;
    (void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, take_pair, request);
    return !request->wrong;
}

bool request_take(struct http_request *request, const char *data, size_t len)
{
    /* A chunked body announces no length, so its size is known only here. Up to a second limit the
     * bytes behind the first one are read and dropped: libmicrohttpd answers only at the end of a
     * body, and a client that has sent a little too much is to read its 413. */
    size_t most = request->http->options.body_most;
    request->body_seen += len;
    if (request->body_seen <= most)
        str_add(&request->body, data, len);
    else
        str_done(&request->body);
    return request->body_seen <= BODY_DROPPED_MOST * most;
}

void request_forget_headers(struct http_request *request)
{
    while (request->header_count > 0) {
        request->header_count--;
        free(request->headers[request->header_count].name);
        free(request->headers[request->header_count].value);
    }
}

void request_free(struct http_request *request)
{
    if (request == NULL)
        return;
    for (int i = 0; i < request->query_count; i++) {
        free((char *)(uintptr_t)request->query[i].name);
        free((char *)(uintptr_t)request->query[i].value);
    }
    request_forget_headers(request);
    if (request->response != NULL)
        MHD_destroy_response(request->response);
    str_done(&request->body);
    free(request->method);
    free(request->path);
    free(request->decoded);
    free(request);
}

const struct listener *http_listener_of(const struct http_request *request)
{
    return &request->http->listener;
}

const char *http_method(const struct http_request *request)
{
    return request->method;
}

const char *http_path(const struct http_request *request)
{
    return request->path;
}

const char *http_segment(const struct http_request *request, int i)
{
    return i >= 0 && i < request->segment_count ? request->segments[i] : NULL;
}

bool http_query_at(const struct http_request *request, int i, const char **ret_name,
                   const char **ret_value)
{
    if (i < 0 || i >= request->query_count)
        return false;
    *ret_name = request->query[i].name;
    *ret_value = request->query[i].value;
    return true;
}

const char *http_header(const struct http_request *request, const char *name)
{
    return header_of(request, name);
}

/* libmicrohttpd has parsed the Cookie header. */
const char *http_cookie(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

const char *http_body(const struct http_request *request, size_t *ret_len)
{
    *ret_len = request->body.len;
    return request->body.data != NULL ? request->body.data : "";
}

const char *http_client(const struct http_request *request)
{
    return request->client;
}

/* A value with a line feed could begin another header, or a second answer (response splitting), so
 * no control character is sent. */
static bool one_line(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return false;
    return true;
}

void http_add_header(struct http_request *request, const char *name, const char *value)
{
    if (request->header_count == REQUEST_HEADERS_MOST || !one_line(value))
        return;
    request->headers[request->header_count].name = xstrdup(name);
    request->headers[request->header_count++].value = xstrdup(value);
}

void request_respond(struct http_request *request, int status, struct MHD_Response *response)
{
    for (int i = 0; i < request->header_count; i++)
        (void)MHD_add_response_header(response, request->headers[i].name,
                                      request->headers[i].value);
    request->response = response;
    request->status = status;
}

/* A body that fits one packet gains nothing from gzip. q-values are not read: a client that names
 * gzip in Accept-Encoding accepts it in practice. */
static bool compressible(const struct http_request *request, const char *type, size_t len)
{
    const char *accepted = header_of(request, "Accept-Encoding");
    return len > 1400 && type != NULL && accepted != NULL && strstr(accepted, "gzip") != NULL &&
           (strncmp(type, "text/", 5) == 0 || strncmp(type, "application/", 12) == 0 ||
            strncmp(type, "image/svg", 9) == 0);
}

/* In gzip's format (RFC 1952), which zlib writes for MAX_WBITS + 16; deflateBound makes one call
 * enough. NULL: not compressed. */
static char *compress_body(const char *body, size_t len, size_t *ret_len)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    size_t room = deflateBound(&stream, len);
    char *packed = xmalloc(room);
    stream.next_in = (const unsigned char *)body;
    stream.avail_in = (unsigned)len;
    stream.next_out = (unsigned char *)packed;
    stream.avail_out = (unsigned)room;
    bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    *ret_len = stream.total_out;
    (void)deflateEnd(&stream);
    if (done)
        return packed;
    free(packed);
    return NULL;
}

void http_answer(struct http_request *request, int status, const char *type, const char *body,
                 size_t len)
{
    if (request->response != NULL)
        return;
    /* The first answer counts: a handler that has refused a request may return through code that
     * answers. */
    size_t packed_len = 0;
    char *packed = compressible(request, type, len) ? compress_body(body, len, &packed_len) : NULL;
    struct MHD_Response *response =
        packed != NULL
            ? MHD_create_response_from_buffer(packed_len, packed, MHD_RESPMEM_MUST_FREE)
            : MHD_create_response_from_buffer(len, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (packed != NULL)
        (void)MHD_add_response_header(response, "Content-Encoding", "gzip");
    if (type != NULL)
        (void)MHD_add_response_header(response, "Content-Type", type);
    request_respond(request, status, response);
}

void http_answer_tagged(struct http_request *request, const char *type, const char *vary,
                        const char *body, size_t len)
{
    char tag[32];
    const char *known = header_of(request, "If-None-Match");
    /* The tag is a hash of the body before compression, so the same document always has the same
     * tag, in each process and after a restart. It is weak, because the compressed form has it, too
     * (RFC 9110, section 8.8.3). */
    (void)snprintf(tag, sizeof tag, "W/\"%016llx\"", (unsigned long long)XXH3_64bits(body, len));
    http_add_header(request, "ETag", tag);
    /* no-cache: it may be stored, but each use asks again (RFC 9111, section 5.2.2.4), and gets a
     * 304. */
    http_add_header(request, "Cache-Control", "no-cache");
    http_add_header(request, "Vary", vary);
    /* If-None-Match may have a list, and is compared weakly (section 13.1.2): without the W/. */
    if (known != NULL && strstr(known, tag + strlen("W/")) != NULL)
        http_answer(request, 304, NULL, "", 0);
    else
        http_answer(request, 200, type, body, len);
}

void http_watch(struct http_request *request, void (*fn)(void *context), void *context)
{
    struct http *http = request->http;
    (void)pthread_mutex_lock(&http->lock);
    bool was = request->gone != NULL;
    request->gone = fn;
    request->gone_context = context;
    /* It went before this watch: without this call nothing would ever call fn. */
    if (fn != NULL && (request->has_gone || http->stopping))
        fn(context);
    if (fn != NULL && !was) {
        request->watched = http->watched;
        request->place = &http->watched;
        if (http->watched != NULL)
            http->watched->place = &request->watched;
        http->watched = request;
    } else if (fn == NULL && was) {
        /* With the lock, under which request_notify_gone runs fn: when this function returns, no
         * call of the old fn is under way, and its context may be freed. */
        *request->place = request->watched;
        if (request->watched != NULL)
            request->watched->place = request->place;
    }
    (void)pthread_mutex_unlock(&http->lock);
}

void request_notify_gone(struct http_request *request)
{
    if (request->has_gone)
        return;
    request->has_gone = true;
    request->gone(request->gone_context);
}

bool http_gone(struct http_request *request)
{
    struct http *http = request->http;
    (void)pthread_mutex_lock(&http->lock);
    bool gone = request->has_gone || http->stopping;
    (void)pthread_mutex_unlock(&http->lock);
    return gone;
}

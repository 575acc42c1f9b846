/* The checks that a request must pass before its path matters, and the headers of every answer.
 * They defend a browser inside the network against pages of other sites: Host against DNS
 * rebinding, Origin and Sec-Fetch-Site against requests that another site's page sends, the CSRF
 * token against those that carry a cookie. The rights of a visitor are checked later
 * (console/api.c). */
#include "console/guard.h"

#include "base/ascii.h"
#include "console/answer.h"
#include "console/call.h"
#include "console/problem.h"
#include "console/request.h"
#include "console/secret.h"

#include <stdio.h>
#include <string.h>

static bool refuse(struct http_request *request, int status, const char *detail, const char *hint)
{
    problem_answer(request, &(struct problem){.status = status, .detail = detail, .hint = hint});
    return false;
}

static bool same(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && ascii_same_start(text, word, len);
}

/* "host", "host:port", "[::1]:port" without its port. */
static size_t name_length(const char *host)
{
    if (*host == '[') {
        const char *end = strchr(host, ']');
        return end != NULL ? (size_t)(end + 1 - host) : strlen(host);
    }
    return strcspn(host, ":");
}

/* A Host without a port fits: a proxy may leave the port out. */
static bool port_fits(const char *host, int port)
{
    char own[16];
    const char *given = host + name_length(host);
    if (*given == '\0')
        return true;
    (void)snprintf(own, sizeof own, ":%d", port);
    return strcmp(given, own) == 0;
}

/* The attack: a page of evil.example changes its DNS record to 127.0.0.1 and asks "itself". The
 * request reaches this process, but its Host is still evil.example, so the browser's own rule about
 * origins does not protect, and this check does. */
static bool is_own(const char *host, const struct listener *listener, const char *hosts)
{
    char own[80];
    size_t len = name_length(host);
    /* A browser reaches a Unix socket through a proxy only, and `hosts` has the proxy's names. */
    if (listener->local)
        return *hosts == '\0' || same(host, len, "localhost");
    if (!port_fits(host, listener->port))
        return false;
    (void)snprintf(own, sizeof own, strchr(listener->host, ':') != NULL ? "[%s]" : "%s",
                   listener->host);
    bool any = strcmp(listener->host, "0.0.0.0") == 0 || strcmp(listener->host, "::") == 0;
    return same(host, len, own) ||
           ((listener->loopback || any) && /* no name of a site can be one of these */
            (same(host, len, "localhost") || same(host, len, "127.0.0.1") ||
             same(host, len, "[::1]")));
}

/* An entry with a port fits that port only; one without fits all. "[::1]" has colons and no
 * port. */
static bool is_listed(const char *host, const char *hosts)
{
    for (const char *at = hosts; *at != '\0'; at += strspn(at, ", ")) {
        size_t len = strcspn(at, ", ");
        bool with_port = *at == '[' ? at[len - 1] != ']' : memchr(at, ':', len) != NULL;
        size_t given = with_port ? strlen(host) : name_length(host);
        if (len == given && ascii_same_start(at, host, len))
            return true;
        at += len;
    }
    return false;
}

bool guard_host(struct http_request *request, const char *hosts)
{
    const struct listener *listener = http_listener_of(request);
    const char *host = http_header(request, "Host");
    if (host != NULL && *host != '\0' && (is_own(host, listener, hosts) || is_listed(host, hosts)))
        return true;
    /* 421: the request reached a server that is not the one of its target (RFC 9110, section
     * 15.5.20). */
    return refuse(
        request, 421, "the request is for a host that is not this console",
        "Use the address that `lockstep console run` prints, or add the name to [console] hosts.");
}

/* "https://host:8330", whose host is that of the request (RFC 6454, section 7). A console without
 * TLS accepts both schemes: a proxy before it may have TLS. */
static bool own_origin(const char *origin, const char *host, bool encrypted)
{
    static const char secure[] = "https://", plain[] = "http://";
    if (ascii_same_start(origin, secure, sizeof secure - 1))
        return ascii_same(origin + sizeof secure - 1, host);
    return !encrypted && ascii_same_start(origin, plain, sizeof plain - 1) &&
           ascii_same(origin + sizeof plain - 1, host);
}

bool guard_origin(struct http_request *request, bool encrypted)
{
    const char *origin = http_header(request, "Origin"), *host = http_header(request, "Host");
    const char *site = http_header(request, "Sec-Fetch-Site");
    /* Navigation from a link on another site sends Sec-Fetch-Site: cross-site, and the page must
     * open then; a GET has no effect. */
    bool get =
        strcmp(http_method(request), "GET") == 0 || strcmp(http_method(request), "HEAD") == 0;
    if (origin != NULL && (host == NULL || !own_origin(origin, host, encrypted)))
        return refuse(request, 403, "the request comes from a page of another site",
                      "Open the console itself; programs send no Origin, but a token.");
    if (!get && site != NULL && strcmp(site, "same-origin") != 0)
        return refuse(request, 403, "the request comes from a page of another site",
                      "Open the console itself; programs send no Origin, but a token.");
    return true;
}

/* A form of another site can send text/plain or multipart without asking first; application/json
 * makes the browser ask with OPTIONS (Fetch, "CORS-preflight"), which this server does not
 * grant. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return type != NULL && ascii_same_start(type, json, sizeof json - 1) &&
           (type[sizeof json - 1] == '\0' || type[sizeof json - 1] == ';' ||
            type[sizeof json - 1] == ' ');
}

bool guard_change(struct http_request *request, const char *csrf, bool lines)
{
    const char *given = http_header(request, "X-CSRF-Token");
    size_t len;
    (void)http_body(request, &len);
    if (len > 0 && !is_json(http_header(request, "Content-Type")) &&
        !(lines && call_is_lines(request)))
        return refuse(request, 415, "the body is not application/json",
                      lines ? "Send Content-Type: application/json, or application/jsonl."
                            : "Send Content-Type: application/json.");
    /* A token of a program has no CSRF token and needs none: no browser adds its header by
     * itself. */
    if (*csrf == '\0' || (given != NULL && secret_same(csrf, given)))
        return true;
    /* The code is for the console's page: after a sign-in of another tab it reads the token
     * again. */
    problem_answer(request,
                   &(struct problem){.status = 403,
                                     .detail = "the CSRF token is missing or wrong",
                                     .hint = "Send what `csrf` of GET api/v1/session says as the "
                                             "header X-CSRF-Token.",
                                     .code = "csrf"});
    return false;
}

void guard_headers(struct http_request *request, bool encrypted)
{
    /* No inline script or style, and nothing from elsewhere: a name of a task that contained HTML
     * could not run. */
    http_add_header(request, "Content-Security-Policy",
                    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; "
                    "form-action 'self'; "
                    "frame-ancestors 'none'");
    http_add_header(request, "X-Content-Type-Options", "nosniff");
    /* The same as frame-ancestors, for browsers that do not know that. */
    http_add_header(request, "X-Frame-Options", "DENY");
    http_add_header(request, "Referrer-Policy", "no-referrer");
    http_add_header(request, "Cross-Origin-Resource-Policy", "same-origin");
    http_add_header(request, "Cross-Origin-Opener-Policy", "same-origin");
    /* RFC 6797, section 7.2: only over TLS. One year, in seconds. */
    if (encrypted)
        http_add_header(request, "Strict-Transport-Security", "max-age=31536000");
}

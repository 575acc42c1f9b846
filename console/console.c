/* The console as a process: checks the options, starts the HTTP server and the databases, and finds
 * the place of each request: guard its Host and Origin, strip base_path, find the database, then
 * API, file, page, metrics or probe. console/http.c knows the protocol, console/api.c the routes;
 * neither knows paths outside its own. */
#include "console/console.h"

#include "base/log.h"
#include "base/remedies.h"
#include "console/answer.h"
#include "console/api.h"
#include "console/assets.h"
#include "console/clusters.h"
#include "console/guard.h"
#include "console/http.h"
#include "console/problem.h"
#include "console/request.h"

#include <stdlib.h>
#include <string.h>

#define RESERVED  2       /* workers, for readyz and sign-in */
#define BODY_MOST 1048576 /* bytes: 1 MiB */

struct console {
    const struct console_options *options;
    struct http *http;
    struct api api; /* what those of all databases have in common */
    struct clusters *clusters;
    char *base_path; /* "/" or "/x/" */
    int skip;        /* its segments */
};

/* Where a request belongs: its database, and how many segments of its path are before the rest,
 * which names the thing that is asked for. */
struct place {
    struct cluster *cluster;
    const char *base_path;
    bool named; /* the path names the database */
    int skip;
};

static bool is_segment(const struct http_request *request, int i, const char *word)
{
    const char *given = http_segment(request, i);
    return word == NULL ? given == NULL : given != NULL && strcmp(given, word) == 0;
}

/* Whether the page is the answer: for a path of web/pages/index.js, or for a browser, which then
 * shows that there is no such page. A probe or a program gets 404 for an address that leads
 * nowhere: 200 with a page would look like a success. */
static bool is_page(const struct http_request *request, int skip)
{
    static const char *const pages[] = {"clusters", "runs",   "tasks",  "queues", "executors",
                                        "locks",    "jobs",   "missed", "log",    "rejected",
                                        "replay",   "system", NULL};
    const char *accepts = http_header(request, "Accept");
    bool found = is_segment(request, skip, NULL) ||
                 (accepts != NULL && strstr(accepts, "text/html") != NULL);
    for (int i = 0; !found && pages[i] != NULL; i++)
        found = is_segment(request, skip, pages[i]);
    return found;
}

static void not_found(struct http_request *request)
{
    problem_answer(request, &(struct problem){
                                .status = 404,
                                .detail = "there is nothing at this path",
                                .hint = "The API is below api/v1/; api/v1/openapi.json lists it."});
}

/* 405 must have Allow (RFC 9110, section 15.5.6). */
static void refuse_method(struct http_request *request)
{
    http_add_header(request, "Allow", "GET, HEAD");
    problem_answer(request, &(struct problem){.status = 405,
                                              .detail = "only GET is answered here",
                                              .hint = "Changes are made below api/v1/; "
                                                      "api/v1/openapi.json lists them."});
}

/* "/base/assets/x/y.js" -> "x/y.js" */
static void answer_asset(const struct console *console, struct http_request *request, int skip)
{
    STR_AUTO path = {0};
    const char *segment;
    for (int i = skip + 1; (segment = http_segment(request, i)) != NULL; i++)
        str_format(&path, "%s%s", path.len > 0 ? "/" : "", segment);
    if (path.len == 0 || !asset_answer(request, console->options->assets, path.data))
        not_found(request);
}

/* A file that is asked for in the wrong place. A page's path may have a dot, in the name of a job:
 * below the first segment. */
static bool is_file(const struct http_request *request, int skip)
{
    return http_segment(request, skip + 1) == NULL && asset_type(http_path(request)) != NULL;
}

/* Everything that waits for the database, its API and its numbers, counts against one limit per
 * database: requests to a server that hangs must not take the workers of the others. */
static void answer_database(const struct place *place, struct http_request *request)
{
    struct api api = *cluster_api(place->cluster);
    api.base_path = place->base_path;
    if (!cluster_enter(place->cluster)) {
        http_add_header(request, "Retry-After", "2");
        problem_answer(request, &(struct problem){.status = 503,
                                                  .detail = "too many requests wait for this "
                                                            "database",
                                                  .hint = "Try again in a moment."});
        return;
    }
    if (is_segment(request, place->skip, "metrics"))
        api_answer_metrics(&api, request);
    else
        api_answer(&api, request, place->skip);
    cluster_leave(place->cluster);
}

static void answer_ready(const struct console *console, const struct place *place,
                         struct http_request *request)
{
    /* A console with several databases is ready when one of them answers: a load balancer must not
     * take it away because of one that is down. */
    bool one = place->named || clusters_count(console->clusters) == 1;
    if (clusters_ready(console->clusters, place->named ? place->cluster : NULL))
        http_answer(request, 200, "text/plain; charset=utf-8", "ready\n", 6);
    else
        problem_answer(request, &(struct problem){.status = 503,
                                                  .detail = one ? "the database does not answer"
                                                                : "none of the databases answers",
                                                  .hint = REMEDY_CHECK});
}

static void dispatch(struct console *console, const struct place *place,
                     struct http_request *request)
{
    int skip = place->skip;
    bool get =
        strcmp(http_method(request), "GET") == 0 || strcmp(http_method(request), "HEAD") == 0;
    if (is_segment(request, skip, "api") && is_segment(request, skip + 1, "v1"))
        answer_database(place, request);
    /* Outside of the API nothing can be changed. */
    else if (!get)
        refuse_method(request);
    else if (is_segment(request, skip, "livez"))
        http_answer(request, 200, "text/plain; charset=utf-8", "alive\n", 6);
    else if (is_segment(request, skip, "metrics") && is_segment(request, skip + 1, NULL))
        answer_database(place, request);
    else if (is_segment(request, skip, "readyz"))
        answer_ready(console, place, request);
    else if (is_segment(request, skip, "assets"))
        answer_asset(console, request, skip);
    else if (is_file(request, skip) || is_segment(request, skip, "api") || !is_page(request, skip))
        not_found(request);
    else
        asset_answer_page(request, console->options->assets, place->base_path);
}

/* "/base/clusters/NAME/x" is x of that database, "/base/x" that of the default one. */
static void find_place(struct console *console, struct http_request *request)
{
    STR_AUTO base_path = {0};
    struct place place = {.cluster = clusters_default(console->clusters),
                          .base_path = console->base_path,
                          .skip = console->skip};
    const char *name = http_segment(request, console->skip + 1);
    place.named = is_segment(request, console->skip, "clusters") && name != NULL;
    if (place.named) {
        place.cluster = clusters_find(console->clusters, name);
        place.skip += 2;
        str_format(&base_path, "%sclusters/%s/", console->base_path, name);
        place.base_path = base_path.data;
    }
    if (place.cluster == NULL)
        not_found(request);
    else
        dispatch(console, &place, request);
}

/* Whether the path begins with base_path's segments. */
static bool below_base(const struct console *console, const struct http_request *request)
{
    size_t len = strlen(console->base_path);
    const char *path = http_path(request);
    return strncmp(path, console->base_path, len) == 0 ||
           (strlen(path) == len - 1 && strncmp(path, console->base_path, len - 1) == 0);
}

/* livez is answered by the server's own thread: a supervisor must not kill a process whose workers
 * all wait for a database. readyz and sign-in have reserved workers: pages that wait must not keep
 * a person or a load balancer out. */
static enum http_turn turn_of(void *context, const struct http_request *request)
{
    const struct console *console = context;
    int skip = console->skip;
    if (!below_base(console, request))
        return HTTP_QUEUED;
    if (is_segment(request, skip, "clusters"))
        skip += 2;
    if (is_segment(request, skip, "livez"))
        return HTTP_AT_ONCE;
    bool sign_in = is_segment(request, skip, "api") && is_segment(request, skip + 2, "session") &&
                   strcmp(http_method(request), "POST") == 0;
    return sign_in || is_segment(request, skip, "readyz") ? HTTP_FIRST : HTTP_QUEUED;
}

/* The headers come first, so that refusals have them, too. */
static void handle(void *context, struct http_request *request)
{
    struct console *console = context;
    const struct config *config = console->options->config;
    guard_headers(request, console->api.encrypted);
    if (!guard_host(request, config_get_text(config, "console", "hosts")) ||
        !guard_origin(request, console->api.encrypted))
        return;
    if (below_base(console, request))
        find_place(console, request);
    else
        not_found(request);
}

static enum rc wrong(struct err *err, const char *key, const char *hint, const char *text)
{
    return err_set(err, RC_FATAL, ERR_CONFIG, key, hint, "%s", text);
}

static enum rc check_base_path(const char *path, struct err *err)
{
    size_t len = strlen(path);
    if (len > 0 && path[0] == '/' && path[len - 1] == '/' && strstr(path, "//") == NULL &&
        /* It is put into HTML and into the Path of cookies as it is. */
        strpbrk(path, "\"<>& ?#%") == NULL)
        return RC_OK;
    return wrong(
        err, "console.base_path", "As in base_path = /lockstep/",
        "base_path begins and ends with a slash and has nothing that a URL would have to escape");
}

static enum rc check_tls(const char *certificate, const char *key, struct err *err)
{
    if ((*certificate == '\0') == (*key == '\0'))
        return RC_OK;
    return wrong(err, *key == '\0' ? "console.tls_key" : "console.tls_certificate",
                 "Set both tls_certificate and tls_key, or neither.",
                 "TLS needs a certificate and its key");
}

/* An address that other hosts reach needs a sign-in, and a password needs TLS. Checked after bind,
 * because only then it is known which address a name or a passed socket has. */
static enum rc check_exposed(const struct console *console, struct err *err)
{
    const struct config *config = console->options->config;
    if (http_listener(console->http)->loopback)
        return RC_OK;
    if (!console->api.sign_in)
        return wrong(
            err, "console.login", "Listen on 127.0.0.1, or set login = postgres.",
            "login = none needs a loopback address: everyone who reaches it could come in");
    if (!console->api.encrypted && !config_get_bool(config, "console", "allow_plain"))
        return wrong(
            err, "console.tls_certificate",
            "Set tls_certificate and tls_key; or listen on 127.0.0.1 behind a proxy that has TLS; "
            "or, if the "
            "network is trusted, set allow_plain = on.",
            "an address that others reach needs TLS: passwords would be sent in the clear");
    return RC_OK;
}

static void list(void *context, const struct api *api, struct http_request *request)
{
    const struct console *console = context;
    clusters_answer(console->clusters, api, request);
}

static enum rc start_clusters(struct console *console, struct err *err)
{
    const struct console_options *options = console->options;
    const struct config *config = options->config;
    bool operator= strcmp(config_get_text(config, "console", "anonymous"), "operator") == 0;
    const struct sessions_options sessions = {
        .sign_in = console->api.sign_in,
        .anonymous = operator? LEVEL_OPERATOR : LEVEL_MONITOR,
        .most = (int)config_get_int(config, "console", "sessions"),
        .idle_us = config_get_duration_ms(config, "console", "session_idle") * 1000,
        .longest_us = config_get_duration_ms(config, "console", "session_limit") * 1000};
    /* Without [cluster:NAME] the database of [postgres] is the only one. */
    const struct console_cluster only = {CLUSTER_NAMELESS, options->conninfo};
    bool many = options->cluster_count > 0;
    const struct clusters_options all = {.items = many ? options->clusters : &only,
                                         .count = many ? options->cluster_count : 1,
                                         .port = http_listener(console->http)->port,
                                         .server = many ? NULL : options->server,
                                         .sessions = &sessions,
                                         .common = &console->api};
    return clusters_open(&all, &console->clusters, err);
}

static void settle_api(struct console *console)
{
    const struct config *config = console->options->config;
    console->api = (struct api){
        .config = config,
        .kafka = console->options->kafka,
        .task_conninfo = console->options->cluster_count > 0
                             ? "" /* they have other servers */
                             : config_get_text(config, "postgres", "task_conninfo"),
        .base_path = console->base_path,
        .cookie_path = console->base_path,
        .idle_s = (int)(config_get_duration_ms(config, "console", "session_idle") / 1000),
        .limit_s = (int)(config_get_duration_ms(config, "console", "session_limit") / 1000),
        .sign_in = strcmp(config_get_text(config, "console", "login"), "postgres") == 0,
        .encrypted = *config_get_text(config, "console", "tls_certificate") != '\0',
        .show_payloads = config_get_bool(config, "console", "show_payloads"),
        .list = list,
        .list_context = console};
}

static enum rc start_http(struct console *console, struct err *err)
{
    const struct config *config = console->options->config;
    const char *certificate = config_get_text(config, "console", "tls_certificate");
    const char *key = config_get_text(config, "console", "tls_key");
    const char *listen = console->options->listen;
    int clusters = console->options->cluster_count;
    enum rc rc = check_tls(certificate, key, err);
    if (rc != RC_OK)
        return rc;
    const struct http_options options = {
        .listen = listen != NULL ? listen : config_get_text(config, "console", "listen"),
        .certificate = console->api.encrypted ? certificate : NULL,
        .key = console->api.encrypted ? key : NULL,
        .connections = (int)config_get_int(config, "console", "connections"),
        .workers = CLUSTER_REQUESTS * (clusters > 0 ? clusters : 1),
        .reserved = RESERVED,
        .idle_s = (int)(config_get_duration_ms(config, "console", "request_timeout") / 1000),
        .body_most = BODY_MOST,
        .handler = handle,
        .turn = turn_of,
        .context = console};
    /* The address is bound first and served last: its port is part of the cookies' names, and a
     * request must not come before the databases are there. */
    rc = http_open(&options, &console->http, err);
    if (rc == RC_OK)
        rc = check_exposed(console, err);
    if (rc == RC_OK)
        rc = start_clusters(console, err);
    return rc == RC_OK ? http_serve(console->http, err) : rc;
}

enum rc console_start(const struct console_options *options, struct console **ret_console,
                      struct err *err)
{
    const char *base_path = config_get_text(options->config, "console", "base_path");
    enum rc rc = check_base_path(base_path, err);
    if (rc == RC_OK)
        rc = asset_check(options->assets, err);
    if (rc != RC_OK)
        return rc;
    struct console *console = xcalloc(1, sizeof *console);
    *console = (struct console){.options = options, .base_path = xstrdup(base_path)};
    for (const char *at = base_path + 1; *at != '\0'; at++)
        console->skip += *at == '/';
    settle_api(console);
    rc = start_http(console, err);
    if (rc != RC_OK) {
        console_stop(console);
        return rc;
    }
    *ret_console = console;
    return RC_OK;
}

/* The server first: its handlers use the clusters. */
void console_stop(struct console *console)
{
    if (console == NULL)
        return;
    http_stop(console->http);
    clusters_close(console->clusters);
    free(console->base_path);
    free(console);
}

void console_url(const struct console *console, struct str *url)
{
    http_url(console->http, url);
    if (!http_listener(console->http)->local)
        str_text(url, console->base_path + 1);
}

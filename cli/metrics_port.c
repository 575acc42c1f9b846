/* The [metrics] port: console/http.c with three paths and no sign-in, for a daemon that is no
 * console. It is off unless configured. metrics/page.c makes the text and keeps it for a second.
 *
 * The pages of the console have a /metrics of their own, with sign-in; this port is the same for
 * every daemon. Every client that reaches the port may read it, so [metrics] listen should name an
 * address that only Prometheus reaches. */
#include "cli/metrics_port.h"

#include "base/log.h"
#include "base/memory.h"
#include "console/answer.h"
#include "console/http.h"
#include "console/request.h"
#include "metrics/page.h"

#include <stdlib.h>
#include <string.h>

/* Idle connections included: a scraper keeps its connection between two scrapes. */
#define CONNECTIONS 32
/* The page is read at most once a second however many ask, so one worker for a scrape and one for
 * readyz are enough. */
#define WORKERS   2
#define IDLE_S    30
#define BODY_MOST 1024 /* none is read */

struct metrics_port {
    struct http *http;
    struct page *page;
};

static const char *listen_of(const struct cli *cli)
{
    return config_get_text(cli->config, "metrics", "listen");
}

/* A daemon without the port keeps no tally (metrics/tally.h). */
bool metrics_port_configured(const struct cli *cli)
{
    return strcmp(listen_of(cli), "off") != 0;
}

static void answer(struct http_request *request, int status, const char *type,
                   const struct str *text)
{
    http_answer(request, status, type, text->data != NULL ? text->data : "", text->len);
}

/* livez is answered although both workers wait for the database. */
static enum http_turn turn_of(void *context, const struct http_request *request)
{
    (void)context;
    return strcmp(http_path(request), "/livez") == 0 ? HTTP_AT_ONCE : HTTP_QUEUED;
}

/* Any method but GET and HEAD is refused: nothing here can be changed. */
static void serve(void *context, struct http_request *request)
{
    static const char plain[] = "text/plain; charset=utf-8";
    struct metrics_port *port = context;
    const char *path = http_path(request), *method = http_method(request);
    STR_AUTO text = {0};
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        /* 405 must have Allow (RFC 9110, section 15.5.6). */
        http_add_header(request, "Allow", "GET, HEAD");
        str_text(&text, "only GET\n");
        answer(request, 405, plain, &text);
    } else if (strcmp(path, "/metrics") == 0) {
        page_text(port->page, &text);
        answer(request, 200, PAGE_TYPE, &text);
    } else if (strcmp(path, "/livez") == 0) {
        str_text(&text, "alive\n");
        answer(request, 200, plain, &text);
    } else if (strcmp(path, "/readyz") == 0) {
        bool ready = page_ready(port->page, &text);
        answer(request, ready ? 200 : 503, plain, &text);
    } else {
        str_text(&text, "/metrics, /livez, /readyz\n");
        answer(request, 404, plain, &text);
    }
}

/* The address is bound here, so a port that is taken fails the start of the daemon and not its
 * first scrape. */
enum rc metrics_port_open(const struct cli *cli, const char *conninfo,
                          const struct db_server *server, const struct tally *tally,
                          struct metrics_port **ret_port, struct err *err)
{
    *ret_port = NULL;
    if (!metrics_port_configured(cli))
        return RC_OK;
    struct metrics_port *port = xcalloc(1, sizeof *port);
    const struct page_options page = {.conninfo = conninfo, .server = server, .tally = tally};
    const struct http_options options = {.listen = listen_of(cli),
                                         .connections = CONNECTIONS,
                                         .workers = WORKERS,
                                         .idle_s = IDLE_S,
                                         .body_most = BODY_MOST,
                                         .handler = serve,
                                         .turn = turn_of,
                                         .context = port};
    enum rc rc = page_open(&page, &port->page, err);
    if (rc == RC_OK)
        rc = http_open(&options, &port->http, err);
    if (rc == RC_OK)
        rc = http_serve(port->http, err);
    if (rc != RC_OK) {
        metrics_port_close(port);
        return rc;
    }
    STR_AUTO url = {0};
    http_url(port->http, &url);
    log_event(LOG_INFO, "metrics_served", "url", url.data, NULL);
    *ret_port = port;
    return RC_OK;
}

void metrics_port_close(struct metrics_port *port)
{
    if (port == NULL)
        return;
    http_stop(port->http);
    page_close(port->page);
    free(port);
}

/* The list of databases, GET clusters. All are asked at the same time, then each is waited for
 * until one common deadline, so the list takes a second at most however many databases hang.
 * A visitor sees the figures of a database only after signing in there. Everyone sees the names of
 * the databases and whether each answers, because the sign-in begins with this list. */
#include "console/clusters.h"

#include "base/clock.h"
#include "base/memory.h"
#include "console/answer.h"
#include "console/request.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_US 1000000 /* for all databases together */
#define KNOWN_US    5000000 /* the list has figures that are at most so old */

struct clusters {
    struct cluster **items;
    int count;
};

struct cluster *clusters_default(const struct clusters *clusters)
{
    return clusters->items[0];
}

int clusters_count(const struct clusters *clusters)
{
    return clusters->count;
}

struct cluster *clusters_find(const struct clusters *clusters, const char *name)
{
    for (int i = 0; i < clusters->count; i++)
        if (strcmp(cluster_name(clusters->items[i]), name) == 0)
            return clusters->items[i];
    return NULL;
}

/* The person whom the request's cookie for this database names; NULL: there is none. */
static struct visitor *person(const struct api *api, struct http_request *request, bool use)
{
    const char *cookie = http_cookie(request, api->cookie);
    return cookie != NULL ? sessions_known(api->sessions, cookie, use) : NULL;
}

/* All are asked before the first is waited for. request: NULL: it asks for no figures, but whether
 * they answer now. */
static int64_t ask_all(const struct clusters *clusters, struct http_request *request)
{
    for (int i = 0; i < clusters->count; i++) {
        struct visitor *visitor =
            request != NULL ? person(cluster_api(clusters->items[i]), request, false) : NULL;
        cluster_ask(clusters->items[i], visitor, request != NULL ? KNOWN_US : 0);
        visitor_release(visitor);
    }
    return clock_boot_us() + PATIENCE_US;
}

/* By the question that the list asks, too: however many requests come, a database that hangs gets
 * one statement, and holds up each of them for a second at most, and none once it is known. */
bool clusters_ready(const struct clusters *clusters, struct cluster *named)
{
    bool ready = false;
    const struct clusters one = {.items = &named, .count = 1};
    const struct clusters *asked = named != NULL ? &one : clusters;
    int64_t until_us = ask_all(asked, NULL);
    for (int i = 0; i < asked->count && !ready; i++) {
        STR_AUTO figures = {0};
        ready = cluster_answers(asked->items[i], until_us, &figures);
    }
    return ready;
}

/* Whether the visitor may see the figures of api's database. A token is valid in the database to
 * which the request came and is looked up only there. Cookies are compared in memory, for a
 * statement on each database would wait for those that hang; and a request is a use of the session
 * of the database to which it came, and of no other one. */
static bool may_read(const struct api *api, const struct api *asked, struct http_request *request)
{
    struct err err = {0};
    struct visitor *visitor = NULL;
    bool here = api->sessions == asked->sessions;
    if (here && http_header(request, "Authorization") != NULL) {
        enum rc rc = api_visitor(api, request, &visitor, &err);
        bool may = rc == RC_OK && visitor_level(visitor) >= LEVEL_MONITOR;
        visitor_release(visitor);
        return may;
    }
    visitor = person(api, request, here);
    visitor_release(visitor);
    return !api->sign_in || visitor != NULL;
}

static void add_item(cJSON *items, const struct cluster *cluster, const struct clusters *clusters,
                     const struct api *asked, bool answers, bool may, const char *figures)
{
    STR_AUTO path = {0};
    cJSON *item = cJSON_CreateObject();
    const struct api *api = cluster_api(cluster);
    bool is_default = cluster == clusters_default(clusters);
    /* The default database has its short path, which bookmarks from a console with one database
     * keep. */
    str_text(&path, api->base_path);
    if (!is_default)
        str_format(&path, "clusters/%s/", cluster_name(cluster));
    (void)cJSON_AddItemToArray(items, item);
    (void)cJSON_AddStringToObject(item, "name", cluster_name(cluster));
    (void)cJSON_AddStringToObject(item, "path", path.data);
    (void)cJSON_AddBoolToObject(item, "default", is_default);
    (void)cJSON_AddBoolToObject(item, "here", api->sessions == asked->sessions);
    (void)cJSON_AddBoolToObject(item, "reachable", answers);
    (void)cJSON_AddBoolToObject(item, "signed_in", may);
    if (answers && may)
        (void)cJSON_AddRawToObject(item, "figures", figures);
    else
        (void)cJSON_AddNullToObject(item, "figures");
}

void clusters_answer(const struct clusters *clusters, const struct api *asked,
                     struct http_request *request)
{
    int64_t until_us = ask_all(clusters, request);
    cJSON *document = cJSON_CreateObject();
    cJSON *items = cJSON_AddArrayToObject(document, "items");
    for (int i = 0; i < clusters->count; i++) {
        STR_AUTO figures = {0};
        bool answers = cluster_answers(clusters->items[i], until_us, &figures);
        bool may = may_read(cluster_api(clusters->items[i]), asked, request);
        add_item(items, clusters->items[i], clusters, asked, answers, may, figures.data);
    }
    char *text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    http_add_header(request, "Cache-Control", "no-store");
    http_answer(request, 200, "application/json", text, strlen(text));
    cJSON_free(text);
}

enum rc clusters_open(const struct clusters_options *options, struct clusters **ret_clusters,
                      struct err *err)
{
    struct clusters *clusters = xcalloc(1, sizeof *clusters);
    clusters->items = xcalloc((size_t)options->count, sizeof(struct cluster *));
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < options->count; i++) {
        struct api common = *options->common;
        /* A console with one database has no database in the cookie's name: adding a second one
         * signs people out once. */
        api_name_cookie(&common, options->port, options->count > 1 ? options->items[i].name : NULL);
        struct cluster_options one = {.name = options->items[i].name,
                                      .server = options->server,
                                      .sessions = *options->sessions,
                                      .common = &common};
        one.sessions.conninfo = options->items[i].conninfo;
        rc = cluster_open(&one, &clusters->items[i], err);
        clusters->count = i + 1;
    }
    if (rc == RC_OK)
        *ret_clusters = clusters;
    else
        clusters_close(clusters);
    return rc;
}

void clusters_close(struct clusters *clusters)
{
    if (clusters == NULL)
        return;
    for (int i = 0; i < clusters->count; i++)
        cluster_close(clusters->items[i]);
    free(clusters->items);
    free(clusters);
}

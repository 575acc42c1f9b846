/* Finds the route of a request and reads the lists of parameters in the table (console/routes.c).
 * The table has about a hundred routes, so each request compares them one after the other; an index
 * would save a few microseconds of a request that costs a statement. */
#include "console/route.h"

#include "base/str.h"
#include "base/utf8.h"
#include "console/field.h"
#include "console/request.h"
#include <stdio.h>
#include <string.h>

/* At most 8: the longest path of the table has 4. */
static int segments_of(const char *path, const char *segments[8], size_t lengths[8])
{
    int count = 0;
    for (const char *at = path; *at != '\0' && count < 8; at += *at == '/') {
        segments[count] = at;
        lengths[count] = strcspn(at, "/");
        at += lengths[count++];
    }
    return count;
}

/* These statements read what the login itself may see (queries of other sessions, its own rights),
 * so their answers must not be shared between logins of one level. */
bool route_is_personal(const struct route *route)
{
    return route->stmt == &sql_console_locks || route->stmt == &sql_console_system ||
           route->stmt == &sql_console_explain_queue || route->stmt == &sql_console_explain_run ||
           route->stmt == &sql_console_explain_task;
}

/* A segment in braces takes any. */
static bool fits(const struct route *route, const struct http_request *request, int skip)
{
    const char *segments[8];
    size_t lengths[8];
    int count = segments_of(route->path, segments, lengths);
    for (int i = 0; i < count; i++) {
        /* The two segments are "api" and "v1". */
        const char *given = http_segment(request, skip + 2 + i);
        if (given == NULL)
            return false;
        bool any = *segments[i] == '{';
        if (!any && (strlen(given) != lengths[i] || strncmp(segments[i], given, lengths[i]) != 0))
            return false;
    }
    return http_segment(request, skip + 2 + count) == NULL;
}

static int braces_in(const char *path)
{
    int count = 0;
    for (; *path != '\0'; path++)
        count += *path == '{';
    return count;
}

/* The path that a request means. Where two fit, it is the one with fewer braces, even if only the
 * other one has the method: "runs/actions" is never the run "actions". */
static const char *path_of(const struct http_request *request, int skip)
{
    const char *best = NULL;
    for (const struct route *route = routes; route->method != NULL; route++)
        if (fits(route, request, skip) &&
            (best == NULL || braces_in(route->path) < braces_in(best)))
            best = route->path;
    return best;
}

static bool same_method(const struct route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

const struct route *route_find(const struct http_request *request, int skip, struct str *ret_allow)
{
    str_clear(ret_allow);
    str_text(ret_allow, "");
    const char *path = path_of(request, skip);
    for (const struct route *route = routes; path != NULL && route->method != NULL; route++) {
        if (strcmp(route->path, path) != 0)
            continue;
        if (same_method(route, http_method(request)))
            return route;
        /* For the header Allow of a 405. */
        str_format(ret_allow, "%s%s", ret_allow->len > 0 ? ", " : "", route->method);
    }
    return NULL;
}

bool route_param_next(const char *path, const char **at, struct route_param *ret_param)
{
    *at += strspn(*at, " ");
    size_t len = strcspn(*at, " ");
    if (len == 0)
        return false;
    const char *end = *at + len;
    bool required = end[-1] == '!', either = end[-1] == '^';
    size_t word = len - (required || either), name = word;
    const char *equals = memchr(*at, '=', word), *field = *at;
    if (equals != NULL) {
        name = (size_t)(equals - *at);
        field = equals + 1;
    }
    size_t kept = utf8_fit(*at, name, sizeof ret_param->name - 1);
    memcpy(ret_param->name, *at, kept);
    ret_param->name[kept] = '\0';
    ret_param->field = **at == '@' ? NULL : field_named(field, (size_t)(*at + word - field));
    ret_param->required = required;
    ret_param->either = either;
    char braces[48];
    (void)snprintf(braces, sizeof braces, "{%s}", ret_param->name);
    ret_param->in_path = strstr(path, braces) != NULL;
    *at = end;
    return true;
}

bool route_only_reads(const struct route *route, const char *const *params)
{
    struct route_param param;
    bool reads = route_code(route)->reads;
    int i = 0;
    for (const char *at = route->params; route_param_next(route->path, &at, &param); i++)
        reads |= (str_same(param.name, "preview") || str_same(param.name, "dry_run")) &&
                 params[i] != NULL && str_same(params[i], "true");
    return reads;
}

bool route_takes_lines(const struct route *route)
{
    struct route_param param;
    for (const char *at = route->params; route_param_next(route->path, &at, &param);)
        if (param.field != NULL && param.field->type == FIELD_TASKS)
            return true;
    return false;
}

const char *route_segment(const struct route *route, const struct http_request *request, int skip,
                          const char *name)
{
    const char *segments[8];
    size_t lengths[8];
    int count = segments_of(route->path, segments, lengths);
    for (int i = 0; i < count; i++)
        if (*segments[i] == '{' && lengths[i] == strlen(name) + 2 &&
            strncmp(segments[i] + 1, name, lengths[i] - 2) == 0)
            return http_segment(request, skip + 2 + i);
    return NULL;
}

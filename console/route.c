#include "console/route.h"

#include "base/utf8.h"
#include "console/field.h"
#include "console/request.h"
#include "task/json.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS_MOST 32 /* of a body: bits of `used` */

/* ---- Which one ---- */

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

/* A segment in braces takes any; where two routes fit, the table has the one with the word first. */
static bool fits(const struct route *route, const struct http_request *request, int skip)
{
    const char *segments[8];
    size_t lengths[8];
    int count = segments_of(route->path, segments, lengths);
    for (int i = 0; i < count; i++) {
        const char *given = http_segment(request, skip + 2 + i);
        if (given == NULL)
            return false;
        bool any = *segments[i] == '{';
        if (!any && (strlen(given) != lengths[i] || strncmp(segments[i], given, lengths[i]) != 0))
            return false;
    }
    return http_segment(request, skip + 2 + count) == NULL;
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
    for (const struct route *route = routes; route->method != NULL; route++) {
        if (!fits(route, request, skip))
            continue;
        if (same_method(route, http_method(request)))
            return route;
        str_format(ret_allow, "%s%s", ret_allow->len > 0 ? ", " : "", route->method);
    }
    return NULL;
}

/* ---- Its parameters ---- */

bool route_param_next(const struct route *route, const char **at, struct route_param *ret_param)
{
    *at += strspn(*at, " ");
    size_t len = strcspn(*at, " ");
    if (len == 0)
        return false;
    const char *end = *at + len;
    bool required = end[-1] == '!';
    size_t word = len - required, name = word;
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
    char braces[48];
    (void)snprintf(braces, sizeof braces, "{%s}", ret_param->name);
    ret_param->in_path = strstr(route->path, braces) != NULL;
    *at = end;
    return true;
}

/* The segment that stands where the path has it in braces. */
static const char *path_value(const struct route *route, const struct http_request *request,
                              int skip, const char *name)
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

struct reading {
    const struct route *route;
    const struct http_request *request;
    int skip;
    bool body;
    struct json json; /* of the body */
    unsigned used;    /* a bit for each member, or pair of the query, that was asked for */
};

static bool is_text(enum field_type type)
{
    return type == FIELD_TEXT || type == FIELD_UUID || type == FIELD_WORD || type == FIELD_WORDS ||
           type == FIELD_TIME || type == FIELD_CURSOR;
}

static bool type_fits(const struct cJSON *node, enum field_type type)
{
    return is_text(type)        ? cJSON_IsString(node)
           : type == FIELD_INT  ? cJSON_IsNumber(node)
           : type == FIELD_BOOL ? cJSON_IsBool(node)
           : type == FIELD_IDS  ? cJSON_IsArray(node)
                                : cJSON_IsObject(node) || cJSON_IsArray(node);
}

/* RC_NONE: it is not there. */
static enum rc body_value(struct reading *r, const struct route_param *param, struct str *text,
                          struct err *err)
{
    const struct cJSON *node = r->json.root != NULL ? r->json.root->child : NULL;
    int i = 0;
    for (; node != NULL && strcmp(node->string, param->name) != 0; node = node->next)
        i++;
    if (node == NULL)
        return RC_NONE;
    if (i < MEMBERS_MOST)
        r->used |= 1U << i;
    if (cJSON_IsNull(node))
        return RC_NONE;
    if (!type_fits(node, param->field->type))
        return err_set(err, RC_REJECT, ERR_USAGE, param->name, "", "%s is %s here", param->name,
                       json_type_name(node));
    size_t len;
    const char *raw = json_raw(&r->json, node, &len);
    if (is_text(param->field->type))
        str_text(text, node->valuestring);
    else
        str_add(text, raw, len);
    return RC_OK;
}

static enum rc query_value(struct reading *r, const struct route_param *param, struct str *text,
                           struct err *err)
{
    const char *name, *value;
    enum rc rc = RC_NONE;
    for (int i = 0; http_query_at(r->request, i, &name, &value); i++) {
        if (strcmp(name, param->name) != 0)
            continue;
        if (rc == RC_OK)
            return err_set(err, RC_REJECT, ERR_USAGE, param->name, "", "%s is given twice",
                           param->name);
        r->used |= 1U << i;
        str_text(text, value);
        rc = *value != '\0' ? RC_OK : RC_NONE; /* a form sends what was left empty */
        if (rc == RC_NONE && param->required)
            break;
    }
    return rc;
}

static enum rc raw_value(struct reading *r, const struct route_param *param, struct str *text,
                         struct err *err)
{
    if (param->in_path) {
        str_text(text, path_value(r->route, r->request, r->skip, param->name));
        return RC_OK;
    }
    return r->body ? body_value(r, param, text, err) : query_value(r, param, text, err);
}

/* What its cursors are named after: the last word of its path. */
static const char *list_of(const struct route *route)
{
    const char *slash = strrchr(route->path, '/');
    return slash != NULL ? slash + 1 : route->path;
}

static enum rc read_param(struct reading *r, const struct route_param *param, struct call *call,
                          struct err *err)
{
    STR_AUTO text = {0};
    struct str *value = &call->values[call->count];
    const char **to = &call->params[call->count++];
    enum rc rc = raw_value(r, param, &text, err);
    if (rc == RC_NONE && param->required)
        return err_set(err, RC_REJECT, ERR_USAGE, param->name, "", "%s is missing", param->name);
    const char *given = rc == RC_OK ? text.data : param->field->initial;
    *to = NULL;
    if ((rc != RC_OK && rc != RC_NONE) || given == NULL)
        return rc == RC_NONE ? RC_OK : rc;
    rc = field_check(param->field, list_of(r->route), given, value, err);
    *to = value->data;
    if (rc != RC_OK && err != NULL)
        utf8_copy(err->object, sizeof err->object, param->name);
    return rc;
}

static enum rc unknown(const char *name, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, name,
                   "The OpenAPI document lists what there is: api/v1/openapi.json.",
                   "there is no parameter %s here", name);
}

static enum rc check_used(const struct reading *r, struct err *err)
{
    const char *name, *value;
    if (!r->body) {
        for (int i = 0; http_query_at(r->request, i, &name, &value); i++)
            if ((r->used & 1U << i) == 0)
                return unknown(name, err);
        return RC_OK;
    }
    int i = 0;
    for (const struct cJSON *node = r->json.root != NULL ? r->json.root->child : NULL; node != NULL;
         node = node->next, i++)
        if (i >= MEMBERS_MOST || (r->used & 1U << i) == 0)
            return unknown(node->string, err);
    return RC_OK;
}

static enum rc read_body(struct reading *r, struct err *err)
{
    size_t len;
    const char *text = http_body(r->request, &len);
    if (!r->body || len == 0)
        return RC_OK;
    enum rc rc = json_parse(text, len, len, &r->json, err);
    if (rc == RC_OK && !cJSON_IsObject(r->json.root))
        rc = err_set(err, RC_REJECT, ERR_USAGE, "$", "", "the body must be a JSON object, it is %s",
                     json_type_name(r->json.root));
    return rc;
}

enum rc call_read(const struct route *route, const struct http_request *request, int skip,
                  const struct call_visitor *visitor, struct call *call, struct err *err)
{
    bool get = strcmp(route->method, "GET") == 0;
    struct reading r = {.route = route, .request = request, .skip = skip, .body = !get};
    struct route_param param;
    const char *at = route->params;
    enum rc rc = read_body(&r, err);
    while (rc == RC_OK && route_param_next(route, &at, &param)) {
        if (param.field != NULL)
            rc = read_param(&r, &param, call, err);
        else
            call->params[call->count++] = strcmp(param.name, "@login") == 0 ? visitor->login
                                          : visitor->payloads               ? "true"
                                                                            : "false";
    }
    if (rc == RC_OK)
        rc = check_used(&r, err);
    json_done(&r.json);
    return rc;
}

void call_done(struct call *call)
{
    for (int i = 0; i < ROUTE_PARAMS_MOST; i++)
        str_done(&call->values[i]);
}

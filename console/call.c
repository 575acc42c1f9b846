/* Turns one request into the parameters of its route's statement, in the order of $1, $2 ...: read
 * the body, refuse names that the route does not have, then find, check and convert each parameter.
 * console/field.c knows which values each parameter may have; this file decides where each comes
 * from: path, query of a GET, or body of a change. */
#include "console/call.h"

#include "base/ascii.h"
#include "console/field.h"
#include "console/request.h"
#include "task/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: up to it a double has each whole number */

struct reading {
    const struct route *route;
    const struct http_request *request;
    int skip;
    bool body, lines;
    struct json json; /* of the body */
    struct str tasks; /* of lines */
    int either;       /* how many of those of which one is needed were given */
};

/* "limit is missing", with the allowed values as the hint. */
static enum rc wrong(const char *name, const struct field *field, const char *what, struct err *err)
{
    STR_AUTO text = {0};
    field_describe(field, &text);
    str_format(&text, ": %s", field->meaning);
    return err_set(err, RC_REJECT, ERR_USAGE, name, text.data, "%s is %s", name, what);
}

/* An unknown name is refused, not ignored: a filter with a misspelt name would otherwise select
 * everything, and a bulk change would act on it. */
static enum rc check_name(const char *path, const char *params, const char *name, struct err *err)
{
    STR_AUTO known = {0};
    struct route_param param;
    str_text(&known, "It takes ");
    size_t none = known.len;
    for (const char *at = params; route_param_next(path, &at, &param);) {
        if (param.field == NULL || param.in_path)
            continue;
        if (strcmp(param.name, name) == 0)
            return RC_OK;
        str_format(&known, "%s%s", known.len > none ? ", " : "", param.name);
    }
    str_text(&known, known.len > none ? "." : "none.");
    return err_set(err, RC_REJECT, ERR_USAGE, name, known.data, "there is no parameter %s here",
                   name);
}

static enum rc check_names(const struct reading *r, struct err *err)
{
    const char *name, *value;
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && http_query_at(r->request, i, &name, &value); i++)
        rc = r->body && !r->lines ? err_set(err, RC_REJECT, ERR_USAGE, name,
                                            "Give it as a member of the JSON object in the body.",
                                            "a change takes no parameter in its address")
                                  : check_name(r->route->path, r->route->params, name, err);
    for (const struct cJSON *node = r->json.root != NULL ? r->json.root->child : NULL;
         rc == RC_OK && node != NULL; node = node->next)
        rc = check_name(r->route->path, r->route->params, node->string, err);
    return rc;
}

/* No conversion between JSON types: "5" is no number, 1 is not true. */
static bool type_fits(const struct cJSON *node, const struct field *field)
{
    return field_is_text(field)          ? cJSON_IsString(node)
           : field->type == FIELD_INT    ? cJSON_IsNumber(node)
           : field->type == FIELD_BOOL   ? cJSON_IsBool(node)
           : field->type == FIELD_PLACE  ? cJSON_IsNumber(node) || cJSON_IsString(node)
           : field->type == FIELD_OBJECT ? cJSON_IsObject(node)
                                         : cJSON_IsArray(node);
}

/* A number as SQL reads it: 3.0 and 3e2 are whole numbers in JSON, and PostgreSQL's int refuses
 * both. Digits of a plain number stay as they are, because a double would change those above
 * 2^53. */
static void add_number(const char *raw, size_t len, struct str *text)
{
    STR_AUTO digits = {0};
    str_add(&digits, raw, len);
    double value = strtod(digits.data, NULL);
    if (strpbrk(digits.data, ".eE") != NULL && value == floor(value) && fabs(value) <= EXACT)
        str_format(text, "%.0f", value == 0 ? 0 : value);
    else
        str_add(text, raw, len);
}

static enum rc add_node(const struct json *json, const struct cJSON *node,
                        const struct route_param *param, struct str *text, struct err *err);

/* The member of an object that its field names; RC_REJECT: it names none such. */
static enum rc find_member(const struct field *object, const char *name,
                           struct route_param *ret_param, struct err *err)
{
    for (const char *at = object->words; route_param_next("", &at, ret_param);)
        if (strcmp(ret_param->name, name) == 0)
            return RC_OK;
    return check_name("", object->words, name, err);
}

/* Each member of an object is one that its field names, and fits. */
static enum rc add_members(const struct json *json, const struct cJSON *node,
                           const struct field *object, struct str *text, struct err *err)
{
    enum rc rc = RC_OK;
    str_text(text, "{");
    for (node = node->child; rc == RC_OK && node != NULL; node = node->next) {
        STR_AUTO given = {0};
        STR_AUTO value = {0};
        struct route_param param = {0};
        rc = find_member(object, node->string, &param, err);
        if (rc == RC_OK)
            rc = add_node(json, node, &param, &given, err);
        if (rc == RC_OK)
            rc = field_check(param.field, param.name, "", given.data, &value, err);
        if (rc != RC_OK)
            break;
        size_t len;
        const char *raw = json_raw(json, node, &len);
        str_format(text, "%s\"%s\":", text->len > 1 ? "," : "", param.name);
        /* The raw text keeps the client's escapes and digits. A time is replaced by the checked
         * one, which is UTC and in a form that PostgreSQL knows. */
        if (param.field->type == FIELD_TIME)
            str_format(text, "\"%s\"", value.data); /* as PostgreSQL reads it */
        else if (field_is_text(param.field))
            str_add(text, raw, len);
        else
            str_add(text, value.data, value.len);
    }
    str_text(text, "}");
    return rc;
}

static enum rc check_items(const struct cJSON *node, const struct route_param *param,
                           struct err *err)
{
    bool ids = param->field->type == FIELD_UUIDS;
    int count = cJSON_GetArraySize(node);
    if (count < param->field->least || count > param->field->most)
        return wrong(param->name, param->field, "too long, or empty", err);
    for (node = node->child; node != NULL; node = node->next)
        if (ids ? !cJSON_IsString(node) || !field_is_uuid(node->valuestring)
                : !cJSON_IsObject(node))
            return wrong(param->name, param->field, ids ? "not of UUIDs" : "not of objects", err);
    return RC_OK;
}

static enum rc add_node(const struct json *json, const struct cJSON *node,
                        const struct route_param *param, struct str *text, struct err *err)
{
    const struct field *field = param->field;
    if (!type_fits(node, field))
        return wrong(param->name, field, json_type_name(node), err);
    if (field->type == FIELD_OBJECT && field->words != NULL)
        return add_members(json, node, field, text, err);
    size_t len;
    const char *raw = json_raw(json, node, &len);
    /* A string without its escapes; arrays and objects as written, for the statement parses them as
     * JSON. */
    if (cJSON_IsString(node))
        str_text(text, node->valuestring);
    else if (cJSON_IsNumber(node))
        add_number(raw, len, text);
    else
        str_add(text, raw, len);
    return cJSON_IsArray(node) ? check_items(node, param, err) : RC_OK;
}

/* RC_NONE: it is not there. */
static enum rc body_value(const struct reading *r, const struct route_param *param,
                          struct str *text, struct err *err)
{
    if (r->lines) {
        str_add(text, r->tasks.data, r->tasks.len);
        return RC_OK;
    }
    const struct cJSON *node = r->json.root != NULL ? r->json.root->child : NULL;
    while (node != NULL && strcmp(node->string, param->name) != 0)
        node = node->next;
    /* A null that is not allowed falls through to the type check, which names it. */
    if (node == NULL || (cJSON_IsNull(node) && !param->required && !param->either))
        return RC_NONE;
    return add_node(&r->json, node, param, text, err);
}

static enum rc query_value(const struct reading *r, const struct route_param *param,
                           struct str *text, struct err *err)
{
    const char *name, *value;
    enum rc rc = RC_NONE;
    for (int i = 0; http_query_at(r->request, i, &name, &value); i++) {
        if (strcmp(name, param->name) != 0)
            continue;
        if (rc == RC_OK)
            /* Which of two equal names counts differs between programs, so neither does. */
            return wrong(param->name, param->field, "given twice", err);
        str_text(text, value);
        rc = RC_OK;
    }
    return rc;
}

static enum rc raw_value(const struct reading *r, const struct route_param *param, struct str *text,
                         struct err *err)
{
    if (param->in_path) {
        str_text(text, route_segment(r->route, r->request, r->skip, param->name));
        return RC_OK;
    }
    bool body = r->body && (!r->lines || param->field->type == FIELD_TASKS);
    return body ? body_value(r, param, text, err) : query_value(r, param, text, err);
}

/* The name of a list, which its cursors begin with, so that a cursor of another list is refused:
 * the last word of the path. */
static const char *list_of(const struct route *route)
{
    const char *slash = strrchr(route->path, '/');
    return slash != NULL ? slash + 1 : route->path;
}

static enum rc read_param(struct reading *r, const struct route_param *param, struct call *call,
                          struct err *err)
{
    STR_AUTO text = {0};
    /* A parameter that is not given still has its place: it is SQL NULL, or the initial value. */
    struct str *value = &call->values[call->count];
    const char **to = &call->params[call->count++];
    enum rc rc = raw_value(r, param, &text, err);
    r->either += param->either && rc == RC_OK;
    if (rc == RC_NONE && param->required)
        return wrong(param->name, param->field, "missing", err);
    const char *given = rc == RC_OK ? text.data : param->field->initial;
    *to = NULL;
    if ((rc != RC_OK && rc != RC_NONE) || given == NULL)
        return rc == RC_NONE ? RC_OK : rc;
    rc = field_check(param->field, param->name, list_of(r->route), given, value, err);
    *to = value->data;
    return rc;
}

/* Of the parameters marked "^" exactly one must be given. */
static enum rc check_either(const struct reading *r, struct err *err)
{
    STR_AUTO names = {0};
    struct route_param param;
    for (const char *at = r->route->params; route_param_next(r->route->path, &at, &param);)
        if (param.either)
            str_format(&names, "%s%s", names.len > 0 ? ", " : "", param.name);
    if (names.len == 0 || r->either == 1)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_USAGE, names.data, "Give exactly one of them.",
                   "%s of %s is given", r->either == 0 ? "none" : "more than one", names.data);
}

/* Both names are in use for JSON Lines. */
bool call_is_lines(const struct http_request *request)
{
    const char *type = http_header(request, "Content-Type");
    return type != NULL && (ascii_same_start(type, "application/jsonl", 17) ||
                            ascii_same_start(type, "application/x-ndjson", 20));
}

/* "a\nb\n" -> "[a,b]"; each line is checked by itself, so that the error names it. */
static enum rc read_lines(struct reading *r, const char *text, size_t len, struct err *err)
{
    enum rc rc = RC_OK;
    str_text(&r->tasks, "[");
    for (int number = 1; rc == RC_OK && len > 0; number++) {
        const char *end = memchr(text, '\n', len);
        size_t line = end != NULL ? (size_t)(end - text) : len, used = end != NULL ? line + 1 : len;
        struct json json = {0};
        struct err why = {0};
        if (strspn(text, " \t\r") < line) {
            /* Parsed only to check it: the text itself goes to PostgreSQL, which parses it once
             * more. */
            rc = json_parse(text, line, line, &json, &why);
            if (rc == RC_OK && !cJSON_IsObject(json.root))
                rc = err_set(&why, RC_REJECT, ERR_USAGE, "$", "", "it is no object");
            str_text(&r->tasks, r->tasks.len > 1 ? "," : "");
            str_add(&r->tasks, text, line);
        }
        json_done(&json);
        if (rc != RC_OK)
            rc = err_set(err, rc, ERR_USAGE, "tasks", "Each line is a JSON object.", "line %d: %s",
                         number, why.message);
        text += used;
        len -= used;
    }
    if (rc == RC_OK && r->tasks.len == 1)
        rc = err_set(err, RC_REJECT, ERR_USAGE, "tasks", "Each line is a JSON object.",
                     "the body has no task");
    str_text(&r->tasks, "]");
    return rc;
}

static enum rc read_body(struct reading *r, struct err *err)
{
    size_t len;
    const char *text = http_body(r->request, &len);
    if (r->body && r->lines)
        return read_lines(r, text, len, err);
    /* A change without parameters may come without a body. */
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
    r.lines = r.body && call_is_lines(request);
    enum rc rc = read_body(&r, err);
    if (rc == RC_OK)
        rc = check_names(&r, err);
    while (rc == RC_OK && route_param_next(route->path, &at, &param)) {
        if (param.field != NULL)
            rc = read_param(&r, &param, call, err);
        else
            /* The two that begin with "@" come from the visitor, never from the request. */
            call->params[call->count++] = strcmp(param.name, "@login") == 0 ? visitor->login
                                          : visitor->payloads               ? "true"
                                                                            : "false";
    }
    if (rc == RC_OK)
        rc = check_either(&r, err);
    json_done(&r.json);
    str_done(&r.tasks);
    return rc;
}

void call_done(struct call *call)
{
    for (int i = 0; i < CALL_PARAMS_MOST; i++)
        str_done(&call->values[i]);
}

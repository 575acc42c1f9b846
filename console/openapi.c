/* Writes the OpenAPI document from the tables of routes (console/routes.c), fields
 * (console/field.c) and shapes (console/shape.c). The parameters in it cannot differ from the check
 * of requests: each case of fill_schema describes in JSON Schema the values that the case of the
 * same type in field.c's check accepts. The document depends only on the base path and the cookie's
 * name, so each text is made once and kept. The summary of a route describes its effect. */
#include "console/openapi.h"

#include "base/ascii.h"
#include "console/field.h"
#include "console/problem.h"
#include "console/route.h"
#include "console/shape.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *object(cJSON *parent, const char *name)
{
    return cJSON_AddObjectToObject(parent, name);
}

static void text(cJSON *parent, const char *name, const char *value)
{
    (void)cJSON_AddStringToObject(parent, name, value);
}

static void add_words(cJSON *schema, const char *words)
{
    cJSON *list = cJSON_AddArrayToObject(schema, "enum");
    for (const char *at = words; *at != '\0'; at += *at == '|') {
        STR_AUTO word = {0};
        size_t len = strcspn(at, "|");
        str_add(&word, at, len);
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(word.data));
        at += len;
    }
}

/* As raw text: a number of cJSON is a double, and INT64_MAX would become 9223372036854775808, which
 * is outside of the range that it is to describe. */
static void add_int(cJSON *schema, const char *name, int64_t value)
{
    char number[INT64_TEXT_SIZE];
    (void)cJSON_AddRawToObject(schema, name, int64_text(number, value));
}

/* A new object at the end of the list `name` of parent, which is made for the first one. */
static cJSON *one_of(cJSON *parent, const char *name)
{
    cJSON *item = cJSON_CreateObject();
    cJSON *list = cJSON_GetObjectItem(parent, name);
    (void)cJSON_AddItemToArray(list != NULL ? list : cJSON_AddArrayToObject(parent, name), item);
    return item;
}

/* A cursor of a list, as field_check takes it. */
static void add_cursor(cJSON *schema, const struct field *field, const char *list)
{
    STR_AUTO pattern = {0};
    str_format(&pattern, "^%s\\.", list);
    if (field->type == FIELD_AFTER_NAME)
        str_format(&pattern, "[\\s\\S]{1,%d}$", (int)field->most);
    else
        str_text(&pattern,
                 field->type == FIELD_AFTER_NUMBER ? "[0-9]{1,19}$" : "[0-9]{1,16}_[0-9]{1,18}$");
    text(schema, "type", "string");
    text(schema, "pattern", pattern.data);
}

/* In a body the words are one text with commas between; in a query they are an array with style
 * form and without explode, which is written in the same way. */
static void add_word_list(cJSON *schema, const char *words)
{
    STR_AUTO pattern = {0};
    str_format(&pattern, "^(%s)(,(%s))*$", words, words);
    text(schema, "type", "string");
    text(schema, "pattern", pattern.data);
}

static void add_members(cJSON *schema, const char *path, const char *params);

static void add_array(cJSON *schema, const struct field *field)
{
    text(schema, "type", "array");
    add_int(schema, "minItems", field->least);
    add_int(schema, "maxItems", field->most);
    cJSON *items = object(schema, "items");
    text(items, "type", field->type == FIELD_UUIDS ? "string" : "object");
    if (field->type == FIELD_UUIDS)
        text(items, "format", "uuid");
}

static void add_text(cJSON *schema, const struct field *field)
{
    text(schema, "type", "string");
    add_int(schema, "minLength", field->least);
    add_int(schema, "maxLength", field->most);
}

static void add_place(cJSON *schema, const struct field *field)
{
    cJSON *offset = one_of(schema, "anyOf"), *word = one_of(schema, "anyOf");
    text(offset, "type", "integer");
    add_int(offset, "minimum", 0);
    add_int(offset, "maximum", INT64_MAX);
    text(word, "type", "string");
    add_words(word, FIELD_PLACES);
    if (field->words != NULL)
        return;
    cJSON *time = one_of(schema, "anyOf");
    text(time, "type", "string");
    text(time, "format", "date-time");
}

/* list: the name of the route's list; NULL: it is a member of a body. */
static void fill_schema(cJSON *schema, const struct field *field, const char *list)
{
    switch (field->type) {
    case FIELD_TEXT:
        add_text(schema, field);
        break;
    case FIELD_AFTER_NUMBER:
    case FIELD_AFTER_PLACE:
    case FIELD_AFTER_NAME:
        add_cursor(schema, field, list);
        break;
    case FIELD_INT:
        text(schema, "type", "integer");
        add_int(schema, "minimum", field->least);
        add_int(schema, "maximum", field->most);
        break;
    case FIELD_UUID:
    case FIELD_TIME:
        text(schema, "type", "string");
        text(schema, "format", field->type == FIELD_UUID ? "uuid" : "date-time");
        break;
    case FIELD_SLUG:
        text(schema, "type", "string");
        text(schema, "pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$");
        break;
    case FIELD_WORD:
        text(schema, "type", "string");
        add_words(schema, field->words);
        break;
    case FIELD_WORDS:
        if (list == NULL) {
            add_word_list(schema, field->words);
            break;
        }
        text(schema, "type", "array");
        (void)cJSON_AddNumberToObject(schema, "minItems", 1);
        add_words(object(schema, "items"), field->words);
        break;
    case FIELD_BOOL:
        text(schema, "type", "boolean");
        break;
    case FIELD_PLACE:
        add_place(schema, field);
        break;
    case FIELD_OBJECT:
        if (field->words != NULL)
            add_members(schema, "", field->words);
        else
            text(schema, "type", "object");
        break;
    case FIELD_OBJECTS:
    case FIELD_TASKS:
    case FIELD_UUIDS:
        add_array(schema, field);
        break;
    }
    /* Raw: the table has the default as text, and here it is a number or a boolean. */
    if (field->initial != NULL && (field->type == FIELD_INT || field->type == FIELD_BOOL))
        (void)cJSON_AddRawToObject(schema, "default", field->initial);
}

/* A member that need not be given may be null, too: API clients write null for a field without a
 * value. */
static void add_member(cJSON *properties, const struct route_param *param, bool nullable)
{
    cJSON *property = object(properties, param->name);
    if (nullable) {
        fill_schema(one_of(property, "anyOf"), param->field, NULL);
        text(one_of(property, "anyOf"), "type", "null");
    } else {
        fill_schema(property, param->field, NULL);
    }
    text(property, "description", param->field->meaning);
}

/* What a body, or an object of it, has. */
static void add_members(cJSON *schema, const char *path, const char *params)
{
    struct route_param param;
    text(schema, "type", "object");
    /* As check_name refuses it. */
    (void)cJSON_AddBoolToObject(schema, "additionalProperties", false);
    cJSON *properties = object(schema, "properties");
    for (const char *at = params; route_param_next(path, &at, &param);) {
        if (param.field == NULL || param.in_path)
            continue;
        /* Members of an inner object (path is "") are never null. */
        add_member(properties, &param, *path != '\0' && !param.required && !param.either);
        if (param.either) {
            cJSON *needed = cJSON_AddArrayToObject(one_of(schema, "oneOf"), "required");
            (void)cJSON_AddItemToArray(needed, cJSON_CreateString(param.name));
        }
        if (!param.required)
            continue;
        cJSON *list = cJSON_GetObjectItem(schema, "required");
        (void)cJSON_AddItemToArray(list != NULL ? list : cJSON_AddArrayToObject(schema, "required"),
                                   cJSON_CreateString(param.name));
    }
}

/* Of a change: it is there only for a body that is JSON Lines. */
static void add_parameter(cJSON *operation, const struct route *route,
                          const struct route_param *param)
{
    STR_AUTO meaning = {0};
    bool lines = strcmp(route->method, "GET") != 0 && !param->in_path;
    const char *slash = strrchr(route->path, '/');
    cJSON *item = one_of(operation, "parameters");
    text(item, "name", param->name);
    text(item, "in", param->in_path ? "path" : "query");
    str_format(&meaning, "%s%s", param->field->meaning,
               lines ? "; with application/jsonl only" : "");
    text(item, "description", meaning.data);
    (void)cJSON_AddBoolToObject(item, "required", param->in_path || param->required);
    /* ?status=Failed,Paused and not ?status=Failed&status=Paused: a name that comes twice is
     * refused. */
    if (param->field->type == FIELD_WORDS) {
        text(item, "style", "form");
        (void)cJSON_AddBoolToObject(item, "explode", false);
    }
    fill_schema(object(item, "schema"), param->field, slash != NULL ? slash + 1 : route->path);
}

static cJSON *add_header(cJSON *operation, const char *name, const char *meaning)
{
    cJSON *item = one_of(operation, "parameters");
    text(item, "name", name);
    text(item, "in", "header");
    text(item, "description", meaning);
    (void)cJSON_AddBoolToObject(item, "required", false);
    cJSON *schema = object(item, "schema");
    text(schema, "type", "string");
    return schema;
}

/* What a change may be asked with beside its body. */
static void add_headers(cJSON *operation, const struct route *route)
{
    if (route->level > LEVEL_NONE)
        (void)add_header(operation, "X-CSRF-Token", "`csrf` of the session; with a cookie only");
    if (route == &routes[ROUTE_SIGN_IN] || route == &routes[ROUTE_SIGN_OUT] ||
        route_code(route)->keyless)
        return;
    cJSON *key = add_header(operation, "Idempotency-Key", "the change is made once with this key");
    text(key, "pattern", "^[!-~]{1,200}$");
}

static void add_body(cJSON *operation, const struct route *route)
{
    struct route_param param;
    bool needed = false, any = false;
    for (const char *at = route->params; route_param_next(route->path, &at, &param);) {
        needed = needed || param.required || param.either;
        any = any || (param.field != NULL && !param.in_path);
    }
    if (!any)
        return;
    cJSON *body = object(operation, "requestBody");
    (void)cJSON_AddBoolToObject(body, "required", needed);
    cJSON *content = object(body, "content");
    add_members(object(object(content, "application/json"), "schema"), route->path, route->params);
    if (route_takes_lines(route))
        text(object(object(content, "application/jsonl"), "schema"), "type", "string");
}

/* Every route may answer each of these: the checks before a route are the same for all. */
static const int problems[] = {400, 401, 403, 404, 405, 409, 413, 415, 421, 429, 503, 504};

static void add_responses(cJSON *operation, const struct route *route)
{
    cJSON *responses = object(operation, "responses");
    cJSON *fine = object(responses, "200");
    text(fine, "description", "what was asked for");
    const char *type = route->answer != NULL ? "application/json" : "text/event-stream";
    cJSON *schema = object(object(object(fine, "content"), type), "schema");
    if (route->answer != NULL)
        shape_describe(schema, route->answer);
    else
        text(schema, "type", "string");
    if (strcmp(route->method, "GET") == 0)
        text(object(responses, "304"), "description", "it is still what If-None-Match says");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char status[INT64_TEXT_SIZE], path[64];
        (void)snprintf(path, sizeof path, "#/components/responses/%d", problems[i]);
        text(object(responses, int64_text(status, problems[i])), "$ref", path);
    }
}

/* The next segment of a path, as an operation's name has it. runs/{run} is one run, and
 * rejected/{rejected} one_rejected; another parameter is left out: locks/{pid} is locks. */
static void add_segment(struct str *to, const char **at)
{
    size_t length = strcspn(*at, "/"), name = 0;
    const char *segment = *at, *next = segment[length] == '/' ? segment + length + 1 : "";
    if (*next == '{')
        name = strcspn(next + 1, "}");
    *at = *next == '{' ? next + 1 + name + 1 : next;
    *at += **at == '/';
    if (name > 0 && name <= length && strncmp(segment, next + 1, name) == 0) {
        str_text(to, name == length ? "_one" : "");
        length = name;
    }
    str_text(to, "_");
    for (size_t i = 0; i < length; i++)
        str_add(to, segment[i] == '-' || segment[i] == '.' ? "_" : segment + i, 1);
}

/* From method and path, so that it stays when a route is added: list_runs, get_run,
 * post_run_cancel. */
static void add_operation_id(cJSON *operation, const struct route *route, const char *method)
{
    STR_AUTO id = {0};
    bool list = route->answer != NULL && strstr(route->answer, "items:") != NULL;
    str_text(&id, list && strcmp(method, "get") == 0 ? "list" : method);
    for (const char *at = route->path; *at != '\0';)
        add_segment(&id, &at);
    text(operation, "operationId", id.data);
}

static void add_route(cJSON *paths, const struct route *route)
{
    char path[120], method[8];
    (void)snprintf(path, sizeof path, "/%s", route->path);
    cJSON *item = cJSON_GetObjectItemCaseSensitive(paths, path);
    if (item == NULL)
        item = object(paths, path);
    size_t i = 0;
    for (; route->method[i] != '\0' && i + 1 < sizeof method; i++)
        method[i] = ascii_lower(route->method[i]);
    method[i] = '\0';
    cJSON *operation = object(item, method);
    add_operation_id(operation, route, method);
    text(operation, "summary", route->summary);
    text(operation, "description",
         route->level == LEVEL_OPERATOR  ? "For lockstep_operator."
         : route->level == LEVEL_MONITOR ? "For lockstep_monitor."
         : route->level == LEVEL_PING    ? "For tokens of role ping, and callers of lockstep.ping."
                                         : "For everyone.");
    bool get = strcmp(route->method, "GET") == 0;
    struct route_param param;
    for (const char *at = route->params; route_param_next(route->path, &at, &param);)
        if (param.field != NULL && (param.in_path || get ||
                                    (route_takes_lines(route) && param.field->type != FIELD_TASKS)))
            add_parameter(operation, route, &param);
    if (!get) {
        add_body(operation, route);
        add_headers(operation, route);
    }
    add_responses(operation, route);
    if (route->level == LEVEL_NONE)
        /* An empty list overrides that of the document: no sign-in (OpenAPI 3.1, "Operation
         * Object"). */
        (void)cJSON_AddArrayToObject(operation, "security");
}

static void add_components(cJSON *document, const char *name)
{
    cJSON *components = object(document, "components");
    shape_describe_all(object(components, "schemas"));
    cJSON *responses = object(components, "responses");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char status[INT64_TEXT_SIZE];
        cJSON *problem = object(responses, int64_text(status, problems[i]));
        text(problem, "description", problem_title(problems[i]));
        text(object(object(object(problem, "content"), "application/problem+json"), "schema"),
             "$ref", "#/components/schemas/Problem");
    }
    cJSON *schemes = object(components, "securitySchemes");
    cJSON *token = object(schemes, "token");
    text(token, "type", "http");
    text(token, "scheme", "bearer");
    cJSON *cookie = object(schemes, "session");
    text(cookie, "type", "apiKey");
    text(cookie, "in", "cookie");
    text(cookie, "name", name);
    /* Two objects in the list: either of them is enough. */
    (void)cJSON_AddArrayToObject(one_of(document, "security"), "token");
    (void)cJSON_AddArrayToObject(one_of(document, "security"), "session");
}

void openapi_text(struct str *to, const char *base_path, const char *cookie)
{
    STR_AUTO server = {0};
    cJSON *document = cJSON_CreateObject();
    text(document, "openapi", "3.1.0");
    cJSON *info = object(document, "info");
    text(info, "title", "Lockstep");
    text(info, "version", LOCKSTEP_VERSION);
    text(info, "description",
         "Queues, runs, tasks, jobs and what happened to them. Times are ISO 8601, durations "
         "seconds. Lists have items, next, count and "
         "capped; `next` is the parameter `after` of the next page. What is refused is answered "
         "with a "
         "problem document (RFC 9457) with a hint. A console may serve several databases: "
         "`clusters` lists them, and each has all these paths below its `path`.");
    str_format(&server, "%sapi/v1", base_path);
    cJSON *servers = cJSON_AddArrayToObject(document, "servers");
    cJSON *own = cJSON_CreateObject();
    text(own, "url", server.data);
    (void)cJSON_AddItemToArray(servers, own);
    cJSON *paths = object(document, "paths");
    for (const struct route *route = routes; route->method != NULL; route++)
        add_route(paths, route);
    add_components(document, cookie);
    char *printed = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    str_text(to, printed);
    cJSON_free(printed);
}

struct openapi {
    pthread_mutex_t lock; /* of first */
    struct made {
        struct made *next;
        char *base_path;
        struct str text;
    } * first;
};

struct openapi *openapi_new(void)
{
    struct openapi *openapi = xcalloc(1, sizeof *openapi);
    (void)pthread_mutex_init(&openapi->lock, NULL);
    return openapi;
}

void openapi_free(struct openapi *openapi)
{
    if (openapi == NULL)
        return;
    for (struct made *made = openapi->first, *next; made != NULL; made = next) {
        next = made->next;
        free(made->base_path);
        str_done(&made->text);
        free(made);
    }
    (void)pthread_mutex_destroy(&openapi->lock);
    free(openapi);
}

const struct str *openapi_get(struct openapi *openapi, const char *base_path, const char *cookie)
{
    (void)pthread_mutex_lock(&openapi->lock);
    struct made *made = openapi->first;
    while (made != NULL && strcmp(made->base_path, base_path) != 0)
        made = made->next;
    if (made == NULL) {
        made = xcalloc(1, sizeof *made);
        *made = (struct made){.next = openapi->first, .base_path = xstrdup(base_path)};
        /* With the lock: the document takes some milliseconds, once for each base path. */
        openapi_text(&made->text, base_path, cookie);
        openapi->first = made;
    }
    (void)pthread_mutex_unlock(&openapi->lock);
    return &made->text;
}

#include "console/openapi.h"

#include "base/ascii.h"
#include "console/answer.h"
#include "console/field.h"
#include "console/problem.h"
#include "console/route.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static cJSON *object(cJSON *parent, const char *name)
{
    return cJSON_AddObjectToObject(parent, name);
}

static void text(cJSON *parent, const char *name, const char *value)
{
    (void)cJSON_AddStringToObject(parent, name, value);
}

/* ---- Schemas ---- */

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

/* The range, where a double has each number of it. */
static void add_range(cJSON *schema, const struct field *field)
{
    const int64_t exact = 1LL << 53;
    if (field->least > -exact)
        (void)cJSON_AddNumberToObject(schema, "minimum", (double)field->least);
    (void)cJSON_AddNumberToObject(schema, "maximum",
                                  field->most < exact ? (double)field->most : (double)exact);
}

static void add_schema(cJSON *parent, const struct field *field, bool body)
{
    cJSON *schema = object(parent, "schema");
    switch (field->type) {
    case FIELD_TEXT:
        text(schema, "type", "string");
        (void)cJSON_AddNumberToObject(schema, "minLength", (double)field->least);
        (void)cJSON_AddNumberToObject(schema, "maxLength", (double)field->most);
        break;
    case FIELD_CURSOR:
        text(schema, "type", "string");
        break;
    case FIELD_INT:
        text(schema, "type", "integer");
        add_range(schema, field);
        break;
    case FIELD_UUID:
        text(schema, "type", "string");
        text(schema, "format", "uuid");
        break;
    case FIELD_TIME:
        text(schema, "type", "string");
        text(schema, "format", "date-time");
        break;
    case FIELD_WORD:
        text(schema, "type", "string");
        add_words(schema, field->words);
        break;
    case FIELD_WORDS:
        text(schema, "type", body ? "string" : "array");
        if (!body)
            add_words(object(schema, "items"), field->words);
        break;
    case FIELD_BOOL:
        text(schema, "type", "boolean");
        break;
    case FIELD_JSON:
        break; /* an object or an array */
    case FIELD_IDS:
        text(schema, "type", "array");
        text(object(schema, "items"), "type", "string");
        break;
    }
}

/* ---- Operations ---- */

static void add_parameter(cJSON *operation, const struct route_param *param)
{
    cJSON *list = cJSON_GetObjectItem(operation, "parameters");
    if (list == NULL)
        list = cJSON_AddArrayToObject(operation, "parameters");
    cJSON *item = cJSON_CreateObject();
    (void)cJSON_AddItemToArray(list, item);
    text(item, "name", param->name);
    text(item, "in", param->in_path ? "path" : "query");
    text(item, "description", param->field->meaning);
    (void)cJSON_AddBoolToObject(item, "required", param->in_path || param->required);
    if (param->field->type == FIELD_WORDS) {
        text(item, "style", "form");
        (void)cJSON_AddBoolToObject(item, "explode", false);
    }
    add_schema(item, param->field, false);
}

static void add_member(cJSON *operation, const struct route_param *param)
{
    cJSON *body = cJSON_GetObjectItem(operation, "requestBody");
    if (body == NULL) {
        body = object(operation, "requestBody");
        cJSON *schema = object(object(object(body, "content"), "application/json"), "schema");
        text(schema, "type", "object");
        (void)cJSON_AddBoolToObject(schema, "additionalProperties", false);
        (void)object(schema, "properties");
        (void)cJSON_AddArrayToObject(schema, "required");
    }
    cJSON *schema = cJSON_GetObjectItem(
        cJSON_GetObjectItem(cJSON_GetObjectItem(body, "content"), "application/json"), "schema");
    cJSON *holder = cJSON_CreateObject();
    add_schema(holder, param->field, true);
    cJSON *property = cJSON_DetachItemFromObject(holder, "schema");
    cJSON_Delete(holder);
    text(property, "description", param->field->meaning);
    (void)cJSON_AddItemToObject(cJSON_GetObjectItem(schema, "properties"), param->name, property);
    if (param->required)
        (void)cJSON_AddItemToArray(cJSON_GetObjectItem(schema, "required"),
                                   cJSON_CreateString(param->name));
}

static void add_responses(cJSON *operation)
{
    static const int problems[] = {400, 401, 403, 404, 405, 409, 413, 415, 421, 429, 503, 504};
    cJSON *responses = object(operation, "responses");
    cJSON *fine = object(responses, "200");
    text(fine, "description", "what was asked for");
    text(object(object(object(fine, "content"), "application/json"), "schema"), "type", "object");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char status[8];
        (void)snprintf(status, sizeof status, "%d", problems[i]);
        cJSON *problem = object(responses, status);
        text(problem, "description", problem_title(problems[i]));
        text(object(object(object(problem, "content"), "application/problem+json"), "schema"),
             "$ref", "#/components/schemas/Problem");
    }
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
    text(operation, "summary", route->summary);
    text(operation, "description",
         route->level == LEVEL_OPERATOR ? "For lockstep_operator." : "For lockstep_monitor.");
    struct route_param param;
    for (const char *at = route->params; route_param_next(route, &at, &param);)
        if (param.field != NULL && (param.in_path || strcmp(route->method, "GET") == 0))
            add_parameter(operation, &param);
        else if (param.field != NULL)
            add_member(operation, &param);
    add_responses(operation);
}

static void add_components(cJSON *document)
{
    static const char *const members[] = {"type", "title", "detail", "hint", "field", "code"};
    cJSON *components = object(document, "components");
    cJSON *problem = object(object(components, "schemas"), "Problem");
    text(problem, "type", "object");
    cJSON *properties = object(problem, "properties");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        text(object(properties, members[i]), "type", "string");
    text(object(properties, "status"), "type", "integer");
    cJSON *schemes = object(components, "securitySchemes");
    cJSON *token = object(schemes, "token");
    text(token, "type", "http");
    text(token, "scheme", "bearer");
    cJSON *cookie = object(schemes, "session");
    text(cookie, "type", "apiKey");
    text(cookie, "in", "cookie");
    text(cookie, "name", "lockstep_session");
    cJSON *security = cJSON_AddArrayToObject(document, "security");
    cJSON *either = cJSON_CreateObject();
    (void)cJSON_AddArrayToObject(either, "token");
    (void)cJSON_AddItemToArray(security, either);
    either = cJSON_CreateObject();
    (void)cJSON_AddArrayToObject(either, "session");
    (void)cJSON_AddItemToArray(security, either);
}

void openapi_answer(struct http_request *request, const char *base_path)
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
         "problem document (RFC 9457) with a hint.");
    str_format(&server, "%sapi/v1", base_path);
    cJSON *servers = cJSON_AddArrayToObject(document, "servers");
    cJSON *own = cJSON_CreateObject();
    text(own, "url", server.data);
    (void)cJSON_AddItemToArray(servers, own);
    cJSON *paths = object(document, "paths");
    for (const struct route *route = routes; route->method != NULL; route++)
        add_route(paths, route);
    add_components(document);
    char *printed = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    http_answer(request, 200, "application/json", printed, strlen(printed));
    cJSON_free(printed);
}

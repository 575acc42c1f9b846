/* The steps of a task: an array of objects, each with a name and what a task of type sql has. */
#include "task/message_field.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 1000

/* What a step may hold. Steps of the other types are known and not run yet. */
static const struct member {
    const char *name;
    bool sql;
} members[] = {
    {"name", true},  {"type", true},        {"sql", true},      {"params", true},
    {"args", false}, {"transaction", true}, {"command", false}, {"input", false},
    {"url", false},  {"method", false},     {"headers", false}, {"body", false},
};

static enum rc check_members(struct reading *r, const cJSON *step, const struct json_path *path,
                             bool *ret_sql)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(step, "type");
    struct json_path at_type = {.up = path, .key = "type"};
    if (type != NULL && !cJSON_IsString(type))
        return field_wrong_type(r, type, &at_type, "a string");
    *ret_sql = type == NULL || strcmp(type->valuestring, "sql") == 0;
    if (type != NULL && !*ret_sql && strcmp(type->valuestring, "command") != 0 &&
        strcmp(type->valuestring, "http") != 0)
        return field_wrong(r, MESSAGE_BAD_FIELD, &at_type, "must be sql, command or http.");
    for (const cJSON *child = step->child; child != NULL; child = child->next) {
        struct json_path at = {.up = path, .key = child->string};
        size_t i = 0;
        while (i < sizeof members / sizeof *members && strcmp(members[i].name, child->string) != 0)
            i++;
        if (i == sizeof members / sizeof *members)
            return field_wrong(r, MESSAGE_BAD_FIELD, &at, "is not a field of a step.");
        if (!members[i].sql && type != NULL && *ret_sql)
            return field_wrong(r, MESSAGE_BAD_FIELD, &at, "does not belong to a step of type sql.");
        *ret_sql = *ret_sql && members[i].sql;
    }
    return RC_OK;
}

static enum rc read_step_name(struct reading *r, const cJSON *object, const struct json_path *path,
                              struct message_step *step)
{
    struct json_path at = {.up = path, .key = "name"};
    cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    if (name == NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, &at, "is missing: each step has one.");
    enum rc rc = field_text(r, name, &at);
    if (rc == RC_OK)
        rc = field_short_text(r, name, &at, LONGEST_NAME);
    for (int i = 0; rc == RC_OK && i < r->msg->step_count; i++)
        if (strcmp(r->msg->steps[i].name, name->valuestring) == 0)
            rc = field_wrong(r, MESSAGE_BAD_FIELD, &at, "is the name of step %d, too.", i + 1);
    if (rc == RC_OK)
        step->name = take_text(name);
    return rc;
}

static enum rc read_step(struct reading *r, cJSON *object, const struct json_path *path)
{
    struct message_step *step = &r->msg->steps[r->msg->step_count];
    bool sql_step = true;
    if (!cJSON_IsObject(object))
        return field_wrong_type(r, object, path, "an object");
    enum rc rc = check_members(r, object, path, &sql_step);
    if (rc == RC_OK)
        rc = read_step_name(r, object, path, step);
    if (rc != RC_OK)
        return rc;
    step->first = r->msg->statement_count;
    step->transaction = true;
    r->msg->step_count++;
    if (!sql_step) {
        field_not_supported(r, path, "A step that is not of type sql");
        return RC_OK;
    }
    cJSON *sql = cJSON_GetObjectItemCaseSensitive(object, "sql");
    cJSON *params = cJSON_GetObjectItemCaseSensitive(object, "params");
    const cJSON *transaction = cJSON_GetObjectItemCaseSensitive(object, "transaction");
    struct json_path at_sql = {.up = path, .key = "sql"}, at_params = {.up = path, .key = "params"},
                     at_transaction = {.up = path, .key = "transaction"};
    if (sql == NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, &at_sql, "is missing: it is what the step does.");
    rc = read_sql(r, sql, &at_sql);
    if (rc == RC_OK && params != NULL)
        rc = read_params(r, params, &at_params, object, step->first);
    if (rc == RC_OK && transaction != NULL)
        rc = field_bool(r, transaction, &at_transaction, &step->transaction);
    step->count = r->msg->statement_count - step->first;
    return rc;
}

enum rc read_steps(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of steps");
    int count = cJSON_GetArraySize(node), index = 0;
    if (count < 1 || count > MOST_STEPS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must hold between 1 and %d steps, not %d.", MOST_STEPS, count);
    r->msg->steps = xcalloc((size_t)count, sizeof *r->msg->steps);
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .index = index};
        enum rc rc = read_step(r, child, &at);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

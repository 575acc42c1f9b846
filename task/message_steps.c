/* The steps of a task: an array of objects, each with a name and the fields of a task of its type.
 * Begin with read_step(): type, members, name, then the work. The readers of the work are those of
 * messages (message_sql.c, message_action.c), which are pointed to the step. The steps are run by
 * reader/steps.c. */
#include "task/message_action.h"
#include "task/message_field.h"
#include "task/message_sql.h"
#include "task/message_type.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 1000

enum { SQL = 1 << MESSAGE_SQL, COMMAND = 1 << MESSAGE_COMMAND, HTTP = 1 << MESSAGE_HTTP };

/* What a step may hold, by its type. A step is read by a table of its own and not by that of
 * messages: the fields about the life of a task (key, retries, time-out) belong to the task as a
 * whole. */
static const struct member {
    const char *name;
    int types;
    read_field *read; /* NULL: read by name, below */
} members[] = {
    {"name", SQL | COMMAND | HTTP, NULL},
    {"type", SQL | COMMAND | HTTP, NULL},
    {"sql", SQL, NULL},
    {"params", SQL, NULL},
    {"transaction", SQL, NULL},
    {"command", COMMAND, read_command},
    {"args", COMMAND, read_args},
    {"input", COMMAND, read_input},
    {"url", HTTP, read_url},
    {"method", HTTP, read_method},
    {"headers", HTTP, read_headers},
    {"body", HTTP, read_body},
};
enum { MEMBERS = sizeof members / sizeof *members };

static const char *const doing[] = {
    [MESSAGE_SQL] = "sql", [MESSAGE_COMMAND] = "command", [MESSAGE_HTTP] = "url"};

/** sql, command or http; without a type the fields decide, as in a message. external and end are no
 * types of a step: a worker and a producer know of whole tasks only. */
static enum rc read_step_type(struct reading *r, const cJSON *step, const struct json_path *path,
                              enum message_type *ret_type)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(step, "type");
    struct json_path at = {.up = path, .key = "type"};
    if (type != NULL && !cJSON_IsString(type))
        return field_wrong_type(r, type, &at, "a string");
    *ret_type = implied_type(step);
    for (size_t i = 0; type != NULL && i < sizeof doing / sizeof *doing; i++) {
        *ret_type = (enum message_type)i;
        if (strcmp(type->valuestring, type_name(*ret_type)) == 0)
            return RC_OK;
    }
    return type == NULL ? RC_OK
                        : field_wrong(r, MESSAGE_BAD_FIELD, &at, "must be sql, command or http");
}

/** Refuses an unknown field, and one that belongs to another type; the field that does the work
 * must be there. */
static enum rc check_members(struct reading *r, const cJSON *step, const struct json_path *path,
                             enum message_type type)
{
    for (const cJSON *child = step->child; child != NULL; child = child->next) {
        struct json_path at = {.up = path, .key = child->string};
        int i = 0;
        while (i < MEMBERS && strcmp(members[i].name, child->string) != 0)
            i++;
        if (i == MEMBERS)
            return field_wrong(r, MESSAGE_BAD_FIELD, &at, "is not a field of a step");
        if ((members[i].types & (1 << type)) == 0)
            return field_wrong(r, MESSAGE_BAD_FIELD, &at, "does not belong to a step of type %s",
                               type_name(type));
    }
    struct json_path at = {.up = path, .key = doing[type]};
    if (cJSON_GetObjectItemCaseSensitive(step, doing[type]) == NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, &at, "is missing: it is what the step does");
    return RC_OK;
}

/* Unique within the task, because the task's row names the step that comes next, and an attempt
 * continues there (reader/steps.c). */
static enum rc read_step_name(struct reading *r, const cJSON *object, const struct json_path *path,
                              struct message_step *step)
{
    struct json_path at = {.up = path, .key = "name"};
    cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    if (name == NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, &at, "is missing: each step has one");
    enum rc rc = field_text(r, name, &at);
    if (rc == RC_OK)
        rc = field_short_text(r, name, &at, LONGEST_NAME);
    for (int i = 0; rc == RC_OK && i < r->msg->step_count; i++)
        if (strcmp(r->msg->steps[i].name, name->valuestring) == 0)
            rc = field_wrong(r, MESSAGE_BAD_FIELD, &at, "is the name of step %d, too", i + 1);
    if (rc == RC_OK)
        step->name = copy_text(name);
    return rc;
}

static enum rc read_step_sql(struct reading *r, cJSON *object, const struct json_path *path,
                             struct message_step *step)
{
    cJSON *sql = cJSON_GetObjectItemCaseSensitive(object, "sql");
    cJSON *params = cJSON_GetObjectItemCaseSensitive(object, "params");
    const cJSON *transaction = cJSON_GetObjectItemCaseSensitive(object, "transaction");
    struct json_path at_sql = {.up = path, .key = "sql"}, at_params = {.up = path, .key = "params"},
                     at_transaction = {.up = path, .key = "transaction"};
    enum rc rc = read_sql(r, sql, &at_sql);
    if (rc == RC_OK && params != NULL)
        rc = read_params(r, params, &at_params, object, step->first);
    if (rc == RC_OK && transaction != NULL)
        rc = field_bool(r, transaction, &at_transaction, &step->transaction);
    /* All statements of a message are in one array, and a step has a part of it. So the code that
     * runs a task without steps needs no other form. */
    step->count = r->msg->statement_count - step->first;
    return rc;
}

static enum rc read_step_action(struct reading *r, cJSON *object, const struct json_path *path,
                                struct message_step *step)
{
    enum rc rc = RC_OK;
    /* The readers write to r->action, which is otherwise the action of the message. */
    r->action = &step->action;
    for (int i = 0; rc == RC_OK && i < MEMBERS; i++) {
        cJSON *node = cJSON_GetObjectItemCaseSensitive(object, members[i].name);
        struct json_path at = {.up = path, .key = members[i].name};
        if (node != NULL && members[i].read != NULL)
            rc = members[i].read(r, node, &at);
    }
    r->action = &r->msg->action;
    return rc;
}

static enum rc read_step(struct reading *r, cJSON *object, const struct json_path *path)
{
    struct message_step *step = &r->msg->steps[r->msg->step_count];
    if (!cJSON_IsObject(object))
        return field_wrong_type(r, object, path, "an object");
    enum rc rc = read_step_type(r, object, path, &step->type);
    if (rc == RC_OK)
        rc = check_members(r, object, path, step->type);
    if (rc == RC_OK)
        rc = read_step_name(r, object, path, step);
    if (rc != RC_OK)
        return rc;
    step->first = r->msg->statement_count;
    step->transaction = true;
    /* Counted before its work is read: message_free() then also frees a step whose reader has
     * failed. */
    r->msg->step_count++;
    return step->type == MESSAGE_SQL ? read_step_sql(r, object, path, step)
                                     : read_step_action(r, object, path, step);
}

enum rc read_steps(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of steps");
    int count = cJSON_GetArraySize(node), index = 0;
    if (count < 1 || count > MOST_STEPS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must hold between 1 and %d steps, not %d", MOST_STEPS, count);
    r->msg->steps = xcalloc((size_t)count, sizeof *r->msg->steps);
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .index = index};
        enum rc rc = read_step(r, child, &at);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

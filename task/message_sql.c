/* sql and params: a text or an array of statements, and the values of $1, $2 and so on as
 * PostgreSQL's text format takes them. The statements are not parsed here: SQL that is wrong makes
 * its task fail, with the error of the server, and does not make a record unreadable. */
#include "task/message_sql.h"
#include "task/message_field.h"
#include "task/statement.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARAMS 65535 /* the protocol's count is 16 bits */

/** Room for count more statements; the count of the message is raised as they are read. */
static void more_statements(struct message *msg, int count)
{
    size_t had = (size_t)msg->statement_count, more = (size_t)count;
    msg->statements = xrealloc(msg->statements, had + more, sizeof *msg->statements);
    /* Zeroed, because message_free() also frees a message whose reading stops half way. */
    memset(msg->statements + had, 0, more * sizeof *msg->statements);
}

enum rc read_sql(struct reading *r, cJSON *node, const struct json_path *path)
{
    struct message *msg = r->msg;
    if (cJSON_IsString(node)) {
        enum rc rc = field_text(r, node, path);
        if (rc != RC_OK)
            return rc;
        more_statements(msg, 1);
        msg->statements[msg->statement_count++].sql = copy_text(node);
        return RC_OK;
    }
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "a string or an array of strings");
    /* An array has one statement in each element. A string may have several, which are split when
     * the task runs. */
    int count = cJSON_GetArraySize(node);
    if (count == 0)
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "must hold at least one statement");
    more_statements(msg, count);
    int index = 0;
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .index = index};
        enum rc rc = field_text(r, child, &at);
        if (rc != RC_OK)
            return rc;
        msg->statements[msg->statement_count++].sql = copy_text(child);
    }
    return RC_OK;
}

/** Text format as PostgreSQL takes it: a string as it is, true, false and numbers as written, all
 * else its JSON. */
static char *param_text(const struct reading *r, cJSON *node)
{
    /* A null pointer is SQL NULL in libpq's paramValues; the JSON null cannot be passed as a
     * parameter. */
    if (cJSON_IsNull(node))
        return NULL;
    if (cJSON_IsString(node))
        return copy_text(node);
    size_t len;
    const char *raw = json_raw(r->json, node, &len);
    char *text = xmalloc(len + 1);
    memcpy(text, raw, len);
    text[len] = '\0';
    return text;
}

static bool several_statements(const char *sql)
{
    struct statement *statements = NULL;
    int count = 0;
    /* The cheap test first: nearly all statements have no semicolon. */
    if (strchr(sql, ';') == NULL || statement_split(sql, &statements, &count, NULL) != RC_OK)
        return false; /* a text that the splitter refuses makes the task fail when it runs */
    free(statements);
    return count > 1;
}

/* Parse and Bind carry one statement, so $1 of a text with several of them would belong to none in
 * particular. */
static enum rc read_list(struct reading *r, cJSON *node, const struct json_path *path,
                         struct message_statement *statement)
{
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of parameters");
    int count = cJSON_GetArraySize(node);
    if (count > MOST_PARAMS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "has %d parameters, PostgreSQL takes %d",
                           count, MOST_PARAMS);
    if (count > 0 && several_statements(statement->sql))
        return field_wrong(
            r, MESSAGE_BAD_FIELD, path,
            "belongs to a string with several statements; write sql as an array of single "
            "statements and params as an array of arrays");
    statement->params = xcalloc((size_t)count, sizeof *statement->params);
    for (cJSON *child = node->child; child != NULL; child = child->next)
        statement->params[statement->param_count++].text = param_text(r, child);
    return RC_OK;
}

/** object is the message or the step that has the sql, and first is the place of its first
 * statement. */
enum rc read_params(struct reading *r, cJSON *node, const struct json_path *path,
                    const cJSON *object, int first)
{
    struct message *msg = r->msg;
    const cJSON *sql = cJSON_GetObjectItemCaseSensitive(object, "sql");
    if (sql == NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "has no sql to belong to");
    if (!cJSON_IsArray(sql))
        return read_list(r, node, path, &msg->statements[first]);
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of arrays, one for each statement");
    int count = cJSON_GetArraySize(node), wanted = cJSON_GetArraySize(sql), index = 0;
    if (count != wanted)
        return field_wrong(
            r, MESSAGE_BAD_FIELD, path,
            "must be an array of arrays, one for each of the %d statements; it has %d", wanted,
            count);
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .index = index};
        enum rc rc = read_list(r, child, &at, &msg->statements[first + index]);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

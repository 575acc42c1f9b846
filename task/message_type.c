/* The types by name, and the type that a message without one has, from the fields that are there.
 */
#include "task/message_type.h"

#include <cjson/cJSON.h>
#include <string.h>

/* In the order of enum message_type. */
static const char *const names[] = {"sql", "command", "http", "external", "end"};

bool type_find(const char *name, enum message_type *ret_type)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_type = (enum message_type)i;
            return true;
        }
    return false;
}

enum message_type implied_type(const cJSON *object)
{
    if (cJSON_GetObjectItemCaseSensitive(object, "sql") != NULL)
        return MESSAGE_SQL;
    if (cJSON_GetObjectItemCaseSensitive(object, "command") != NULL)
        return MESSAGE_COMMAND;
    if (cJSON_GetObjectItemCaseSensitive(object, "url") != NULL)
        return MESSAGE_HTTP;
    /* None of them: the error then says that sql is missing, which is right for most tasks. */
    return MESSAGE_SQL;
}

const char *type_name(enum message_type type)
{
    return names[type];
}

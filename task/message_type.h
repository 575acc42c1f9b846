/**
 * What: the types of messages and their names. Private to the message codec.
 * Invariants: the names are in the order of enum message_type.
 * Threads: any.
 * Ownership: names are static.
 * Failure: type_find: false, and *ret_type is as it was.
 */
#ifndef TASK_MESSAGE_TYPE_H
#define TASK_MESSAGE_TYPE_H

#include "task/message.h"

struct cJSON;

const char *type_name(enum message_type type);
bool type_find(const char *name, enum message_type *ret_type);
/** The type of a task or step that does not say it: its sql, command or url does. */
enum message_type implied_type(const struct cJSON *object);

#endif

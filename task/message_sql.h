/**
 * What: the fields of SQL: statements, parameters, steps. Private to the message codec.
 * Invariants: as message_field.h.
 * Threads: one reading, one thread.
 * Ownership: as message_field.h.
 * Failure: as message_field.h.
 */
#ifndef TASK_MESSAGE_SQL_H
#define TASK_MESSAGE_SQL_H

#include "task/message.h"

struct cJSON;
struct json_path;
struct reading;

/** One after the other: each adds to the statements of the message. */
MUST_CHECK enum rc read_sql(struct reading *r, struct cJSON *node, const struct json_path *path);
/** After read_sql of its object, whose statements begin at first. */
MUST_CHECK enum rc read_params(struct reading *r, struct cJSON *node, const struct json_path *path,
                               const struct cJSON *object, int first);
MUST_CHECK enum rc read_steps(struct reading *r, struct cJSON *node, const struct json_path *path);

#endif

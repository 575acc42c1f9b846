/**
 * What: the fields that say when a task runs and when it is retried: condition, key, not_before,
 *   retry_on. Private to the message codec.
 * Invariants: as message_field.h.
 * Threads: one reading, one thread.
 * Ownership: as message_field.h.
 * Failure: as message_field.h.
 */
#ifndef TASK_MESSAGE_LIFE_H
#define TASK_MESSAGE_LIFE_H

#include "base/err.h"

struct cJSON;
struct json_path;
struct reading;

/** Each sets msg->special but for read_retry_on, which fail() reads. */
MUST_CHECK enum rc read_condition(struct reading *r, struct cJSON *node,
                                  const struct json_path *path);
MUST_CHECK enum rc read_key(struct reading *r, struct cJSON *node, const struct json_path *path);
MUST_CHECK enum rc read_not_before(struct reading *r, struct cJSON *node,
                                   const struct json_path *path);
MUST_CHECK enum rc read_retry_on(struct reading *r, struct cJSON *node,
                                 const struct json_path *path);

#endif

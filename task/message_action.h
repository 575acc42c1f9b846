/**
 * What: the fields of commands and HTTP requests. Private to the message codec.
 * Invariants: as message_field.h.
 * Threads: one reading, one thread.
 * Ownership: as message_field.h.
 * Failure: as message_field.h.
 */
#ifndef TASK_MESSAGE_ACTION_H
#define TASK_MESSAGE_ACTION_H

#include "base/err.h"

struct cJSON;
struct json_path;
struct reading;

/** Fields of commands and requests, into r->action. */
MUST_CHECK enum rc read_command(struct reading *r, struct cJSON *node,
                                const struct json_path *path);
MUST_CHECK enum rc read_args(struct reading *r, struct cJSON *node, const struct json_path *path);
MUST_CHECK enum rc read_input(struct reading *r, struct cJSON *node, const struct json_path *path);
MUST_CHECK enum rc read_url(struct reading *r, struct cJSON *node, const struct json_path *path);
MUST_CHECK enum rc read_method(struct reading *r, struct cJSON *node, const struct json_path *path);
MUST_CHECK enum rc read_headers(struct reading *r, struct cJSON *node,
                                const struct json_path *path);
MUST_CHECK enum rc read_body(struct reading *r, struct cJSON *node, const struct json_path *path);

#endif

/**
 * What: the common part of the readers of single fields (message.c, message_life.c, message_sql.c,
 *   message_action.c): the state of one reading, the checked scalars, the form of errors. Private
 *   to the message codec.
 * Invariants: a reader stores into r->msg only what it has checked.
 * Threads: one reading, one thread.
 * Ownership: struct reading borrows everything; texts that the message keeps are copied.
 * Failure: RC_REJECT through field_wrong: err->code = the reason, err->object = the path.
 */
#ifndef TASK_MESSAGE_FIELD_H
#define TASK_MESSAGE_FIELD_H

#include "task/json.h"
#include "task/message.h"

struct reading {
    const struct json *json;
    enum message_form form;
    struct message *msg;
    /* where a command or a request is read to: the message's, or a step's */
    struct message_action *action;
    struct err *err;
};
typedef enum rc read_field(struct reading *r, struct cJSON *node, const struct json_path *path);

enum rc field_wrong(struct reading *r, enum message_reason reason, const struct json_path *path,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** "$.path must be <wanted>, not <type> <value>." */
enum rc field_wrong_type(struct reading *r, const struct cJSON *node, const struct json_path *path,
                         const char *wanted);

MUST_CHECK enum rc field_int(struct reading *r, const struct cJSON *node,
                             const struct json_path *path, int64_t least, int64_t most,
                             int64_t *ret_value);
MUST_CHECK enum rc field_bool(struct reading *r, const struct cJSON *node,
                              const struct json_path *path, bool *ret_value);
/** A finite number, 0 to most. */
MUST_CHECK enum rc field_number(struct reading *r, const struct cJSON *node,
                                const struct json_path *path, double most, double *ret_value);
/** A string that is neither empty nor white space only. */
MUST_CHECK enum rc field_text(struct reading *r, const struct cJSON *node,
                              const struct json_path *path);

/** Of a string; the caller's to free. */
char *copy_text(const struct cJSON *node);

/** A string of so many characters at most. */
MUST_CHECK enum rc field_short_text(struct reading *r, const struct cJSON *node,
                                    const struct json_path *path, int most);
#define LONGEST_NAME 1000 /* characters; of a task, of a step */

#endif

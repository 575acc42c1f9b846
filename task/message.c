/* The message as a table of fields: name, types that may have it, reader. Begin with read_fields().
 * A field that is not in the table is refused, because a misspelt option that is ignored would be
 * found in production. The text itself goes to the database, which reads some fields again
 * (message_life.c), so a check here must not be looser than the one there. */
#include "task/message_action.h"
#include "task/message_field.h"
#include "task/message_life.h"
#include "task/message_sql.h"
#include "task/message_type.h"
#include "task/uuid.h"

#include "base/ascii.h"
#include "base/nearest.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds that no sensible task reaches: they keep a message from filling a row of the database.
 * docs/reference/message.md has them, too. */
#define MOST_INTERVALS 100
#define MOST_ATTEMPTS  1000
#define LONGEST_KIND   200   /* characters */
#define LONGEST_TEXT   10000 /* characters */
#define MOST_SECONDS   1e9   /* 31 years */
#define LEAST_TIMEOUT  0.001 /* PostgreSQL counts time-outs in milliseconds, and 0 is none */
#define LONGEST_GUESS  24    /* a longer word is no misspelt name of a field */

static enum rc read_type(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    if (type_find(node->valuestring, &r->msg->type))
        return RC_OK;
    char value[JSON_EXCERPT_SIZE];
    return field_wrong(r, MESSAGE_UNKNOWN_TYPE, path,
                       "must be sql, command, http, external or end, not %s",
                       json_excerpt(r->json, node, value));
}

static enum rc read_run(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsString(node) || !uuid_valid(node->valuestring))
        return field_wrong_type(r, node, path, "a UUID");
    for (int i = 0; i < 36; i++)
        /* One spelling: readers compare run ids as texts. */
        r->msg->run[i] = ascii_lower(node->valuestring[i]);
    return RC_OK;
}

static enum rc read_seq(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_int(r, node, path, 0, MESSAGE_MOST_SEQ, &r->msg->seq);
}

static enum rc read_order(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_int(r, node, path, 1, INT64_MAX, &r->msg->order);
}

static enum rc read_previous_order(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_int(r, node, path, 0, INT64_MAX - 1, &r->msg->previous_order);
}

static enum rc read_own_params(struct reading *r, cJSON *node, const struct json_path *path)
{
    return read_params(r, node, path, r->json->root, 0);
}

static enum rc read_transaction(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_bool(r, node, path, &r->msg->transaction);
}

static enum rc read_name(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_short_text(r, node, path, LONGEST_NAME);
    if (rc == RC_OK)
        r->msg->name = copy_text(node);
    return rc;
}

static enum rc read_description(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_short_text(r, node, path, LONGEST_TEXT);
    if (rc == RC_OK)
        r->msg->description = copy_text(node);
    return rc;
}

/* The name of the run and its own policy are only checked here: the claim of the first message
 * reads them from the text (run_start.sql). */
static enum rc read_run_name(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_short_text(r, node, path, LONGEST_NAME);
}

static enum rc read_run_on_failure(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (cJSON_IsString(node) &&
        (strcmp(node->valuestring, "stop") == 0 || strcmp(node->valuestring, "continue") == 0 ||
         strcmp(node->valuestring, "pause") == 0))
        return RC_OK;
    return field_wrong_type(r, node, path, "stop, continue or pause");
}

static enum rc read_max_attempts(struct reading *r, cJSON *node, const struct json_path *path)
{
    int64_t n = 0;
    enum rc rc = field_int(r, node, path, 1, MOST_ATTEMPTS, &n);
    if (rc == RC_OK)
        r->msg->max_attempts = (int)n;
    return rc;
}

static enum rc read_retry_intervals(struct reading *r, cJSON *node, const struct json_path *path)
{
    struct message *msg = r->msg;
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of seconds");
    int count = cJSON_GetArraySize(node);
    if (count < 1 || count > MOST_INTERVALS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must hold between 1 and %d intervals, not %d", MOST_INTERVALS, count);
    msg->retry_intervals = xcalloc((size_t)count, sizeof *msg->retry_intervals);
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        struct json_path at = {.up = path, .index = msg->retry_interval_count};
        enum rc rc = field_number(r, child, &at, MOST_SECONDS,
                                  &msg->retry_intervals[msg->retry_interval_count]);
        if (rc != RC_OK)
            return rc;
        msg->retry_interval_count++;
    }
    return RC_OK;
}

static enum rc read_timeout(struct reading *r, cJSON *node, const struct json_path *path)
{
    double seconds;
    enum rc rc = field_number(r, node, path, MOST_SECONDS, &seconds);
    if (rc == RC_OK && seconds < LEAST_TIMEOUT)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "must be at least 0.001 seconds");
    if (rc == RC_OK)
        r->msg->timeout_us = (int64_t)(seconds * 1e6);
    return rc;
}

static enum rc read_tasks(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_int(r, node, path, 0, INT64_MAX, &r->msg->end_tasks);
}

static enum rc read_phases(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_int(r, node, path, 0, INT64_MAX, &r->msg->end_phases);
}

static enum rc read_aborted(struct reading *r, cJSON *node, const struct json_path *path)
{
    return field_bool(r, node, path, &r->msg->aborted);
}

static enum rc read_kind(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    if (rc == RC_OK)
        rc = field_short_text(r, node, path, LONGEST_KIND);
    /* lockstep.task_is_type() takes one word for a type or a kind, so the two may not be the same.
     */
    enum message_type type;
    if (rc == RC_OK && type_find(node->valuestring, &type))
        rc = field_wrong(r, MESSAGE_BAD_FIELD, path, "must not be the name of a type: %s",
                         type_name(type));
    return rc;
}

enum {
    SQL = 1 << MESSAGE_SQL,
    COMMAND = 1 << MESSAGE_COMMAND,
    HTTP = 1 << MESSAGE_HTTP,
    EXTERNAL = 1 << MESSAGE_EXTERNAL,
    END = 1 << MESSAGE_END,
    TASKS = SQL | COMMAND | HTTP | EXTERNAL,
    ANY = TASKS | END
};

/** Read in this order: type decides what else may be there, sql comes before its params. */
enum field_id {
    F_TYPE,
    F_RUN,
    F_SEQ,
    F_ORDER,
    F_PREVIOUS_ORDER,
    F_SQL,
    F_PARAMS,
    F_TRANSACTION,
    F_NAME,
    F_DESCRIPTION,
    F_MAX_ATTEMPTS,
    F_RETRY_INTERVALS,
    F_RETRY_ON,
    F_CONDITION,
    F_TASKS,
    F_PHASES,
    F_ABORTED,
    F_COMMAND,
    F_ARGS,
    F_INPUT,
    F_KIND,
    F_URL,
    F_METHOD,
    F_HEADERS,
    F_BODY,
    F_STEPS,
    F_KEY,
    F_TIMEOUT,
    F_NOT_BEFORE,
    F_RUN_NAME,
    F_RUN_ON_FAILURE,
    FIELDS
};

/* types: bits of the types that may have the field. A field that belongs to another type is
 * refused, too: it shows that the type is not the intended one. */
static const struct field {
    const char *name;
    int types;
    bool tag; /* the producer's to compute: not in a staged task */
    read_field *read;
} fields[] = {
    [F_TYPE] = {"type", ANY, false, read_type},
    [F_RUN] = {"run", ANY, true, read_run},
    [F_SEQ] = {"seq", ANY, true, read_seq},
    [F_ORDER] = {"order", ANY, false, read_order},
    [F_PREVIOUS_ORDER] = {"previous_order", ANY, true, read_previous_order},
    [F_SQL] = {"sql", SQL, false, read_sql},
    [F_PARAMS] = {"params", SQL, false, read_own_params},
    [F_TRANSACTION] = {"transaction", SQL, false, read_transaction},
    [F_NAME] = {"name", ANY, false, read_name},
    [F_DESCRIPTION] = {"description", ANY, false, read_description},
    [F_MAX_ATTEMPTS] = {"max_attempts", TASKS, false, read_max_attempts},
    [F_RETRY_INTERVALS] = {"retry_intervals", TASKS, false, read_retry_intervals},
    [F_RETRY_ON] = {"retry_on", TASKS, false, read_retry_on},
    [F_CONDITION] = {"condition", TASKS, false, read_condition},
    [F_TASKS] = {"tasks", END, false, read_tasks},
    [F_PHASES] = {"phases", END, false, read_phases},
    [F_ABORTED] = {"aborted", END, false, read_aborted},
    [F_COMMAND] = {"command", COMMAND, false, read_command},
    [F_ARGS] = {"args", COMMAND, false, read_args},
    [F_INPUT] = {"input", COMMAND | EXTERNAL, false, read_input},
    [F_KIND] = {"kind", EXTERNAL, false, read_kind},
    [F_URL] = {"url", HTTP, false, read_url},
    [F_METHOD] = {"method", HTTP, false, read_method},
    [F_HEADERS] = {"headers", HTTP, false, read_headers},
    [F_BODY] = {"body", HTTP, false, read_body},
    [F_STEPS] = {"steps", SQL, false, read_steps},
    [F_KEY] = {"key", TASKS, false, read_key},
    [F_TIMEOUT] = {"timeout", TASKS, false, read_timeout},
    [F_NOT_BEFORE] = {"not_before", TASKS, false, read_not_before},
    [F_RUN_NAME] = {"run_name", TASKS, true, read_run_name},
    [F_RUN_ON_FAILURE] = {"run_on_failure", TASKS, true, read_run_on_failure},
};

const char *message_field_name(int i)
{
    return i >= 0 && i < FIELDS ? fields[i].name : NULL;
}

static bool field_fits(int i, enum message_form form)
{
    return form == MESSAGE_RECORD || !fields[i].tag;
}

/* The name nearest to word that may be in this form, NULL if none is near. */
static const char *nearest_field(const char *word, enum message_form form)
{
    const char *nearest = NULL;
    size_t len = strlen(word);
    int least = len <= 4 ? 3 : 5; /* first distance that is too far */
    if (len > LONGEST_GUESS)
        return NULL;
    for (int i = 0; i < FIELDS; i++) {
        int distance = nearest_distance(word, fields[i].name);
        if (distance < least && field_fits(i, form)) {
            least = distance;
            nearest = fields[i].name;
        }
    }
    return nearest;
}

static const struct json_path root = {0};

/** Puts each member of the object at the place of its field in the table. */
static enum rc sort_members(struct reading *r, cJSON *members[FIELDS])
{
    if (!cJSON_IsObject(r->json->root))
        return field_wrong_type(r, r->json->root, &root, "an object");
    for (cJSON *child = r->json->root->child; child != NULL; child = child->next) {
        int i = 0;
        while (i < FIELDS && !str_same(fields[i].name, child->string))
            i++;
        struct json_path path = {.up = &root, .key = child->string};
        if (i == FIELDS) {
            const char *near = nearest_field(child->string, r->form);
            return field_wrong(r, MESSAGE_BAD_FIELD, &path, "is not a field of a message%s%s%s",
                               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        }
        if (fields[i].tag && r->form == MESSAGE_STAGED)
            return field_wrong(r, MESSAGE_BAD_FIELD, &path,
                               "is computed by the producer and must not be in staged work");
        /* No member is overwritten: json_parse() refuses a key that occurs twice. */
        members[i] = child;
    }
    return RC_OK;
}

static enum rc require(struct reading *r, cJSON *const members[FIELDS], enum field_id field,
                       const char *when)
{
    struct json_path path = {.up = &root, .key = fields[field].name};
    if (members[field] != NULL)
        return RC_OK;
    return field_wrong(r, MESSAGE_BAD_FIELD, &path, "is missing: it is required %s", when);
}

/** Checks the fields that are required by type and form. */
static enum rc check_required(struct reading *r, cJSON *const members[FIELDS])
{
    const struct message *msg = r->msg;
    enum rc rc = RC_OK;
    if (msg->type != MESSAGE_END) {
        rc = require(r, members, F_ORDER, "for a task");
        if (rc == RC_OK && r->form == MESSAGE_RECORD)
            rc = require(r, members, F_PREVIOUS_ORDER, "for a task");
    } else if (!msg->aborted && members[F_RUN] != NULL) {
        /* A run without an id has no producer that counted it, and an aborted one is not whole. */
        rc = require(r, members, F_TASKS, "at the end of a run with an id that is not aborted");
        if (rc == RC_OK)
            rc =
                require(r, members, F_PHASES, "at the end of a run with an id that is not aborted");
    }
    if (rc == RC_OK && members[F_RUN] != NULL)
        rc = require(r, members, F_SEQ, "when there is a run");
    if (rc != RC_OK)
        return rc;
    switch (msg->type) {
    case MESSAGE_SQL:
        return members[F_STEPS] ? RC_OK : require(r, members, F_SQL, "for type sql");
    case MESSAGE_COMMAND:
        return require(r, members, F_COMMAND, "for type command");
    case MESSAGE_HTTP:
        return require(r, members, F_URL, "for type http");
    case MESSAGE_EXTERNAL:
    case MESSAGE_END:
        break;
    }
    return RC_OK;
}

/** Checks the rules that concern more than one field. */
static enum rc check_together(struct reading *r, cJSON *const members[FIELDS])
{
    const struct message *msg = r->msg;
    struct json_path type = {.up = &root, .key = "type"};
    if (r->form == MESSAGE_STAGED && msg->type == MESSAGE_END)
        return field_wrong(r, MESSAGE_BAD_FIELD, &type,
                           "must not be end in staged work: the producer ends the run itself");
    enum rc rc = check_required(r, members);
    if (rc != RC_OK)
        return rc;
    for (int i = F_RUN_NAME; i <= F_RUN_ON_FAILURE; i++)
        if (members[i] != NULL && (members[F_RUN] == NULL || msg->seq != 0))
            return field_wrong(r, MESSAGE_BAD_FIELD,
                               &(struct json_path){.up = &root, .key = fields[i].name},
                               "belongs to the first message of a run with an id: run, seq 0");
    struct json_path steps = {.up = &root, .key = "steps"}, order = {.up = &root, .key = "order"};
    if (members[F_STEPS] != NULL && members[F_SQL] != NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD, &steps, "and sql must not both be in a message");
    if (members[F_STEPS] != NULL && members[F_TRANSACTION] != NULL)
        return field_wrong(r, MESSAGE_BAD_FIELD,
                           &(struct json_path){.up = &root, .key = "transaction"},
                           "belongs into the step that it is for");
    if (members[F_ORDER] != NULL && members[F_PREVIOUS_ORDER] != NULL &&
        msg->order <= msg->previous_order)
        return field_wrong(r, MESSAGE_BAD_FIELD, &order,
                           "must be greater than previous_order: %" PRId64
                           " is not greater than %" PRId64,
                           msg->order, msg->previous_order);
    return RC_OK;
}

static bool acts(const struct message *msg)
{
    bool acts = msg->type == MESSAGE_COMMAND || msg->type == MESSAGE_HTTP;
    for (int i = 0; i < msg->step_count; i++)
        acts = acts || msg->steps[i].type != MESSAGE_SQL;
    return acts;
}

static enum rc read_fields(struct reading *r)
{
    cJSON *members[FIELDS] = {0};
    enum rc rc = sort_members(r, members);
    if (rc != RC_OK)
        return rc;
    /* The type is read first, and decides which other fields may be there. */
    if (members[F_TYPE] == NULL)
        r->msg->type = implied_type(r->json->root);
    for (int i = 0; i < FIELDS; i++) {
        if (members[i] == NULL)
            continue;
        struct json_path path = {.up = &root, .key = fields[i].name};
        if ((fields[i].types & (1 << r->msg->type)) == 0)
            return field_wrong(r, MESSAGE_BAD_FIELD, &path,
                               "does not belong to a message of type %s", type_name(r->msg->type));
        rc = fields[i].read(r, members[i], &path);
        if (rc != RC_OK)
            return rc;
    }
    r->msg->acts = acts(r->msg);
    return check_together(r, members);
}

enum rc message_parse(const char *bytes, size_t len, enum message_form form,
                      struct message **ret_msg, struct err *err)
{
    size_t most = MESSAGE_MAX_BYTES - (form == MESSAGE_STAGED ? MESSAGE_TAG_BYTES : 0);
    if (bytes == NULL || len == 0) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "$", NULL, "the message is empty");
        err_code(err, message_reason_name(MESSAGE_EMPTY));
        return RC_REJECT;
    }
    if (len > most) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "$",
                      "Keep large data in a table and pass its key.",
                      "the message has %zu bytes, at most %zu are allowed", len, most);
        err_code(err, message_reason_name(MESSAGE_OVERSIZE));
        return RC_REJECT;
    }
    struct json json = {0};
    enum rc rc = json_parse(bytes, len, most, &json, err);
    if (rc != RC_OK) {
        if (err != NULL && err->code[0] == '\0')
            err_code(err, message_reason_name(MESSAGE_BAD_JSON));
        return rc;
    }
    MESSAGE_AUTO *msg = xcalloc(1, sizeof *msg);
    /* -1: absent, because 0 is a value of each. */
    msg->seq = msg->end_tasks = msg->end_phases = -1;
    msg->transaction = true;
    struct reading r = {
        .json = &json, .form = form, .msg = msg, .action = &msg->action, .err = err};
    rc = read_fields(&r);
    /* Every text of the message is a copy, so the tree can go. */
    json_done(&json);
    if (rc == RC_OK) {
        *ret_msg = msg;
        msg = NULL;
    }
    return rc;
}

void message_free(struct message *msg)
{
    if (msg == NULL)
        return;
    for (int i = 0; i < msg->statement_count; i++) {
        for (int j = 0; j < msg->statements[i].param_count; j++)
            free(msg->statements[i].params[j].text);
        free(msg->statements[i].params);
        free(msg->statements[i].sql);
    }
    free(msg->statements);
    message_action_done(&msg->action);
    for (int i = 0; i < msg->step_count; i++) {
        free(msg->steps[i].name);
        message_action_done(&msg->steps[i].action);
    }
    free(msg->steps);
    free(msg->retry_intervals);
    free(msg->name);
    free(msg->description);
    free(msg);
}

void message_auto(struct message **msg)
{
    message_free(*msg);
}

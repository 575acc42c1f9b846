/* Queues by request, where a statement alone is not enough: create (plan by the configuration, look
 * at the topic or make it, insert the row), accept, and the checks before delete and accept. Each
 * step is a function of control/, which the commands call, too; this file reads the parameters and
 * writes the JSON. */
#include "console/queue.h"

#include "base/remedies.h"
#include "base/utf8.h"
#include "control/birthmark.h"
#include "control/queue_accept.h"
#include "control/queue_create.h"
#include "control/queue_use.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define KAFKA_MS    5000 /* as long as a statement may take */
#define OPTIONAL_MS 2000 /* for each question whose answer is not needed */

enum rc queue_needs_kafka(const struct route_context *context, struct err *err)
{
    if (context->kafka != NULL && kafka_properties_get(context->kafka, "bootstrap.servers") != NULL)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_CONFIG, "kafka.bootstrap.servers",
                   "Set [kafka] bootstrap.servers of the console.", "the console knows no broker");
}

/* The order of `params` of POST queues in console/routes.c. */
enum {
    NAME,
    TOPIC,
    PARTITION,
    FROM_OFFSET,
    FROM_END,
    CREATE_TOPIC,
    REPLICATION,
    MAX_READERS,
    ON_FAILURE,
    RUNS,
    MAX_ATTEMPTS,
    LOOKAHEAD,
    DEAD_LETTERS,
    EXTERNAL_LEASE,
    RETRY_INTERVALS,
    RETRY_ON,
    REASON
};

static struct queue_wish wish_of(const char *const *params)
{
    /* -1: the cluster's default. */
    int64_t replication = -1;
    if (params[REPLICATION] != NULL)
        (void)int64_parse(params[REPLICATION], strlen(params[REPLICATION]), &replication);
    return (struct queue_wish){.name = params[NAME],
                               .topic = params[TOPIC],
                               .partition = params[PARTITION],
                               .max_readers = params[MAX_READERS],
                               .on_failure = params[ON_FAILURE],
                               .runs = params[RUNS],
                               .max_attempts = params[MAX_ATTEMPTS],
                               .lookahead = params[LOOKAHEAD],
                               .dead_letters = params[DEAD_LETTERS],
                               .external_lease = params[EXTERNAL_LEASE],
                               .retry_intervals = params[RETRY_INTERVALS],
                               .retry_on = params[RETRY_ON],
                               .from_offset = params[FROM_OFFSET],
                               .from_end = str_same(params[FROM_END], "true"),
                               .create_topic = str_same(params[CREATE_TOPIC], "true"),
                               .replication = (int)replication,
                               .reason = params[REASON]};
}

static void add_plan(const struct queue_plan *plan, struct str *document)
{
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "queue", plan->wish.name);
    (void)cJSON_AddStringToObject(root, "topic", plan->wish.topic);
    (void)cJSON_AddNumberToObject(root, "partition", plan->partition);
    /* As a double: exact up to 2^53, which an offset does not reach in practice. */
    (void)cJSON_AddNumberToObject(root, "next_offset", (double)plan->offset);
    (void)cJSON_AddNumberToObject(root, "waiting", (double)plan->there);
    (void)cJSON_AddBoolToObject(root, "topic_created", plan->topic_made);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (int i = 0; i < plan->warning_count; i++) {
        cJSON *warning = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(warning, "text", plan->warnings[i].text);
        (void)cJSON_AddStringToObject(warning, "hint", plan->warnings[i].hint);
        (void)cJSON_AddItemToArray(warnings, warning);
    }
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    str_text(document, text);
    cJSON_free(text);
}

/* control/ has the words of the commands: "--retry-on" is the parameter retry_on. If it is the
 * topic, its log does not have the first offset. */
static void name_parameter(const struct queue_plan *plan, struct err *err)
{
    bool is_option = strncmp(err->object, "--", 2) == 0;
    STR_AUTO name = {0};
    /* Without a topic: the plan was refused before. */
    if (!is_option && (plan->wish.topic == NULL || !str_same(plan->wish.topic, err->object)))
        return;
    str_text(&name, is_option ? err->object + 2 : "from_offset");
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == '-')
            name.data[i] = '_';
    utf8_copy(err->object, sizeof err->object, name.data);
}

static enum rc place(const struct route_context *context, struct db *db,
                     const struct queue_wish *wish, struct queue_plan *plan, struct err *err)
{
    enum rc rc = queue_plan(context->config, wish, plan, err);
    if (rc == RC_OK)
        rc = queue_is_new(db, plan, err);
    if (rc == RC_OK)
        rc = queue_place(context->kafka, KAFKA_MS, plan, err);
    if (rc == RC_REJECT && err->kind == ERR_USAGE)
        name_parameter(plan, err);
    return rc;
}

/* The topic outlives the request that is refused, and only this hint names it. */
static void say_topic(const struct queue_plan *plan, struct err *err)
{
    char hint[sizeof err->hint];
    utf8_format(hint, sizeof hint, "Topic %s was made, and stays.%s%s", plan->wish.topic,
                *err->hint != '\0' ? " " : "", err->hint);
    utf8_copy(err->hint, sizeof err->hint, hint);
}

enum rc queue_create_make(const struct route_context *context, struct db *db,
                          const char *const *params, struct str *document, struct err *err)
{
    struct queue_plan plan = {0};
    const struct queue_wish wish = wish_of(params);
    enum rc rc = queue_needs_kafka(context, err);
    if (rc == RC_OK)
        rc = place(context, db, &wish, &plan, err);
    if (rc == RC_OK)
        rc = queue_make(db, &plan, err);
    if (rc == RC_OK)
        add_plan(&plan, document);
    else if (plan.topic_made)
        say_topic(&plan, err);
    return rc;
}

/* After the commit, because the record on the topic names the queue, and a transaction that is
 * rolled back must not leave one. A failure is not the request's: an executor writes the birthmark
 * later. */
enum rc queue_create_mark(const struct route_context *context, struct db *db,
                          const char *const *params, struct err *err)
{
    struct queue_plan plan = {0};
    const struct queue_wish wish = wish_of(params);
    enum rc rc = queue_plan(context->config, &wish, &plan, err);
    return rc == RC_OK ? birthmark_make(db, context->kafka, plan.wish.name, plan.wish.topic,
                                        plan.partition, err)
                       : rc;
}

enum rc queue_may_delete(const struct route_context *context, struct db *db,
                         const char *const *params, struct err *err)
{
    (void)context;
    return queue_unused(db, params[0], err);
}

/* Accepting is for a halted queue only, and each of the two requests for its own reason: to accept
 * a topic that has not changed would move the cursor of a queue that works. */
static enum rc may_accept(struct db *db, const char *queue, bool server, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    char hint[100];
    enum rc rc = db_run(db, &sql_executor_queue, (const char *const[]){queue}, &row, err);
    if (rc != RC_OK)
        return rc;
    const char *reason = db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON)
                             ? NULL
                             : db_text(row, 0, EXECUTOR_QUEUE_HALTED_REASON);
    if (reason != NULL && str_same(reason, "other_server") == server)
        return RC_OK;
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_SHOW, queue);
    return err_set(err, RC_REJECT, ERR_FAILED, queue, hint,
                   "the queue is not halted for its %s, there is nothing to accept",
                   server ? "server" : "topic");
}

enum rc queue_may_accept(const struct route_context *context, struct db *db,
                         const char *const *params, struct err *err)
{
    (void)context;
    return may_accept(db, params[0], false, err);
}

static void add_accepted(const char *queue, const struct queue_accepted *accepted,
                         struct str *document)
{
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "queue", queue);
    (void)cJSON_AddNumberToObject(root, "next_offset", (double)accepted->next_offset);
    if (*accepted->warning != '\0')
        (void)cJSON_AddStringToObject(root, "warning", accepted->warning);
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    str_text(document, text);
    cJSON_free(text);
}

enum rc queue_accept_make(const struct route_context *context, struct db *db,
                          const char *const *params, struct str *document, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    struct queue_accepted accepted;
    const char *from = params[1];
    /* Only the end of the topic is asked of Kafka and must be known. */
    enum rc rc = queue_accept_is_end(from) ? queue_needs_kafka(context, err) : RC_OK;
    if (rc == RC_OK)
        rc = db_run(db, &sql_queue_find, params, &row, err);
    if (rc != RC_OK)
        return rc;
    const struct queue_acceptance what = {.name = params[0],
                                          .topic = db_text(row, 0, QUEUE_FIND_TOPIC),
                                          .partition = (int)db_int(row, 0, QUEUE_FIND_PARTITION),
                                          .cursor = db_int(row, 0, QUEUE_FIND_NEXT_OFFSET),
                                          .from_offset = from,
                                          .reason = params[2],
                                          .patience_ms = OPTIONAL_MS};
    rc = queue_accept(db, context->kafka, &what, &accepted, err);
    if (rc == RC_OK)
        add_accepted(params[0], &accepted, document);
    else if (rc == RC_REJECT)
        utf8_copy(err->object, sizeof err->object, from != NULL ? "from_offset" : "");
    return rc;
}

enum rc queue_may_accept_server(const struct route_context *context, struct db *db,
                                const char *const *params, struct err *err)
{
    (void)context;
    return may_accept(db, params[0], true, err);
}

/* A replay by request: turns parameters into replay_options, lets replay/ preview or run it, and
 * writes the report as JSON. A client that goes interrupts it between two steps, and so does a wait
 * for executors if none is at work: a queue may be paused for days, and the request keeps its
 * visitor's session. The finished steps stay, and `resume` continues. The command line
 * (cli/replay.c) does the same with its own options, and waits. */
#include "console/replay.h"

#include "base/str.h"
#include "console/patience.h"
#include "console/queue.h"
#include "db/sqlstate.h"
#include "replay/replay.h"

#include <cjson/cJSON.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The order of `params` of POST replay in console/routes.c. */
enum { QUEUE, MODE, RUN, FROM, TO, ORDER, RESUME, REASON, PREVIEW };

struct patience {
    atomic_bool gone;      /* the client has */
    enum replay_wait wait; /* WORK: it does not wait, or executors make room */
};

/* Called by the server's watcher thread, so the flag is atomic. */
static void went(void *context)
{
    struct patience *patience = context;
    patience->gone = true;
}

/* Called by replay/ on this thread, when it has waited for five seconds. A phase may take longer
 * than that. */
static void has_waited(void *context, enum replay_wait wait)
{
    struct patience *patience = context;
    patience->wait = wait;
}

static bool has_to_end(void *context)
{
    const struct patience *patience = context;
    return patience->gone || patience->wait != REPLAY_WAIT_WORK;
}

static int64_t number_of(const char *text, int64_t initial)
{
    int64_t value = initial;
    if (text != NULL)
        (void)int64_parse(text, strlen(text), &value);
    return value;
}

/* field_check has judged it: a number, one of the words, or a time. */
static enum rc place_of(struct db *db, const char *text, struct replay_place *place,
                        struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    if (text == NULL || replay_place_parse(text, place))
        return RC_OK;
    enum rc rc = db_run(db, &sql_replay_time, (const char *const[]){text}, &row, err);
    if (rc == RC_OK)
        *place = (struct replay_place){REPLAY_TIME, db_int(row, 0, REPLAY_TIME_TIME_MS)};
    return rc;
}

static enum rc usage(struct err *err, const char *field, const char *hint, const char *message)
{
    return err_set(err, RC_REJECT, ERR_USAGE, field, hint, "%s", message);
}

/* Rules between parameters, which the OpenAPI document cannot express. */
static enum rc check_range(const struct route_context *context, const char *const *params,
                           struct err *err)
{
    enum rc rc = queue_needs_kafka(context, err);
    if (rc != RC_OK)
        return rc;
    if (params[TO] != NULL && params[FROM] == NULL)
        return usage(err, "to", "Say from, too.", "to is the end of a range");
    if (params[ORDER] != NULL && params[RUN] == NULL)
        return usage(err, "order", "Say which run.", "order is of a run");
    return RC_OK;
}

static cJSON *add_line(const struct replay_line *line)
{
    cJSON *item = cJSON_CreateObject();
    if (*line->run != '\0')
        (void)cJSON_AddStringToObject(item, "run_id", line->run);
    else
        (void)cJSON_AddNullToObject(item, "run_id");
    (void)cJSON_AddNumberToObject(item, "order", (double)line->order);
    (void)cJSON_AddStringToObject(item, "action", replay_action(line));
    (void)cJSON_AddStringToObject(item, "why", replay_why(line));
    (void)cJSON_AddNumberToObject(item, "messages", (double)line->records);
    (void)cJSON_AddStringToObject(item, "meaning", replay_meaning(line));
    return item;
}

static void add_report(const struct replay_report *report, bool preview, struct str *document)
{
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddBoolToObject(root, "preview", preview);
    if (report->replay_id > 0)
        (void)cJSON_AddNumberToObject(root, "replay_id", report->replay_id);
    (void)cJSON_AddNumberToObject(root, "from", (double)report->from);
    (void)cJSON_AddNumberToObject(root, "to", (double)report->to);
    if (report->wanted > report->to)
        (void)cJSON_AddNumberToObject(root, "wanted", (double)report->wanted);
    (void)cJSON_AddNumberToObject(root, "readable", (double)report->readable);
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    (void)cJSON_AddNumberToObject(counts, "run_again", (double)report->acted);
    (void)cJSON_AddNumberToObject(counts, "skipped", (double)report->skipped);
    if (report->open_runs != NULL)
        (void)cJSON_AddStringToObject(root, "open_runs", report->open_runs);
    cJSON *lines = cJSON_AddArrayToObject(root, "lines");
    for (int i = 0; i < report->count; i++)
        (void)cJSON_AddItemToArray(lines, add_line(&report->lines[i]));
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    str_text(document, text);
    cJSON_free(text);
}

/* What replay/ calls a wrong usage is a state here: the parameters are right. */
static enum rc of_state(enum rc rc, struct err *err)
{
    if (rc != RC_OK && err->kind == ERR_USAGE)
        err->kind = ERR_FAILED;
    return rc;
}

static enum rc of_wait(enum rc rc, const struct replay_options *options, enum replay_wait wait,
                       struct err *err)
{
    if (rc == RC_OK || err->kind != ERR_CANCELLED || wait == REPLAY_WAIT_WORK)
        return rc;
    return err_set(err, RC_RETRY, ERR_HELD, options->queue, NULL,
                   "the replay is interrupted: enough phases wait to be opened; %s",
                   replay_wait_text(wait));
}

static void hint_resume(const struct replay_report *report, struct err *err)
{
    char how[120];
    (void)snprintf(how, sizeof how,
                   "Its steps so far are done. The same request continues it, or one with "
                   "\"resume\": %d.",
                   report->replay_id);
    replay_hint(report, how, err);
}

enum rc replay_make(const struct route_context *context, struct db *db, const char *const *params,
                    struct str *document, struct err *err)
{
    DB_RESULT_AUTO *queue = NULL;
    struct replay_report report = {0};
    struct patience patience = {0};
    bool preview = str_same(params[PREVIEW], "true");
    struct replay_options options = {.db = db,
                                     .kafka = context->kafka,
                                     .queue = params[QUEUE],
                                     .from = {REPLAY_EARLIEST, 0},
                                     .to = {REPLAY_LATEST, 0},
                                     .run = params[RUN] != NULL ? params[RUN] : "",
                                     .order = number_of(params[ORDER], -1),
                                     .mode = params[MODE],
                                     .reason = params[REASON],
                                     .resume = (int)number_of(params[RESUME], 0),
                                     .context = &patience,
                                     .waiting = has_waited,
                                     .cancelled = has_to_end};
    enum rc rc = check_range(context, params, err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_queue_find, params, &queue, err);
    if (rc == RC_NONE) {
        rc =
            usage(err, "queue", "GET api/v1/queues lists what there is.", "there is no such queue");
        err_code(err, sqlstate_text(SQLSTATE_NO_SUCH_THING));
    }
    if (rc == RC_OK)
        rc = place_of(db, params[FROM], &options.from, err);
    if (rc == RC_OK)
        rc = place_of(db, params[TO], &options.to, err);
    if (rc != RC_OK)
        return rc;
    options.queue_id = (int)db_int(queue, 0, QUEUE_FIND_QUEUE_ID);
    options.partition = (int)db_int(queue, 0, QUEUE_FIND_PARTITION);
    options.topic = db_text(queue, 0, QUEUE_FIND_TOPIC);
    /* replay/ asks has_to_end between its steps. This watch replaces that of visitor.c, which would
     * cancel a statement in the middle of a step. */
    http_watch(context->request, went, &patience);
    rc = preview ? replay_preview(&options, &report, err) : replay_run(&options, &report, err);
    rc = of_wait(of_state(rc, err), &options, patience.wait, err);
    if (rc != RC_OK)
        hint_resume(&report, err);
    /* patience is on this stack: no call may come after the return. */
    http_watch(context->request, NULL, NULL);
    if (rc == RC_OK)
        add_report(&report, preview, document);
    replay_report_done(&report);
    return rc;
}

enum rc replay_abandon_make(const struct route_context *context, struct db *db,
                            const char *const *params, struct str *document, struct err *err)
{
    DB_RESULT_AUTO *queue = NULL;
    struct replay_report report = {0};
    enum rc rc = db_run(db, &sql_replay_queue, params, &queue, err);
    if (rc != RC_OK)
        return rc;
    const struct replay_options options = {.db = db,
                                           .kafka = context->kafka,
                                           .queue = db_text(queue, 0, REPLAY_QUEUE_NAME),
                                           .topic = db_text(queue, 0, REPLAY_QUEUE_TOPIC),
                                           .queue_id = (int)db_int(queue, 0, REPLAY_QUEUE_QUEUE_ID),
                                           .run = "",
                                           .order = -1,
                                           .mode =
                                               "missing", /* a replay that is there has its own */
                                           .reason = params[1],
                                           .resume = (int)number_of(params[0], 0)};
    rc = of_state(replay_abandon(&options, &report, err), err);
    if (rc == RC_OK)
        str_format(document, "{\"replay_id\":%d,\"abandoned\":true}", report.replay_id);
    replay_report_done(&report);
    return rc;
}

/* Publishes rejected messages again as one run, in four steps: read the list, fetch the messages,
 * let the codec judge each one, call one statement that makes the run and marks the messages. All
 * or none: the first message that cannot be published refuses the request. The codec and the text
 * of a staged task are control/redrive.c's. */
#include "console/redrive.h"

#include "control/redrive.h"
#include "db/parameter.h"
#include "db/sqlstate.h"
#include "task/message_text.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define MOST  1000
#define EXACT 9007199254740992.0 /* up to it a double has each whole number */

enum { MESSAGES, FILTER, REASON, AGAIN, PREVIEW };

struct redrive {
    cJSON *asked;     /* the list of messages; NULL: a filter */
    struct str ids;   /* an array parameter: of those that are asked for, then of those published */
    struct str tasks; /* a JSON array */
    int messages, ends;
};

/* 0: none. A number of JSON is a double here, so ids above 2^53 are refused instead of rounded. */
static int64_t id_of(const cJSON *item)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(item, "rejected_id");
    double value = cJSON_IsNumber(id) ? id->valuedouble : 0;
    return value >= 1 && value <= EXACT && value == floor(value) ? (int64_t)value : 0;
}

static const cJSON *find(const cJSON *asked, int64_t id)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, asked) if (id_of(item) == id) return item;
    return NULL;
}

static enum rc usage(struct err *err, const char *message)
{
    return err_set(err, RC_REJECT, ERR_USAGE, "messages",
                   "Write {\"rejected_id\": 7}, with the corrected message as `value`, a text.",
                   "%s", message);
}

/* Each is {"rejected_id": 7} or {"rejected_id": 7, "value": "..."}, and none comes twice. */
static enum rc read_asked(struct redrive *redrive, const char *text, struct err *err)
{
    const cJSON *item;
    if (text == NULL)
        return RC_OK;
    redrive->asked = cJSON_Parse(text);
    db_array_start(&redrive->ids);
    cJSON_ArrayForEach(item, redrive->asked)
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "value");
        if (id_of(item) == 0 || (value != NULL && !cJSON_IsString(value)) ||
            cJSON_GetArraySize(item) != 1 + (value != NULL))
            return usage(err, "an item does not name one rejected message");
        /* find returns the first one of an id. */
        if (find(redrive->asked, id_of(item)) != item)
            return usage(err, "a rejected message is named twice");
        db_array_int(&redrive->ids, id_of(item));
    }
    db_array_end(&redrive->ids);
    return RC_OK;
}

static enum rc refuse(const struct db_result *rows, int row, const char *what, const char *hint,
                      struct err *err)
{
    return err_set(err, RC_REJECT, ERR_FAILED, "messages", hint, "rejected message %s: %s",
                   db_text(rows, row, CONSOLE_REDRIVE_SELECT_REJECTED_ID), what);
}

/* One message's task, or why it cannot be one. */
static enum rc stage(struct redrive *redrive, const struct db_result *rows, int row,
                     struct err *err)
{
    static const char correct[] = "Give its corrected text as `value`, or leave it out.";
    STR_AUTO text = {0};
    STR_AUTO line = {0};
    struct err why = {0};
    int64_t id = db_int(rows, row, CONSOLE_REDRIVE_SELECT_REJECTED_ID);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(find(redrive->asked, id), "value");
    if (value != NULL)
        str_text(&text, value->valuestring);
    else if (!db_null(rows, row, CONSOLE_REDRIVE_SELECT_RAW))
        redrive_bytes(db_text(rows, row, CONSOLE_REDRIVE_SELECT_RAW), &text);
    if (text.len == 0)
        return refuse(rows, row, "it has no text", correct, err);
    /* The end of the old run would end the new one too early. A corrected text is taken as the
     * operator wrote it. */
    if (value == NULL && message_says_end(text.data, text.len)) {
        redrive->ends++;
        return RC_OK;
    }
    enum rc rc = redrive_line(text.data, text.len, NULL, &line, &why);
    if (rc != RC_OK) {
        rc = refuse(rows, row, why.message, value == NULL ? correct : why.hint, err);
        err_code(err, why.code);
        return rc;
    }
    str_text(&redrive->tasks, redrive->messages > 0 ? "," : "[");
    str_add(&redrive->tasks, line.data, line.len);
    db_array_int(&redrive->ids, id);
    redrive->messages++;
    return RC_OK;
}

static enum rc none(const char *object, const char *hint, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_FAILED, object, hint, "there is nothing to redrive");
}

/* Each message that was asked for exists, and together they are not too many. Two loops over at
 * most 1,000 rows. */
static enum rc check_rows(const struct redrive *redrive, const struct db_result *rows,
                          struct err *err)
{
    static const char lists[] = "GET api/v1/rejected lists what there is.";
    int count = db_rows(rows), row = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, redrive->asked)
    {
        for (row = 0; row < count; row++)
            if (db_int(rows, row, CONSOLE_REDRIVE_SELECT_REJECTED_ID) == id_of(item))
                break;
        if (row < count)
            continue;
        enum rc rc = err_set(err, RC_REJECT, ERR_FAILED, "messages", lists,
                             "there is no rejected message %lld", (long long)id_of(item));
        err_code(err, sqlstate_text(SQLSTATE_NO_SUCH_THING));
        return rc;
    }
    if (count == 0)
        return none("filter", lists, err);
    for (row = 0; row < count; row++)
        if (db_bool(rows, row, CONSOLE_REDRIVE_SELECT_IS_TOO_MUCH))
            return err_set(err, RC_REJECT, ERR_FAILED, "messages",
                           "Take fewer at once, or lockstep's own command.",
                           "these are more than %d messages, or more than 16 MiB", MOST);
    return RC_OK;
}

static enum rc stage_all(struct redrive *redrive, const struct db_result *rows, struct err *err)
{
    enum rc rc = check_rows(redrive, rows, err);
    /* From now on it has the messages that are published: ends of runs are not among them. */
    str_clear(&redrive->ids);
    db_array_start(&redrive->ids);
    for (int row = 0; rc == RC_OK && row < db_rows(rows); row++)
        rc = stage(redrive, rows, row, err);
    db_array_end(&redrive->ids);
    str_text(&redrive->tasks, "]");
    if (rc == RC_OK && redrive->messages == 0)
        rc = none("messages", "They are ends of runs: the new run gets its own.", err);
    return rc;
}

static enum rc run(struct redrive *redrive, struct db *db, const char *const *params,
                   struct str *document, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    DB_RESULT_AUTO *made = NULL;
    enum rc rc = read_asked(redrive, params[MESSAGES], err);
    const char *const chosen[] = {redrive->asked != NULL ? redrive->ids.data : NULL, params[FILTER],
                                  params[AGAIN]};
    if (rc == RC_OK)
        rc = db_run(db, &sql_console_redrive_select, chosen, &rows, err);
    if (rc == RC_OK)
        rc = stage_all(redrive, rows, err);
    if (rc != RC_OK)
        return rc;
    const char *const all[] = {redrive->ids.data, redrive->tasks.data, params[REASON],
                               params[AGAIN],     params[PREVIEW],     DB_INT(redrive->ends)};
    rc = db_run(db, &sql_console_redrive, all, &made, err);
    if (rc == RC_OK)
        str_text(document, db_text(made, 0, CONSOLE_REDRIVE_DOCUMENT));
    return rc;
}

enum rc redrive_make(const struct route_context *context, struct db *db, const char *const *params,
                     struct str *document, struct err *err)
{
    (void)context;
    struct redrive redrive = {0};
    enum rc rc = run(&redrive, db, params, document, err);
    cJSON_Delete(redrive.asked);
    str_done(&redrive.ids);
    str_done(&redrive.tasks);
    return rc;
}

/* Checks before a change that need more than its statement: SQL of users in a job is prepared in a
 * session of the tasks' login, and a rejected message goes through the codec. The statement that
 * follows makes the change. control/ has the checks themselves. */
#include "console/prepare.h"

#include "base/utf8.h"
#include "control/job_check.h"
#include "control/redrive.h"
#include "task/message_text.h"

#include <cjson/cJSON.h>
#include <string.h>

enum rc prepare_jobs(const struct route_context *context, struct db *db, const char *const *params,
                     struct err *err)
{
    return job_check(db, context->task_conninfo, params[0], err);
}

/* The definition need not name the job: that is in the path. */
enum rc prepare_job(const struct route_context *context, struct db *db, const char *const *params,
                    struct err *err)
{
    cJSON *definition = cJSON_Parse(params[1]);
    if (!cJSON_HasObjectItem(definition, "job"))
        (void)cJSON_AddStringToObject(definition, "job", params[0]);
    char *text = cJSON_PrintUnformatted(definition);
    /* cJSON_Parse of a checked object fails only without memory; then the text itself is
     * checked. */
    enum rc rc = job_check(db, context->task_conninfo, text != NULL ? text : params[1], err);
    cJSON_free(text);
    cJSON_Delete(definition);
    return rc;
}

/* Reports the codec's error as one of this request: of `value` if the message was corrected. */
static enum rc refuse(bool corrected, const struct err *why, struct err *err)
{
    static const char correct[] = "Correct it: `value` is the message that is published instead.";
    /* Some of the codec's messages begin with the member that is wrong, others need it. */
    bool named = strncmp(why->message, why->object, strlen(why->object)) == 0;
    enum rc rc = err_set(err, RC_REJECT, corrected ? ERR_USAGE : ERR_FAILED,
                         corrected ? "value" : "", corrected && *why->hint ? why->hint : correct,
                         "%s%s%s", named ? "" : why->object, named ? "" : ": ", why->message);
    err_code(err, why->code);
    return rc;
}

/* A message without text and the end of a run are left to the statement, which refuses both. */
enum rc prepare_redrive(const struct route_context *context, struct db *db,
                        const char *const *params, struct err *err)
{
    (void)context;
    STR_AUTO ids = {0};
    STR_AUTO text = {0};
    STR_AUTO line = {0};
    struct err why = {0};
    DB_RESULT_AUTO *rows = NULL;
    bool corrected = params[1] != NULL;
    str_format(&ids, "{%s}", params[0]);
    enum rc rc = db_run(db, &sql_redrive_select,
                        (const char *const[]){ids.data, NULL, NULL, NULL, "true"}, &rows, err);
    if (rc != RC_OK || db_rows(rows) == 0)
        return rc == RC_OK ? RC_NONE : rc;
    if (corrected)
        str_text(&text, params[1]);
    else if (!db_null(rows, 0, REDRIVE_SELECT_RAW))
        redrive_bytes(db_text(rows, 0, REDRIVE_SELECT_RAW), &text);
    if (text.len == 0 || message_says_end(text.data, text.len))
        return RC_OK;
    rc = redrive_line(text.data, text.len, NULL, &line, &why);
    return rc == RC_OK ? RC_OK : refuse(corrected, &why, err);
}

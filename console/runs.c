/* One portion of an action on many runs: one statement, whose document says which runs are left.
 * The next portion gets that document as its last parameter, so the statement can count both
 * together. console/change.c repeats it while runs are left and there is time. */
#include "console/runs.h"

#include <cjson/cJSON.h>
#include <stddef.h>

enum { ACTION, RUNS, FILTER, REASON, PARAMS };

enum rc runs_act_make(const struct route_context *context, struct db *db, const char *const *params,
                      struct str *document, struct err *err)
{
    (void)context;
    DB_RESULT_AUTO *result = NULL;
    const char *const all[PARAMS + 1] = {params[ACTION], params[RUNS], params[FILTER],
                                         params[REASON], document->len > 0 ? document->data : NULL};
    enum rc rc = db_run(db, &sql_console_runs_act, all, &result, err);
    if (rc != RC_OK)
        return rc;
    str_clear(document);
    str_text(document, db_text(result, 0, CONSOLE_RUNS_ACT_DOCUMENT));
    return RC_OK;
}

bool runs_left(const struct str *document)
{
    cJSON *root = cJSON_ParseWithLength(document->data, document->len);
    /* A document without the list, or no JSON at all, has none left: the size is 0. */
    bool left = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(root, "left")) > 0;
    cJSON_Delete(root);
    return left;
}

/* Names of functions, and of relations with triggers, views and similar, that lead to code of
 * users. A task whose text has such a word may leave something in its session, so the session is
 * cleaned behind it. Control reads the names (executor/judging.c); readers only compare
 * words, so a false alarm costs one cleaning and an unknown list costs one for every task. */
#include "reader/risks.h"

#include "base/ascii.h"
#include "base/str.h"
#include "reader/attempt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 1000 /* if there are more, every task is a risk */

struct risks {
    _Atomic int holders;
    int64_t definitions;
    bool everything;
    int count;
    char (*names)[STATEMENT_WORD]; /* in capitals, sorted */
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum rc risks_read(struct db *db, struct risks **ret_risks, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc =
        db_run(db, &sql_executor_risks, (const char *const[]){DB_INT(MOST_NAMES)}, &rows, err);
    if (rc != RC_OK)
        return rc;
    struct risks *risks = xcalloc(1, sizeof *risks);
    risks->holders = 1;
    risks->definitions = db_int(rows, 0, EXECUTOR_RISKS_CHANGES);
    risks->count = db_null(rows, 0, EXECUTOR_RISKS_NAME) ? 0 : db_rows(rows);
    risks->names = xcalloc((size_t)risks->count + 1, sizeof *risks->names);
    for (int i = 0; i < risks->count; i++) {
        const char *name = db_text(rows, i, EXECUTOR_RISKS_NAME);
        for (int k = 0; k < STATEMENT_WORD - 1 && name[k] != '\0'; k++)
            risks->names[i][k] = ascii_upper(name[k]);
        risks->everything = risks->everything || strcmp(name, "*") == 0;
    }
    qsort(risks->names, (size_t)risks->count, sizeof *risks->names, compare);
    *ret_risks = risks;
    return RC_OK;
}

int64_t risks_definitions(const struct risks *risks)
{
    return risks != NULL ? risks->definitions : 0;
}

struct risks *risks_keep(struct risks *risks)
{
    if (risks != NULL)
        risks->holders++;
    return risks;
}

void risks_release(struct risks *risks)
{
    if (risks == NULL || --risks->holders > 0)
        return;
    free(risks->names);
    free(risks);
}

static bool is_risk(const void *context, const char *word)
{
    const struct risks *risks = context;
    return bsearch(word, risks->names, (size_t)risks->count, sizeof *risks->names, compare) != NULL;
}

/* Unknown risks count as every risk: cleaning a session costs little, and state that is left behind
 * could change the effect of the next task (tests/e2e/hygiene.sh). */
bool risks_meet(const struct risks *risks, const struct plan *plan)
{
    if (risks == NULL || risks->everything)
        return true;
    for (int i = 0; i < plan->count; i++)
        if (!plan->statements[i].plain || /* an event trigger, for one */
            (risks->count > 0 && statement_names(&plan->statements[i], is_risk, risks)))
            return true;
    return false;
}

/* However much has come, it is one statement. */
#include "scheduler/changed.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "db/notification.h"

#include <string.h>

#define RELATIONS ((int)(sizeof((struct changed *)0)->relations / sizeof(int64_t)))
#define PAUSE_US  (1000 * 1000)
#define ROWS      "rows " /* what is notified, with the table's oid */

static bool is_rows(const char *payload, int64_t *ret_relation)
{
    return strncmp(payload, ROWS, sizeof ROWS - 1) == 0 &&
           number_parse("notification", "oid", payload + sizeof ROWS - 1,
                        (struct number_range){1, UINT32_MAX}, ret_relation, NULL) == RC_OK;
}

static void remember(struct changed *changed, int64_t relation)
{
    int at = 0;
    while (at < changed->count && at < RELATIONS && changed->relations[at] != relation)
        at++;
    if (at < RELATIONS)
        changed->relations[at] = relation;
    if (at == changed->count)
        changed->count++;
}

enum rc changed_receive(struct changed *changed, struct db *db, bool *ret_rows, bool *ret_others,
                        struct err *err)
{
    const char *channel, *payload;
    enum rc rc;
    while ((rc = db_notification(db, &channel, &payload, err)) == RC_OK) {
        int64_t relation;
        if (is_rows(payload, &relation)) {
            *ret_rows = true;
            remember(changed, relation);
        } else {
            *ret_others = true;
        }
    }
    return rc == RC_NONE ? RC_OK : rc;
}

int changed_wait_ms(const struct changed *changed, int most_ms)
{
    if (changed->count == 0)
        return most_ms;
    int64_t left_ms = (changed->at_us - clock_boot_us() + 999) / 1000;
    return left_ms <= 0 ? 0 : left_ms < most_ms ? (int)left_ms : most_ms;
}

/* list NULL: of any. What is heard from now on waits. The row of a trigger that another session
 * holds is tried again when the pause is over: nothing else notifies that it is free. */
static enum rc look_soon(struct changed *changed, struct db *db, const char *list, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    changed->at_us = clock_boot_us() + PAUSE_US;
    enum rc rc = db_run(db, &sql_job_rows, (const char *const[]){list}, &row, err);
    if (rc != RC_OK || !db_bool(row, 0, JOB_ROWS_HELD))
        changed->count = 0;
    else if (list == NULL)
        changed->count = RELATIONS + 1;
    return rc;
}

enum rc changed_act(struct changed *changed, struct db *db, struct err *err)
{
    if (changed->count == 0 || changed_wait_ms(changed, 1) > 0)
        return RC_OK;
    if (changed->count > RELATIONS)
        return changed_all(changed, db, err);
    STR_AUTO list = {0};
    db_array_start(&list);
    for (int i = 0; i < changed->count; i++)
        db_array_int(&list, changed->relations[i]);
    db_array_end(&list);
    return look_soon(changed, db, list.data, err);
}

enum rc changed_all(struct changed *changed, struct db *db, struct err *err)
{
    return look_soon(changed, db, NULL, err);
}

enum rc changed_open(struct db *db, const char *token, bool *ret_open, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_writers, (const char *const[]){token}, &row, err);
    *ret_open = rc == RC_OK && db_bool(row, 0, JOB_WRITERS_WRITERS);
    return rc;
}

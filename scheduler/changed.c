/* However much has come, it is one statement. */
#include "scheduler/changed.h"

#include "base/number.h"
#include "base/str.h"
#include "db/notification.h"

#include <string.h>

#define RELATIONS 64      /* tables that are told apart; of more all are looked at */
#define ROWS      "rows " /* what is notified, with the table's oid */

enum rc changed_hear(struct db *db, bool acts, bool *ret_changed, struct err *err)
{
    const char *channel, *payload;
    int64_t relations[RELATIONS];
    int count = 0;
    enum rc rc;
    while ((rc = db_notification(db, &channel, &payload, err)) == RC_OK) {
        int64_t heard;
        int at = 0;
        if (strncmp(payload, ROWS, sizeof ROWS - 1) != 0 ||
            number_parse("notification", "oid", payload + sizeof ROWS - 1,
                         (struct number_range){1, UINT32_MAX}, &heard, NULL) != RC_OK)
            continue;
        while (at < count && at < RELATIONS && relations[at] != heard)
            at++;
        if (at < RELATIONS)
            relations[at] = heard;
        if (at == count)
            count++;
    }
    *ret_changed = count > 0;
    if (rc != RC_NONE || count == 0 || !acts)
        return rc == RC_NONE ? RC_OK : rc;
    if (count > RELATIONS)
        return changed_all(db, err);
    STR_AUTO list = {0};
    db_array_start(&list);
    for (int i = 0; i < count; i++)
        db_array_int(&list, relations[i]);
    db_array_end(&list);
    return db_run(db, &sql_job_rows, (const char *const[]){list.data}, NULL, err);
}

enum rc changed_all(struct db *db, struct err *err)
{
    return db_run(db, &sql_job_rows, (const char *const[]){NULL}, NULL, err);
}

enum rc changed_open(struct db *db, const char *token, bool *ret_open, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_writers, (const char *const[]){token}, &row, err);
    *ret_open = rc == RC_OK && db_bool(row, 0, JOB_WRITERS_WRITERS);
    return rc;
}

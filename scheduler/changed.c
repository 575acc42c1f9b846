/* Turns notifications of changed tables into one statement a second, however many have come: a busy
 * table may notify at each statement. This file only moves the next look of a trigger to now;
 * scheduler/firing.c lets the database decide it. */
#include "scheduler/changed.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "db/notification.h"

#include <string.h>

/* 64 tables fit. One more makes the list say "any table", which costs a scan of the watched
 * triggers and is always right. */
#define RELATIONS ((int)(sizeof((struct changed *)0)->relations / sizeof(int64_t)))
#define PAUSE_US  (1000 * 1000)
#define ROWS      "rows " /* what is notified, with the table's oid */

/* Any session of the database can NOTIFY on this channel. A forged payload costs a round, or wakes
 * the triggers of a table early. */
static bool is_rows(const char *payload, int64_t *ret_relation)
{
    return strncmp(payload, ROWS, sizeof ROWS - 1) == 0 &&
           number_parse("notification", "oid", payload + sizeof ROWS - 1,
                        (struct number_range){1, UINT32_MAX}, ret_relation, NULL) == RC_OK;
}

/* A count above RELATIONS means "any". It grows no further, because at stays at RELATIONS then. */
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
    /* Rounded up: a wait that ends a fraction of a millisecond early would find nothing to do and
     * loop. */
    int64_t left_ms = (changed->at_us - clock_boot_us() + 999) / 1000;
    return left_ms <= 0 ? 0 : left_ms < most_ms ? (int)left_ms : most_ms;
}

/* list NULL: of any. Notifications that come from now on wait. The row of a trigger that another
 * session holds is tried again when the pause is over: nothing else notifies that it is free. */
static enum rc make_due(struct changed *changed, struct db *db, const char *list, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    /* Before the statement: notifications that come while it runs wait for their own second. */
    changed->at_us = clock_boot_us() + PAUSE_US;
    enum rc rc = db_run(db, &sql_job_rows, (const char *const[]){list}, &row, err);
    if (rc != RC_OK || !db_bool(row, 0, JOB_ROWS_HELD))
        changed->count = 0;
    /* The statement does not name the row that is held, so the next one is for all tables again. */
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
    return make_due(changed, db, list.data, err);
}

enum rc changed_all(struct changed *changed, struct db *db, struct err *err)
{
    return make_due(changed, db, NULL, err);
}

/* The interleaving: a statement writes while the look is already due, so its trigger notifies of
 * nothing; the look starts; the writer commits. The look has not seen its rows, and no notification
 * follows. The caller therefore looks a second time. */
enum rc changed_open(struct db *db, const char *token, bool *ret_open, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_writers, (const char *const[]){token}, &row, err);
    *ret_open = rc == RC_OK && db_bool(row, 0, JOB_WRITERS_WRITERS);
    return rc;
}

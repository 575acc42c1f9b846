/* Slots, the bound on running tasks; the protocol is in slot.h and docs/explanation/phase-locks.md.
 * Each step is a transaction of its own, in a fixed order, and tests/model/slots.pml has each
 * interleaving. A take that fails in its second round keeps the slots of its first. */
#include "phaselock/slot.h"

#include "base/probe.h"
#include "base/str.h"
#include "phaselock/failed.h"

#include <string.h>

/* One round: appends the slots that it got to ret_slot_nos. */
static enum rc take_round(struct db *db, int queue_id, int executor_no,
                          const struct slot_reader *readers, int count, int *ret_slot_nos,
                          int *ret_count, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    STR_AUTO pids = {0};
    STR_AUTO starts = {0};
    db_array_start(&pids);
    db_array_start(&starts);
    for (int i = *ret_count; i < count; i++) {
        db_array_int(&pids, readers[i].pid);
        db_array_text(&starts, readers[i].backend_start, strlen(readers[i].backend_start));
    }
    db_array_end(&pids);
    db_array_end(&starts);
    const char *const params[] = {DB_INT(queue_id), DB_INT(executor_no), pids.data, starts.data};
    enum rc rc = db_run(db, &sql_phaselock_slot_take, params, &result, err);
    if (rc != RC_OK)
        return phaselock_failed(rc, err);
    for (int row = 0; row < db_rows(result); row++)
        ret_slot_nos[(*ret_count)++] = (int)db_int(result, row, PHASELOCK_SLOT_TAKE_SLOT_NO);
    return *ret_count == count ? RC_OK : RC_NONE;
}

enum rc slot_take(struct db *db, int queue_id, int executor_no, const struct slot_reader *readers,
                  int count, int *ret_slot_nos, int *ret_count, struct err *err)
{
    DB_RESULT_AUTO *registered = NULL;
    struct err own;
    err = err != NULL ? err : &own;
    int taken = 0;
    enum rc rc = take_round(db, queue_id, executor_no, readers, count, ret_slot_nos, &taken, err);
    if (rc == RC_NONE) {
        /* Register, commit, and only then try again: sql/functions/slot/slot_wait.sql. */
        const char *const params[] = {DB_INT(queue_id), DB_INT(executor_no)};
        rc = db_run(db, &sql_phaselock_slot_wait, params, &registered, err);
        if (rc != RC_OK)
            rc = phaselock_failed(rc, err); /* slots of the first round are held */
        else if (!db_bool(registered, 0, PHASELOCK_SLOT_WAIT_FRESH))
            rc = RC_NONE;
        else
            rc = take_round(db, queue_id, executor_no, readers, count, ret_slot_nos, &taken, err);
    }
    if (rc == RC_RETRY &&
        /* the lock table is full, or a row is held: the slots of the first round are good */
        taken > 0)
        rc = RC_NONE;
    if (rc == RC_OK || rc == RC_NONE)
        *ret_count = taken;
    return rc;
}

/* The row is cleared and committed before the lock is free: another executor that gets the lock
 * reads the row, and would find the backend of a reader that is idle. */
enum rc slot_release(struct db *db, int queue_id, int executor_no, const int *slot_nos, int count,
                     struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    STR_AUTO numbers = {0};
    struct err own;
    err = err != NULL ? err : &own;
    db_array_start(&numbers);
    for (int i = 0; i < count; i++)
        db_array_int(&numbers, slot_nos[i]);
    db_array_end(&numbers);
    const char *const params[] = {DB_INT(queue_id), DB_INT(executor_no), numbers.data};
    /* Two transactions, in this order: sql/functions/slot/slot_clear.sql. */
    enum rc rc = db_run(db, &sql_phaselock_slot_clear, params, NULL, err);
    if (rc != RC_OK)
        return rc;
    probe("slot.cleared");
    rc = db_run(db, &sql_phaselock_slot_unlock, params, &result, err);
    probe("slot.returned");
    if (rc != RC_OK)
        return rc == RC_FATAL ? RC_FATAL : RC_LOST; /* some are unlocked and some not */
    if (db_int(result, 0, PHASELOCK_SLOT_UNLOCK_HELD) != count)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "slot", "Please report this.",
                       "%d slots of queue %d were to be released, but this session held only %s",
                       count, queue_id, db_text(result, 0, PHASELOCK_SLOT_UNLOCK_HELD));
    return RC_OK;
}

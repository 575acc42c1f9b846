/* The part of phase locks that is in C. The functions of claim, gate and release acquire them
 * (sql/functions/lock/). After any other error than the two of phaselock_failed() the session is
 * closed, because a lock may have been granted together with the error. */
#include "phaselock/phaselock.h"

#include "phaselock/failed.h"

enum rc phaselock_release_intent(struct db *db, int64_t phase_id, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    struct err own;
    err = err != NULL ? err : &own;
    enum rc rc = db_run(db, &sql_phaselock_unlock_intent, (const char *const[]){DB_INT(phase_id)},
                        &result, err);
    if (rc != RC_OK)
        return phaselock_failed(rc, err);
    if (!db_bool(result, 0, PHASELOCK_UNLOCK_INTENT_HELD))
        return err_set(
            err, RC_FATAL, ERR_INTERNAL, "phase lock", "Please report this.",
            "the intent lock of phase %lld was to be released, but this session has none",
            (long long)phase_id);
    return rc;
}

enum rc phaselock_list(struct db *db, struct db_result **ret_result, struct err *err)
{
    return db_run(db, &sql_phaselock_list, NULL, ret_result, err);
}

enum rc phaselock_headroom(struct db *db, int needed, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = db_run(db, &sql_phaselock_headroom, NULL, &result, err);
    if (rc != RC_OK)
        return rc;
    int64_t capacity = db_int(result, 0, PHASELOCK_HEADROOM_CAPACITY),
            used = db_int(result, 0, PHASELOCK_HEADROOM_USED);
    if (capacity - used >= needed)
        return RC_OK;
    return err_set(
        err, RC_RETRY, ERR_DB, "lock table", LOCK_TABLE_HINT,
        "%d locks are needed, but of about %lld that the cluster can hold %lld are taken", needed,
        (long long)capacity, (long long)used);
}

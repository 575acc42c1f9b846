#include "phaselock/phaselock.h"

#include "base/clock.h"
#include "phaselock/failed.h"

/* One statement that answers granted or not. */
static enum rc ask(struct db *db, const struct sql_statement *stmt, int64_t phase_id, int slice_ms,
                   struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *const params[] = {DB_INT(phase_id), DB_INT(slice_ms)};
    enum rc rc = db_run(db, stmt, params, &result, err);
    if (rc != RC_OK)
        return phaselock_failed(rc, err);
    return db_bool(result, 0, PHASELOCK_SHARED_GRANTED) ? RC_OK : RC_NONE;
}

static enum rc wait_for(struct db *db, const struct sql_statement *stmt, int64_t phase_id,
                        int wait_ms, struct err *err)
{
    int64_t deadline_us = clock_boot_us() + (int64_t)wait_ms * 1000;
    for (;;) {
        int64_t left_ms = (deadline_us - clock_boot_us()) / 1000;
        int slice_ms = left_ms > PHASELOCK_SLICE_MS ? PHASELOCK_SLICE_MS
                       : left_ms < 1                ? 1
                                                    : (int)left_ms;
        enum rc rc = ask(db, stmt, phase_id, slice_ms, err);
        if (rc != RC_NONE || left_ms <= slice_ms)
            return rc;
    }
}

enum rc phaselock_shared(struct db *db, int64_t phase_id, int wait_ms, struct err *err)
{
    struct err own;
    err = err != NULL ? err : &own;
    if (wait_ms <= 0)
        return ask(db, &sql_phaselock_shared_try, phase_id, 0, err);
    return wait_for(db, &sql_phaselock_shared, phase_id, wait_ms, err);
}

enum rc phaselock_intent(struct db *db, int64_t phase_id, int wait_ms, struct err *err)
{
    struct err own;
    return wait_for(db, &sql_phaselock_intent, phase_id, wait_ms, err != NULL ? err : &own);
}

enum rc phaselock_release(struct db *db, int64_t phase_id, enum phaselock_mode mode,
                          struct err *err)
{
    struct err own;
    err = err != NULL ? err : &own;
    bool shared = mode == PHASELOCK_SHARED;
    enum rc rc = ask(db, shared ? &sql_phaselock_unlock_shared : &sql_phaselock_unlock_intent,
                     phase_id, 0, err);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "phase lock", "Please report this.",
                       "%s of phase %lld was to be released, but this session does not hold it",
                       shared ? "S" : "IX", (long long)phase_id);
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

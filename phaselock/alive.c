#include "phaselock/alive.h"

#include "phaselock/failed.h"

enum rc alive_lock(struct db *db, int executor_no, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    struct err own;
    err = err != NULL ? err : &own;
    const char *const params[] = {DB_INT(executor_no)};
    enum rc rc = db_run(db, &sql_phaselock_alive_lock, params, &result, err);
    if (rc != RC_OK)
        return phaselock_failed(rc, err);
    if (!db_bool(result, 0, PHASELOCK_ALIVE_LOCK_GRANTED))
        return err_set(err, RC_FATAL, ERR_HELD, "executor",
                       "lockstep lock list shows who holds it.",
                       "another session holds the lock of executor number %d", executor_no);
    return RC_OK;
}

enum rc alive_check(struct db *db, int executor_no, bool *ret_alive, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *const params[] = {DB_INT(executor_no)};
    enum rc rc = db_run(db, &sql_phaselock_alive_check, params, &result, err);
    if (rc == RC_OK)
        *ret_alive = db_bool(result, 0, PHASELOCK_ALIVE_CHECK_ALIVE);
    return rc;
}

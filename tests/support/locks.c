/* The lock functions of the database, called one by one, for tests of the code that combines them.
 * A wait is cut into slices as phaselock/ does it, so that no statement waits for long inside the
 * server. */
#include "tests/support/locks.h"

#include "base/clock.h"
#include "base/str.h"
#include "phaselock/failed.h"
#include "phaselock/phaselock.h"
#include "tests/support/support.h"

/* One call that answers granted or not: its text up to the key; slice_ms 0: it has none. */
static enum rc ask(struct db *db, struct err *err, const char *call, int64_t key, int slice_ms)
{
    STR_AUTO text = {0};
    DB_RESULT_AUTO *result = NULL;
    struct err own;
    err = err != NULL ? err : &own;
    str_format(&text, "SELECT %s%lld", call, (long long)key);
    if (slice_ms > 0)
        str_format(&text, ", %d", slice_ms);
    str_text(&text, ")");
    enum rc rc = db_script(db, text.data, &result, err);
    if (rc != RC_OK)
        return phaselock_failed(rc, err);
    return db_bool(result, 0, 0) ? RC_OK : RC_NONE;
}

static enum rc wait_for(struct db *db, const char *call, int64_t phase_id, int wait_ms,
                        struct err *err)
{
    int64_t deadline_us = clock_boot_us() + (int64_t)wait_ms * 1000;
    for (;;) {
        int64_t left_ms = (deadline_us - clock_boot_us()) / 1000;
        int slice_ms = left_ms > PHASELOCK_SLICE_MS ? PHASELOCK_SLICE_MS
                       : left_ms < 1                ? 1
                                                    : (int)left_ms;
        enum rc rc = ask(db, err, call, phase_id, slice_ms);
        if (rc != RC_NONE || left_ms <= slice_ms)
            return rc;
    }
}

enum rc locks_shared(struct db *db, int64_t phase_id, int wait_ms, struct err *err)
{
    if (wait_ms <= 0)
        return ask(db, err, "lockstep_test.lock_shared_try(", phase_id, 0);
    return wait_for(db, "lockstep_test.lock_shared(", phase_id, wait_ms, err);
}

enum rc locks_intent(struct db *db, int64_t phase_id, int wait_ms, struct err *err)
{
    return wait_for(db, "lockstep_test.lock_intent(", phase_id, wait_ms, err);
}

enum rc locks_release(struct db *db, int64_t phase_id, enum locks_mode mode, struct err *err)
{
    if (mode == LOCKS_INTENT)
        return phaselock_release_intent(db, phase_id, err);
    enum rc rc = ask(db, err, "lockstep.unlock_shared(", phase_id, 0);
    return rc != RC_NONE ? rc
                         : err_set(err, RC_FATAL, ERR_INTERNAL, "phase lock", NULL,
                                   "S of phase %lld is not held", (long long)phase_id);
}

enum rc locks_life(struct db *db, int executor_no, struct err *err)
{
    return ask(db, err, "pg_try_advisory_lock(lockstep.lock_class('executor'), ", executor_no, 0);
}

bool locks_lives(struct db *db, int executor_no)
{
    return support_int(db, "SELECT lockstep.executor_lives(%d)::int", executor_no) == 1;
}

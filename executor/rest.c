/* A gate that waits asks again at once, because the lock is its wake-up. But no executor has S of
 * the phase before when its last owner is dead and still counts as living: a command of it does not
 * end, or a backend of it is not gone (lockstep.executors_living). IX is granted at once then, the
 * rest of that phase is no orphan yet, and a gate without a rest would ask thousands of times a
 * second (tests/e2e/lost_session.sh). */
#include "executor/rest.h"

#include "base/backoff.h"
#include "db/db.h"
#include "phaselock/phaselock.h"

#include <stdbool.h>

#define FALLBACK_MS 5000 /* a notification wakes a gate; this is for one that was lost */
/* After asking for an adoption; twice as long each time that the orphans are still there, because
 * perhaps no executor may take them (their command is unknown, or max_readers is 0). */
#define ORPHANS_MS      100
#define ORPHANS_LAST_MS 1000
/* After a wait that was none. Short at first: most executors are gone within milliseconds. */
#define VAIN_MS      5
#define VAIN_LAST_MS 500
/* Between two slices of a wait: while a gate waits for IX, no executor that adopts gets S. */
#define GAP_MS   3
#define SLICE_US (PHASELOCK_SLICE_MS * 1000)

int rest_ms(struct rest *rest, const struct db_result *row, int64_t took_us)
{
    int verdict = db_word(row, 0, EXECUTOR_GATE_VERDICT);
    bool orphans = verdict == EXECUTOR_GATE_IS_ORPHANS;
    bool vain = verdict == EXECUTOR_GATE_IS_WAIT && took_us < SLICE_US / 2;
    rest->orphans_ms = orphans ? backoff_next(rest->orphans_ms, ORPHANS_MS, ORPHANS_LAST_MS) : 0;
    rest->vain_ms = vain ? backoff_next(rest->vain_ms, VAIN_MS, VAIN_LAST_MS) : 0;
    switch (verdict) {
    case EXECUTOR_GATE_IS_OPENED:
    case EXECUTOR_GATE_IS_OPEN:
    case EXECUTOR_GATE_IS_GONE:
    case EXECUTOR_GATE_IS_WAIT:
        return vain ? rest->vain_ms : took_us >= SLICE_US ? GAP_MS : 0;
    case EXECUTOR_GATE_IS_ORPHANS:
        return rest->orphans_ms;
    case EXECUTOR_GATE_IS_DUE: {
        int64_t wait_ms = db_int(row, 0, EXECUTOR_GATE_WAIT_MS);
        return wait_ms < FALLBACK_MS ? (int)wait_ms : FALLBACK_MS;
    }
    default: /* run, paused, external, nothing */
        return FALLBACK_MS;
    }
}

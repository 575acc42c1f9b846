/* Finds out why a run does not move, for commands that wait. Begin with stalled_check(): only if
 * the pulse of the run (counts that move with any progress) is the same for STALLED_US is the
 * costly question asked (lockstep.explain), and a reason that is normal for a healthy run is not
 * shown. It never ends a wait: a session that may not ask only gets no reasons. */
#include "task/stalled.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <string.h>

#define CHECK_EVERY_US 1000000
#define STALLED_US     3000000

/* The reasons for which a healthy run waits, such as a task that takes its time. */
static bool is_healthy(const char *reason)
{
    static const char *const reasons[] = {
        "phase_before",      "task_running",    "task_with_worker", "task_in_hand",
        "task_offered",      "readers_busy",    "readers_spent",    "executors_busy",
        "executors_limited", "lookahead",       "run_publishing",   "run_ended",
        "nothing_waits",     "sessions_hidden", "slots_kept",       "run_end_unclaimed"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i], reason) == 0)
            return true;
    return false;
}

/** The error is of the session or of the moment, and the caller reconnects or retries. */
static bool is_passing(enum rc rc)
{
    return rc == RC_LOST || rc == RC_RETRY;
}

static enum rc ask_why(struct stalled *stalled, struct db *db, int64_t run_no, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(db, &sql_run_explain, (const char *const[]){DB_INT(run_no)}, &rows, err);
    /* A login without the right to ask would get the same error each second, in the log of the
     * server, too. */
    stalled->refused = rc != RC_OK && rc != RC_NONE && !is_passing(rc);
    if (rc != RC_OK)
        return is_passing(rc) ? rc : RC_NONE;
    for (int row = 0; row < db_rows(rows); row++) {
        const char *reason = db_text(rows, row, RUN_EXPLAIN_REASON);
        if (is_healthy(reason))
            continue;
        /* Each reason is shown once, until another one or progress comes. */
        if (strcmp(stalled->reason, reason) == 0)
            return RC_NONE;
        utf8_copy(stalled->reason, sizeof stalled->reason, reason);
        utf8_copy(stalled->sentence, sizeof stalled->sentence,
                  db_text(rows, row, RUN_EXPLAIN_SENTENCE));
        return RC_OK;
    }
    return RC_NONE;
}

enum rc stalled_check(struct stalled *stalled, struct db *db, int64_t run_no, struct err *err)
{
    int64_t now_us = clock_boot_us();
    DB_RESULT_AUTO *pulse = NULL;
    if (stalled->refused || now_us < stalled->check_us)
        return RC_NONE;
    stalled->check_us = now_us + CHECK_EVERY_US;
    enum rc rc = db_run(db, &sql_run_pulse, (const char *const[]){DB_INT(run_no)}, &pulse, err);
    if (rc != RC_OK) {
        stalled->refused = rc != RC_NONE && !is_passing(rc);
        return is_passing(rc) ? rc : RC_NONE;
    }
    if (strncmp(stalled->pulse, db_text(pulse, 0, RUN_PULSE_PULSE), sizeof stalled->pulse - 1) == 0)
        return now_us - stalled->since_us >= STALLED_US ? ask_why(stalled, db, run_no, err)
                                                        : RC_NONE;
    utf8_copy(stalled->pulse, sizeof stalled->pulse, db_text(pulse, 0, RUN_PULSE_PULSE));
    stalled->since_us = now_us;
    stalled->sentence[0] = '\0';
    return RC_NONE;
}

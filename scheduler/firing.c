/* The statements of a dispatcher, one transaction each: acquire the lock, decide a batch, report a
 * look or a failed firing. Each row of an answer becomes at most one line of the log and one count
 * of the metrics, after the commit. When to ask is scheduler/dispatcher.c's decision, or
 * scheduler/once.c's; which verdict a schedule gets is sql/functions/job/'s. */
#include "scheduler/firing.h"

#include "base/log.h"
#include "base/probe.h"
#include "metrics/tally.h"
#include "scheduler/decided.h"

/* Logs one decision under the event of its verdict. */
static void log_decision(const struct db_result *rows, int row, int verdict)
{
    bool fired = verdict == JOB_DISPATCH_IS_FIRE, failed = verdict == JOB_DISPATCH_IS_ERROR,
         missed = verdict == JOB_DISPATCH_IS_MISS, skipped = verdict == JOB_DISPATCH_IS_SKIP;
    bool cancels = verdict == JOB_DISPATCH_IS_CANCEL && !db_null(rows, row, JOB_DISPATCH_RUN);
    log_event(failed || missed || cancels ? LOG_WARN : LOG_INFO,
              fired     ? "job_fired"
              : failed  ? "job_failed"
              : missed  ? "job_missed"
              : skipped ? "job_skipped"
              : cancels ? "job_run_cancelled"
                        : "job_waits",
              "job", db_text(rows, row, JOB_DISPATCH_JOB), "schedule",
              db_text(rows, row, JOB_DISPATCH_SCHEDULE), "scheduled_for",
              db_text(rows, row, JOB_DISPATCH_SCHEDULED_FOR), "run",
              db_text(rows, row, JOB_DISPATCH_RUN), "reason",
              db_text(rows, row, JOB_DISPATCH_REASON), NULL);
}

static const struct ask_columns DISPATCHED = {
    JOB_DISPATCH_TOKEN, JOB_DISPATCH_LOOK, JOB_DISPATCH_MARK,     JOB_DISPATCH_QUERY,
    JOB_DISPATCH_WORDS, JOB_DISPATCH_JOB,  JOB_DISPATCH_SCHEDULE, JOB_DISPATCH_SCHEDULED_FOR};

/* A firing in the tasks' session counts when it has happened there: log_fired. */
static void count(const struct dispatcher_options *options, const struct db_result *rows, int row,
                  int verdict)
{
    static const struct {
        int verdict;
        enum tally_decision decision;
    } of[] = {{JOB_DISPATCH_IS_FIRE, TALLY_FIRED},
              {JOB_DISPATCH_IS_SKIP, TALLY_SKIPPED},
              {JOB_DISPATCH_IS_MISS, TALLY_MISSED},
              {JOB_DISPATCH_IS_ERROR, TALLY_NOT_FIRED}};
    bool has = !db_null(rows, row, JOB_DISPATCH_LATE_US);
    /* -1: the decision is counted, but is not in the histogram of lateness. */
    int64_t late_us = has ? db_int(rows, row, JOB_DISPATCH_LATE_US) : -1;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (verdict == of[i].verdict)
            tally_decided(options->tally, of[i].decision, late_us);
}

/* What was decided. *ret_ask: SQL of users is to be run; otherwise NULL. */
static void decided(const struct dispatcher_options *options, const struct db_result *rows, int row,
                    int verdict, struct ask **ret_ask)
{
    *ret_ask = NULL;
    count(options, rows, row, verdict);
    if (verdict == JOB_DISPATCH_IS_LOOK || verdict == JOB_DISPATCH_IS_ASK)
        *ret_ask = ask_new(rows, row, &DISPATCHED);
    else if (verdict != JOB_DISPATCH_IS_WAIT)
        log_decision(rows, row, verdict);
}

enum rc firing_fire(struct db *db, const struct dispatcher_options *options,
                    const struct firing_turn *turn, int64_t *ret_wait_us, struct ask **ret_ask,
                    struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    probe("dispatch.send");
    /* The probe before it and the one behind it are where tests kill a dispatcher: a firing is then
     * not in the database, or is there although the dispatcher never saw the answer. */
    enum rc rc = db_run(
        db, &sql_job_dispatch,
        (const char *const[]){options->who, turn->asks ? "t" : "f", DB_INT(turn->most), turn->now},
        &rows, err);
    probe("dispatch.done");
    *ret_ask = NULL;
    if (rc != RC_OK)
        return rc;
    *ret_wait_us = -1;
    /* A decision that needs SQL of users has a transaction of its own, so its row is the only
     * one. */
    for (int i = 0; i < db_rows(rows) && *ret_ask == NULL; i++) {
        int verdict = db_word(rows, i, JOB_DISPATCH_VERDICT);
        bool known = !db_null(rows, i, JOB_DISPATCH_WAIT_US);
        int64_t wait_us = known ? db_int(rows, i, JOB_DISPATCH_WAIT_US) : FIRING_CHECK_US;
        if (verdict >= 0)
            decided(options, rows, i, verdict, ret_ask);
        else
            *ret_wait_us = wait_us < FIRING_CHECK_US ? wait_us : FIRING_CHECK_US;
    }
    return RC_OK;
}

/* A firing has happened in the tasks' session. */
static void log_fired(const struct dispatcher_options *options, const struct ask *ask)
{
    if (ask->run[0] == '\0')
        return;
    tally_decided(options->tally, TALLY_FIRED, -1);
    log_event(LOG_INFO, "job_fired", "job", ask->job, "schedule", ask->schedule, "scheduled_for",
              ask->scheduled_for, "run", ask->run, NULL);
}

enum rc firing_report(struct db *db, const struct dispatcher_options *options,
                      const struct ask *ask, struct ask **ret_ask, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    char why[1200];
    ask_why(ask, why, sizeof why);
    *ret_ask = NULL;
    /* The firing itself was committed in the tasks' session (lockstep.fire): no statement is left
     * to run. */
    if (!ask->failed && ask->look == NULL) {
        log_fired(options, ask);
        return RC_OK;
    }
    enum rc rc;
    /* A look that another session interrupted goes to job_failed with "again": it says nothing
     * about rows. */
    if (ask->look != NULL && !ask->again)
        rc = db_run(db, &sql_job_looked,
                    (const char *const[]){options->who, ask->token, ask->failed ? NULL : ask->rows,
                                          ask->oldest[0] != '\0' ? ask->oldest : NULL,
                                          ask->newest[0] != '\0' ? ask->newest : NULL, why},
                    &row, err);
    else
        rc = db_run(db, &sql_job_failed,
                    (const char *const[]){options->who, ask->token, ask->again ? "t" : "f", why},
                    &row, err);
    if (rc == RC_OK)
        decided(options, row, 0, db_word(row, 0, JOB_DISPATCH_VERDICT), ret_ask);
    if (rc == RC_OK && ask->again && !db_null(row, 0, JOB_DISPATCH_JOB))
        log_decision(row, 0, JOB_DISPATCH_IS_WAIT);
    return rc;
}

enum rc firing_lock(struct db *db, bool *ret_locked, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_lock, NULL, &row, err);
    *ret_locked = rc == RC_OK && db_bool(row, 0, JOB_LOCK_GRANTED);
    /* Voids the tokens of the dispatcher before: its tasks' session may live on and could fire with
     * one. */
    return *ret_locked ? db_run(db, &sql_job_begin, NULL, NULL, err) : rc;
}

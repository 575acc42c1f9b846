/* The work of a dispatcher that no firing waits for: cancel overdue runs and look at the health of
 * the jobs (once a minute), and delete old rows of jobs (a batch at a time). A firing that is near
 * comes first, but not for longer than ten seconds, or a dispatcher with constant work would never
 * clean up. Tasks and runs are deleted by scheduler/retention.c, on its own thread. */
#include "scheduler/house.h"

#include "base/clock.h"
#include "base/log.h"
#include "scheduler/alerts.h"
#include "scheduler/lasting.h"
#include "sql/sql.h"

#define EVERY_MS 60000
#define BATCH    1000               /* rows that job_sweep deletes at most of each table */
#define CALM_MS  500                /* nothing is due for so long: time for this */
#define LATE_US  (10 * 1000 * 1000) /* or it has waited for so long */

enum rc house_cancel_overdue(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(db, &sql_job_overdue, NULL, &rows, err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++)
        log_event(LOG_WARN, "job_run_cancelled", "job", db_text(rows, i, JOB_OVERDUE_JOB), "run",
                  db_text(rows, i, JOB_OVERDUE_RUN), "reason", db_text(rows, i, JOB_OVERDUE_WHY),
                  NULL);
    return rc;
}

enum rc house_sweep(struct db *db, int64_t keep_log_ms, bool *ret_more, struct err *err)
{
    const char *const params[] = {DB_INT(keep_log_ms), DB_INT(BATCH)};
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_sweep, params, &row, err);
    *ret_more = rc == RC_OK && db_int(row, 0, JOB_SWEEP_DELETED) >= BATCH;
    return rc;
}

/* Half a second less than a minute: a wait of a minute that has begun before it ends behind it. */
static int64_t next_us(void)
{
    return clock_boot_us() + (EVERY_MS - CALM_MS) * 1000LL;
}

/* It waits until no firing is near, but not for long. */
static bool is_calm(int64_t at_us, int wait_ms)
{
    int64_t late_us = clock_boot_us() - at_us;
    return late_us >= 0 && (wait_ms >= CALM_MS || late_us >= LATE_US);
}

static enum rc check_health(struct house *house, struct db *db, const char *who, struct err *err)
{
    house->health_us = next_us();
    enum rc rc = lasting_unless_held(house_cancel_overdue(db, err), err);
    if (rc == RC_OK) /* not in a single round: a monitor that looks rarely counts as absent */
        rc = lasting_unless_held(alerts_update(db, who, EVERY_MS, err), err);
    return rc;
}

enum rc house_keep(struct house *house, struct db *db, const char *who, int64_t keep_log_ms,
                   int *wait_ms, struct err *err)
{
    enum rc rc = RC_OK;
    /* A notification that comes during this work ends the rest of the wait at once. */
    int64_t until_us = clock_boot_us() + *wait_ms * 1000LL;
    if (is_calm(house->health_us, *wait_ms)) {
        rc = check_health(house, db, who, err);
        *wait_ms = clock_left_ms(until_us);
    }
    if (rc == RC_OK && is_calm(house->sweep_us, *wait_ms)) {
        bool more = false;
        rc = lasting_unless_held(house_sweep(db, keep_log_ms, &more, err), err);
        /* A full batch: the next one follows as soon as it is calm, so that a backlog does not last
         * for days. */
        house->sweep_us = more ? 0 : next_us();
        *wait_ms = more ? 0 : clock_left_ms(until_us);
    }
    return rc;
}

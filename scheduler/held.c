/* Finds the session that keeps a due job from firing. Dispatch skips a locked row without a word,
 * so that other jobs do not wait; without this warning a forgotten transaction would silence a job,
 * and the log would show nothing. It ends no session: that is the operator's decision. */
#include "scheduler/held.h"

#include "base/clock.h"
#include "base/log.h"
#include "sql/sql.h"

/* job_row_held names a schedule that has been due for as long. */
#define EVERY_MS 5000
#define SHORT_MS 200 /* the pause of lockstep.dispatch while what is due is held */

/* The lines begin and end with a newline, so that one is found whole. */
static void warn(const struct held *held, struct str *known, const struct db_result *rows, int row)
{
    /* From the newline before the new line: " 7 1 ..." must not be found inside "17 1 ...". */
    size_t from = known->len - 1;
    str_format(known, "%s %s %s\n", db_text(rows, row, JOB_ROW_HELD_SCHEDULE_ID),
               db_text(rows, row, JOB_ROW_HELD_PID), db_text(rows, row, JOB_ROW_HELD_DUE));
    /* Found: this schedule, time and session are in the log already. */
    if (held->known.data != NULL && strstr(held->known.data, known->data + from) != NULL)
        return;
    log_event(LOG_WARN, "job_row_held", "job", db_text(rows, row, JOB_ROW_HELD_JOB), "schedule",
              db_text(rows, row, JOB_ROW_HELD_SCHEDULE), "scheduled_for",
              db_text(rows, row, JOB_ROW_HELD_DUE), "reason", db_text(rows, row, JOB_ROW_HELD_WHY),
              NULL);
}

enum rc held_check(struct held *held, struct db *db, int wait_ms, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct str known = {0};
    if (wait_ms > SHORT_MS || clock_boot_us() < held->check_us)
        return RC_OK;
    held->check_us = clock_boot_us() + EVERY_MS * 1000LL;
    enum rc rc = db_run(db, &sql_job_row_held, NULL, &rows, err);
    if (rc != RC_OK)
        return rc;
    /* The list is made from the beginning each time: a session that has let go is forgotten, and is
     * logged again when it takes the row once more. */
    str_text(&known, "\n");
    for (int i = 0; i < db_rows(rows); i++)
        warn(held, &known, rows, i);
    str_done(&held->known);
    held->known = known;
    return RC_OK;
}

void held_done(struct held *held)
{
    str_done(&held->known);
}

/* said: what the SQL of attempts said, rows and notices, is kept in their rows behind their end,
 * for several at once. The end of a pipelined task is on its way before the answer of its SQL is
 * there, and an UPDATE of its own for each short task would be as much work as the task; so of
 * those only what has said something, or has run for some time, is kept. */
#include "executor/said.h"

#include "executor/lane.h"

#include "base/log.h"
#include "db/told.h"

#define LONG_US (10 * 1000)

static bool keeps_rows(const struct work *work)
{
    return work->end.rows >= 0 && (work->end.alone || work->end.ran_us >= LONG_US);
}

void said_note(struct executor *ex, const struct work *work)
{
    const struct db_told *told = work->end.told;
    bool notices = told != NULL && told->notices.len > 0;
    bool ended = work->end.outcome == OUTCOME_COMPLETED || work->end.outcome == OUTCOME_ERROR ||
                 work->end.outcome == OUTCOME_FAILED;
    if (!ended || !(notices || keeps_rows(work)))
        return;
    for (size_t i = 0;
         ex->said.count == 0 && i < sizeof ex->said.parameters / sizeof *ex->said.parameters; i++)
        db_array_start(&ex->said.parameters[i]);
    STR_AUTO text = {0};
    if (notices)
        str_add(&text, told->notices.data, told->notices.len);
    if (notices && told->left_out > 0)
        str_format(&text, "\n[%ld more]", told->left_out);
    db_array_int(&ex->said.parameters[0], work->task_id);
    db_array_int(&ex->said.parameters[1], work->attempt);
    if (work->end.rows >= 0)
        db_array_int(&ex->said.parameters[2], work->end.rows);
    else
        db_array_text(&ex->said.parameters[2], NULL, 0);
    db_array_text(&ex->said.parameters[3], notices ? text.data : NULL, text.len);
    ex->said.count++;
}

enum rc said_write(struct executor *ex, struct err *err)
{
    if (ex->said.count == 0)
        return RC_OK;
    for (size_t i = 0; i < sizeof ex->said.parameters / sizeof *ex->said.parameters; i++)
        db_array_end(&ex->said.parameters[i]);
    /* Forgotten before the statement: rows and notices are worth no second try. */
    ex->said.count = 0;
    struct err why;
    enum rc rc =
        db_run(ex->control.db, &sql_executor_said,
               (const char *const[]){ex->said.parameters[0].data, ex->said.parameters[1].data,
                                     ex->said.parameters[2].data, ex->said.parameters[3].data},
               NULL, &why);
    if (rc != RC_OK && rc != RC_LOST) { /* the attempts themselves are recorded */
        log_err(LOG_WARN, "notices_not_kept", NULL, &why);
        return RC_OK;
    }
    if (rc == RC_LOST && err != NULL)
        *err = why;
    return rc;
}

/* The output of an attempt is the rows that its SQL returned or changed, and its notices. It is
 * recorded behind the end of the attempt, for several attempts at once: the end of a pipelined task
 * is on its way before the answer of its SQL arrives, and an UPDATE of its own for each short task
 * would be as much work as the task. So the output of a short task is recorded only if it has
 * notices. record.c adds the output, and a turn writes it behind all that others wait for. */
#include "executor/output.h"

#include "base/log.h"
#include "db/db.h"
#include "db/diag.h"
#include "db/parameter.h"
#include "reader/work.h"

#define LONG_US (10 * 1000)

static bool keeps_rows(const struct work *work)
{
    return work->end.rows >= 0 && (work->end.alone || work->end.ran_us >= LONG_US);
}

void output_add(struct output *output, const struct work *work)
{
    const struct db_diag *diag = work->end.diag;
    bool notices = diag != NULL && diag->notices.len > 0;
    bool ended = work->end.outcome == OUTCOME_COMPLETED || work->end.outcome == OUTCOME_ERROR ||
                 work->end.outcome == OUTCOME_FAILED;
    if (!ended || !(notices || keeps_rows(work)))
        return;
    for (size_t i = 0;
         output->count == 0 && i < sizeof output->parameters / sizeof *output->parameters; i++)
        db_array_start(&output->parameters[i]);
    STR_AUTO text = {0};
    if (notices)
        str_add(&text, diag->notices.data, diag->notices.len);
    if (notices && diag->left_out > 0)
        str_format(&text, "\n[%ld more]", diag->left_out);
    db_array_int(&output->parameters[0], work->task_id);
    db_array_int(&output->parameters[1], work->attempt);
    if (work->end.rows >= 0)
        db_array_int(&output->parameters[2], work->end.rows);
    else
        db_array_text(&output->parameters[2], NULL, 0);
    db_array_text(&output->parameters[3], notices ? text.data : NULL, text.len);
    output->count++;
}

enum rc output_write(struct output *output, struct db *db, struct err *err)
{
    if (output->count == 0)
        return RC_OK;
    for (size_t i = 0; i < sizeof output->parameters / sizeof *output->parameters; i++)
        db_array_end(&output->parameters[i]);
    /* They are forgotten before the statement: rows and notices are worth no second try. */
    output->count = 0;
    struct err why;
    enum rc rc =
        db_run(db, &sql_executor_said,
               (const char *const[]){output->parameters[0].data, output->parameters[1].data,
                                     output->parameters[2].data, output->parameters[3].data},
               NULL, &why);
    if (rc != RC_OK && rc != RC_LOST) { /* the attempts themselves are recorded */
        log_err(LOG_WARN, "notices_not_kept", NULL, &why);
        return RC_OK;
    }
    if (rc == RC_LOST && err != NULL)
        *err = why;
    return rc;
}

void output_done(struct output *output)
{
    for (size_t i = 0; i < sizeof output->parameters / sizeof *output->parameters; i++)
        str_done(&output->parameters[i]);
}

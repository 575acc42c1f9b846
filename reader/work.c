/* One attempt and its end, as far as it is known. A work travels between control and a reader as
 * its own mail, so nothing is copied; the fields that two threads read at the same time are atomic
 * (work.h). */
#include "reader/work.h"

#include "db/diag.h"
#include "reader/risks.h"

#include <stdio.h>
#include <stdlib.h>

void work_init(struct work *work, const struct work_row *row)
{
    work->task_id = row->task_id;
    work->phase_id = row->phase_id;
    work->run_no = row->run_no;
    work->offset = row->offset;
    (void)snprintf(work->token, sizeof work->token, "%s", row->token);
    work->attempt = row->attempt;
    work->wary = row->wary;
    work->msg = row->msg;
}

/* The executor's notes are behind the work in the same piece of memory (executor/assignment.h). */
void work_free(struct work *work)
{
    message_free(work->msg);
    risks_release(work->risks);
    free(work->end.why);
    db_diag_free(work->end.diag);
    if (work->answer != NULL)
        action_result_done(work->answer);
    free(work->answer);
    free(work);
}

/* The end of an attempt has one function for each of its parts, so that a caller cannot set a loss
 * without the outcome LOST. */
void work_ends(struct work *work, enum outcome outcome)
{
    work->end.outcome = outcome;
}

void work_lost(struct work *work, enum loss loss)
{
    work->end.outcome = OUTCOME_LOST;
    work->end.loss = loss;
}

void work_ran(struct work *work, int64_t ran_us, bool alone)
{
    work->end.ran_us = ran_us;
    work->end.alone = alone;
}

void work_counts(struct work *work, int64_t rows)
{
    work->end.rows = rows;
}

/* A second failure of the same attempt replaces the first: it is the one that is recorded. */
void work_fails(struct work *work, const struct err *why)
{
    if (work->end.why == NULL)
        work->end.why = xmalloc(sizeof *work->end.why);
    *work->end.why = *why;
}

void work_unrecorded(struct work *work)
{
    work->end.unrecorded = true;
}

struct db_diag *work_diag(struct work *work)
{
    if (work->end.diag == NULL)
        work->end.diag = db_diag_new();
    return work->end.diag;
}

void work_set_diag(struct work *work, struct db_diag *diag)
{
    db_diag_free(work->end.diag);
    work->end.diag = diag;
}

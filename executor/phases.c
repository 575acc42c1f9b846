/* The list of the phases of a lane. It is in the order of ids, which grow with the log, so that the
 * phase for which all executors wait comes first. phase.c has what concerns one phase. */
#include "executor/phases.h"

#include "executor/assignment.h"
#include "executor/phase.h"

#include "base/memory.h"
#include "reader/work.h"
#include "task/message.h"

#include <stdlib.h>

/* Where the phase is in the list, or would be. */
static struct phase **place(struct phases *phases, int64_t phase_id)
{
    struct phase **at = &phases->first;
    while (*at != NULL && (*at)->phase_id < phase_id)
        at = &(*at)->next;
    return at;
}

struct phase *phases_find(const struct phases *phases, int64_t phase_id)
{
    struct phase *phase = phases->first;
    while (phase != NULL && phase->phase_id < phase_id)
        phase = phase->next;
    return phase != NULL && phase->phase_id == phase_id ? phase : NULL;
}

void phases_unlink(struct phases *phases, struct phase *phase)
{
    *place(phases, phase->phase_id) = phase->next;
}

void phases_link(struct phases *phases, struct phase *phase)
{
    struct phase **at = place(phases, phase->phase_id);
    phase->next = *at;
    *at = phase;
}

struct phase *phases_get(struct phases *phases, int64_t phase_id, int64_t run_no, int64_t order)
{
    struct phase *phase = phases_find(phases, phase_id);
    if (phase != NULL)
        return phase;
    phase = xcalloc(1, sizeof *phase);
    *phase = (struct phase){.phase_id = phase_id, .run_no = run_no, .order = order};
    phases_link(phases, phase);
    /* Whether orphans of closed phases were passed over is a fact about the run, and a new phase of
     * the run inherits it, less by one: at most `lookahead` phases of a run are claimed and closed
     * at a time, so a phase further on was claimed later and cannot have been passed over. */
    int passed_over = 0; /* those of the phase before it in its run */
    for (const struct phase *before = phases->first; before != phase; before = before->next)
        passed_over = before->run_no == run_no ? before->passed_over : passed_over;
    phase_pass_over(phase, passed_over > 0 ? passed_over - 1 : 0);
    return phase;
}

/* The place of a work counts over all phases of the lane: of several open phases, the one whose
 * first work arrived first is started (execute.c, next_phase). */
void phases_add(struct phases *phases, struct phase *phase, struct work *work, int64_t now_us)
{
    struct assignment *own = assignment_own(work);
    own->place = ++phases->arrivals;
    own->arrived_us = now_us;
    works_add(&phase->waiting, work);
    phases->unjudged = phases->unjudged || work->msg->acts;
}

void phases_returned(struct phases *phases, const struct phase *phase)
{
    phases->last_run = phase->run_no;
    phases->last_order = phase->order;
}

/* A work that a reader has is in no list here; it returns by mail, and executor.c has emptied the
 * mailbox before. */
void phases_drop(struct phases *phases)
{
    while (phases->first != NULL) {
        struct phase *phase = phases->first;
        phases->first = phase->next;
        phase_forget_waiting(phase);
        free(phase);
    }
}

void phases_doubt(struct phases *phases, bool doubtful)
{
    phases->doubtful = doubtful;
}

void phases_unjudge(struct phases *phases, bool unjudged)
{
    phases->unjudged = unjudged;
}

int phases_startable(const struct phases *phases)
{
    int count = 0;
    for (const struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        count += phase->open ? phase->waiting.count : 0;
    return count;
}

int phases_running(const struct phases *phases)
{
    int count = 0;
    for (const struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        count += phase->running;
    return count;
}

/* The slots are kept over a barrier only if this executor runs what comes behind it; else two
 * executors would each wait for slots that the other keeps without use. */
bool phases_next_is_ours(const struct phases *phases)
{
    for (const struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (phase_gates(phase) && phase->run_no == phases->last_run &&
            phase->previous_order == phases->last_order)
            return true;
    return false;
}

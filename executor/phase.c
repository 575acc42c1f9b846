/* phase: the phases of which this executor has tasks, and their tasks that wait for a reader. */
#include "executor/phase.h"

#include "executor/assignment.h"
#include "executor/lane.h"
#include "executor/phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the phase is in the list, or would be. The list is in the order of ids, which grow with the
 * log: the oldest phase comes first. */
static struct phase **place(struct lane *lane, int64_t phase_id)
{
    struct phase **at = &lane->phases;
    while (*at != NULL && (*at)->phase_id < phase_id)
        at = &(*at)->next;
    return at;
}

struct phase *phase_find(struct lane *lane, int64_t phase_id)
{
    struct phase *phase = *place(lane, phase_id);
    return phase != NULL && phase->phase_id == phase_id ? phase : NULL;
}

void phases_unlink(struct lane *lane, struct phase *phase)
{
    *place(lane, phase->phase_id) = phase->next;
}

void phases_link(struct lane *lane, struct phase *phase)
{
    struct phase **at = place(lane, phase->phase_id);
    phase->next = *at;
    *at = phase;
}

struct phase *phase_get(struct lane *lane, int64_t phase_id, int64_t run_no, int64_t order)
{
    struct phase *phase = phase_find(lane, phase_id);
    if (phase != NULL)
        return phase;
    phase = xcalloc(1, sizeof *phase);
    *phase = (struct phase){.phase_id = phase_id, .run_no = run_no, .order = order};
    phases_link(lane, phase);
    /* Whether orphans of closed phases were passed over is a fact about the run, and a new phase of
     * the run inherits it, less by one: at most `lookahead` phases of a run are claimed and closed
     * at a time, so a phase further on was claimed later and cannot have been passed over. */
    int looks = 0; /* those of the phase before it in its run */
    for (const struct phase *before = lane->phases; before != phase; before = before->next)
        looks = before->run_no == run_no ? before->looks : looks;
    phase->looks = looks > 0 ? looks - 1 : 0;
    return phase;
}

void phases_drop(struct lane *lane)
{
    while (lane->phases != NULL) {
        struct phase *phase = lane->phases;
        lane->phases = phase->next;
        phase_forget_waiting(phase);
        free(phase);
    }
}

void phases_doubt(struct lane *lane)
{
    lane->doubtful = true;
}

void phases_settle(struct lane *lane)
{
    lane->doubtful = false;
}

void phases_unjudge(struct lane *lane)
{
    lane->unjudged = true;
}

void phases_judged(struct lane *lane)
{
    lane->unjudged = false;
}

void phase_open(struct phase *phase, int64_t definitions, int64_t now_us)
{
    if (!phase->open)
        phase->opened_us = now_us;
    phase->open = true;
    phase->definitions = definitions;
}

void phase_known(struct phase *phase, int64_t definitions)
{
    phase->definitions = phase->open ? definitions : 0;
}

void phase_share(struct phase *phase, bool took)
{
    phase->shared = phase->shared || took;
}

void phase_nobodys(struct phase *phase, bool nobodys)
{
    phase->nobodys = nobodys;
}

void phase_pass_over(struct phase *phase, int looks)
{
    phase->looks = looks;
}

struct work *phase_start(struct phase *phase)
{
    phase->running++;
    return works_take(&phase->waiting);
}

void phase_back(struct phase *phase, int64_t now_us)
{
    phase->running--;
    phase->back_us = now_us;
}

/* A phase that is seen open here for the first time may have been opened by another executor, with
 * tasks of ours that its opening cancelled (conditions). So they are doubtful until the database
 * was asked. */
void phase_seen(struct lane *lane, struct phase *phase, bool open, int64_t definitions)
{
    if (open && !phase->open && phase->waiting.count > 0)
        phases_doubt(lane);
    if (open && !phase->open)
        phase->opened_us = lane->ex->turn.now_us;
    phase->open = open;
    phase->definitions = open ? definitions : 0;
}

void phase_add(struct phase *phase, struct work *work)
{
    struct assignment *own = assignment_own(work);
    own->came = ++own->lane->came;
    own->arrived_us = own->lane->ex->turn.now_us;
    works_add(&phase->waiting, work);
    own->lane->unjudged = own->lane->unjudged || work->msg->acts;
}

void phase_forget_waiting(struct phase *phase)
{
    works_free(&phase->waiting);
    phase->nobodys = false;
}

struct works phase_take(struct phase *phase,
                        bool (*leaves)(const struct work *work, const void *context),
                        const void *context)
{
    struct works taken = {0}, stays = {0};
    for (struct work *work; (work = works_take(&phase->waiting)) != NULL;)
        works_add(leaves(work, context) ? &taken : &stays, work);
    phase->waiting = stays;
    return taken;
}

struct works phase_cut(struct phase *phase, int keep)
{
    struct works stays = {0};
    while (stays.count < keep && phase->waiting.first != NULL)
        works_add(&stays, works_take(&phase->waiting));
    struct works rest = phase->waiting;
    phase->waiting = stays;
    return rest;
}

/* A phase that was only adopted has no run of messages; the head can then belong to the newest
 * phase only. */
bool phase_is_of(const struct phase *phase, const struct held *head)
{
    return head->msg != NULL && head->msg->type != MESSAGE_END &&
           head->msg->order == phase->order &&
           (*phase->run != 0 ? strcmp(phase->run, head->run) == 0 : phase->next == NULL);
}

bool phases_owned(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        for (const struct phase *phase = ex->lanes[i].phases;
             phase != NULL && !ex->lanes[i].queue.gone; phase = phase->next)
            if (!phase->nobodys || phase->waiting.count > 0 || phase->running > 0)
                return true;
    return false;
}

const char *phase_run_id(struct lane *lane, const struct phase *phase, char buffer[37])
{
    DB_RESULT_AUTO *row = NULL;
    struct err ignored; /* a session that is lost is noticed by the next statement */
    if (*phase->run != '\0')
        return phase->run;
    enum rc rc = db_run(lane->ex->control.db, &sql_executor_run_id,
                        (const char *const[]){DB_INT(phase->run_no)}, &row, &ignored);
    (void)snprintf(buffer, 37, "%s", rc == RC_OK ? db_text(row, 0, EXECUTOR_RUN_ID_RUN_ID) : "");
    return buffer;
}

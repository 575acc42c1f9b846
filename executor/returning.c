/* Tasks in hand that other executors are to run are returned to the database. The file chooses
 * them: all, those beyond a number, or those of a run. late.c sends the statement, and keeps the
 * tasks whose rows are locked. */
#include "executor/returning.h"

#include "executor/lane.h"
#include "executor/late.h"
#include "executor/phase.h"

#include "base/log.h"
#include "base/probe.h"
#include "reader/work.h"

/* The youngest tasks are returned first: all executors wait for the oldest phase. */
static void back_add(struct works *works, struct phase *phase, int stays)
{
    struct works cut = phase_cut(phase, stays);
    for (struct work *work; (work = works_take(&cut)) != NULL;) {
        work_ends(work, OUTCOME_UNSTARTED);
        works_add_first(works, work);
    }
}

static enum rc back_send(struct lane *lane, struct works *works, bool unowned, struct err *err)
{
    if (works->first == NULL && !unowned)
        return RC_OK;
    probe("return.send");
    return late_return(lane, works, err);
}

enum rc return_waiting(struct lane *lane, int keep, struct err *err)
{
    bool unowned = false;
    struct works works = {0};
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next) {
        /* Tasks of closed phases are kept where only slots are short: they could not start
         * elsewhere either, and this executor's gate opens their phase. */
        if (keep >= 0 && !phase->open)
            continue;
        if (keep < 0 && phase->unowned) { /* another executor will open it */
            phase_unowned(phase, false);
            unowned = true;
        }
        int stays = keep < 0 ? 0 : keep < phase->waiting.count ? keep : phase->waiting.count;
        keep -= keep > 0 ? stays : 0;
        back_add(&works, phase, stays);
    }
    return back_send(lane, &works, unowned, err);
}

enum rc return_or_keep(struct lane *lane, int keep, struct err *err)
{
    enum rc rc = return_waiting(lane, keep, err);
    if (rc != RC_REJECT)
        return rc;
    log_err(LOG_WARN, "tasks_not_returned", lane->queue.name, err);
    return RC_OK;
}

enum rc return_run(struct lane *lane, int64_t run_no, struct err *err)
{
    struct works works = {0};
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next)
        if (phase->run_no == run_no)
            back_add(&works, phase, 0);
    return back_send(lane, &works, false, err);
}

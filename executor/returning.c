/* returning: tasks in hand that others are to do go back to the database. */
#include "executor/returning.h"

#include "executor/lane.h"
#include "executor/late.h"
#include "executor/phase.h"

#include "base/probe.h"

/* The youngest go first: the oldest phase is what everybody waits for. */
static void back_add(struct work **works, struct phase *phase, int stays)
{
    for (struct work *work = phase_cut(phase, stays), *next; work != NULL; work = next) {
        next = work->next;
        work->outcome = OUTCOME_UNSTARTED;
        work->next = *works;
        *works = work;
    }
}

static enum rc back_send(struct lane *lane, struct work *works, bool nobodys, struct err *err)
{
    if (works == NULL && !nobodys)
        return RC_OK;
    probe("give_back.send");
    return late_return(lane, works, err);
}

enum rc give_back(struct lane *lane, int keep, struct err *err)
{
    bool nobodys = false;
    struct work *works = NULL;
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next) {
        if (keep >= 0 && !phase->open)
            continue;
        if (keep < 0 && phase->nobodys) { /* others are to open it */
            phase_nobodys(phase, false);
            nobodys = true;
        }
        int stays = keep < 0 ? 0 : keep < phase->waiting_count ? keep : phase->waiting_count;
        keep -= keep > 0 ? stays : 0;
        back_add(&works, phase, stays);
    }
    return back_send(lane, works, nobodys, err);
}

enum rc give_back_run(struct lane *lane, int64_t run_no, struct err *err)
{
    struct work *works = NULL;
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        if (phase->run_no == run_no)
            back_add(&works, phase, 0);
    return back_send(lane, works, false, err);
}

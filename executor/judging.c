/* The risks are read before tasks are assigned, and not for each task: to read the names costs
 * about half a millisecond on a small database, and more with many definitions. So the pause
 * between two readings grows with their length, and a few tasks start without being judged. */
#include "executor/judging.h"

#include "executor/lane.h"
#include "executor/phase.h"

#include "base/clock.h"
#include "reader/risks.h"

#define RISKS_FRESH_US (1000 * 1000)
#define RISKS_OLD_US   (10 * 1000 * 1000)
#define RISKS_PAUSE    50 /* at least so many times as long as reading them took is between two */
#define RISKS_TASKS    16 /* for fewer it costs less to take each for a risk */

/* The risks of the phase's tasks are known: they were read while the phase was open, and not too
 * long ago. */
static bool judged(const struct judging *judging, const struct phase *phase, int64_t now_us)
{
    return judging->risks != NULL && phase->definitions == risks_definitions(judging->risks) &&
           now_us < judging->until_us;
}

/* A task's text does not show all that it may do: triggers, functions and rules act, too. These
 * risks are read from the catalog before tasks are assigned, but not for a few tasks, and less
 * often where reading takes long. phase->definitions counts the changes of definitions that were
 * seen when the phase was seen open: it shows whether the risks that were read still hold for the
 * phase. */
enum rc judge(struct executor *ex, const struct phase *next, struct err *err)
{
    struct judging *judging = &ex->judging;
    if (next == NULL || judged(judging, next, ex->turn.now_us) ||
        judging->unjudged + next->waiting.count < RISKS_TASKS ||
        ex->turn.now_us < judging->after_us)
        return RC_OK;
    struct risks *risks = NULL;
    int64_t from_us = clock_boot_us();
    enum rc rc = risks_read(ex->control.db, &risks, err);
    if (rc != RC_OK)
        return rc;
    int64_t pause_us = RISKS_PAUSE * (clock_boot_us() - from_us);
    judging->after_us = ex->turn.now_us + pause_us;
    judging->until_us = ex->turn.now_us + (pause_us < RISKS_FRESH_US ? RISKS_FRESH_US
                                           : pause_us > RISKS_OLD_US ? RISKS_OLD_US
                                                                     : pause_us);
    judging->unjudged = 0;
    risks_release(judging->risks);
    judging->risks = risks;
    for (int l = 0; l < ex->lane_count; l++)
        for (struct phase *phase = ex->lanes[l].phases.first; phase != NULL; phase = phase->next)
            phase_known(phase, risks_definitions(risks));
    return RC_OK;
}

struct risks *judging_risks(struct judging *judging, const struct phase *phase, int64_t now_us)
{
    if (judged(judging, phase, now_us))
        return risks_keep(judging->risks);
    judging->unjudged++;
    return NULL;
}

void judging_done(struct judging *judging)
{
    risks_release(judging->risks);
}

/* One table of the effects of each event. A file that notices a change names the event and does not
 * know the parts that care; a part that needs a new cause gets a column here.
 *
 * Each effect makes only a note, so an event may be raised twice, or for nothing. An effect that
 * sent a statement could fail, and event_raise() has no error to report. */
#include "executor/event.h"

#include "executor/lane.h"
#include "executor/phases.h"

static void adopt(struct lane *lane)
{
    orphans_ask(&lane->orphans, ORPHANS_ADOPT);
}

static void check(struct lane *lane)
{
    orphans_ask(&lane->orphans, ORPHANS_CHECK);
}

static void check_later(struct lane *lane)
{
    orphans_ask_later(&lane->orphans, lane->ex->turn.now_us);
}

static void ask_without_reader(struct lane *lane)
{
    orphans_ask_without_reader(&lane->orphans);
}

static void ask_ends(struct lane *lane)
{
    orphans_ask_ends(&lane->orphans);
}

static void claimed(struct lane *lane)
{
    orphans_claimed(&lane->orphans);
}

static void claim_again(struct lane *lane)
{
    claims_block(&lane->claims, false);
}

static void past_barrier(struct lane *lane)
{
    claims_past_barrier(&lane->claims);
}

static void slots_again(struct lane *lane)
{
    slots_try_again(&lane->share.slots);
}

static void slots_wanted_by_others(struct lane *lane)
{
    slots_want(&lane->share.slots, lane->ex->turn.now_us);
}

static void doubt(struct lane *lane)
{
    phases_doubt(&lane->phases, true);
}

static void judge_again(struct lane *lane)
{
    phases_unjudge(&lane->phases, true);
}

#define EFFECTS_MOST 4

static void (*const effects[EVENTS][EFFECTS_MOST])(struct lane *lane) = {
    [EVENT_LANE_OPENED] = {adopt},
    [EVENT_RECOGNISED] = {ask_ends}, /* in the first turn */
    [EVENT_STATEMENT_UNDONE] = {adopt, ask_ends, doubt,
                                judge_again}, /* what it was to do is found again */
    [EVENT_ASSIGNED] = {claim_again},
    [EVENT_NOTIFIED] = {claim_again},
    [EVENT_SLOT_FREED] = {slots_again},
    [EVENT_SLOT_WANTED] = {slots_wanted_by_others},
    [EVENT_WORK_UNOWNED] = {adopt},
    [EVENT_WORK_CLAIMED] = {claimed},
    [EVENT_LOOKAHEAD_FULL] = {check_later},
    [EVENT_PHASE_OPENED] = {claim_again, past_barrier},
    [EVENT_PHASE_GONE] = {claim_again},
    [EVENT_PASSED_OVER_OPENED] = {check},
    [EVENT_TASKS_DOUBTED] = {doubt},
    [EVENT_RUN_STOPPED] = {adopt,
                           ask_without_reader},   /* the next question ends its remaining tasks */
    [EVENT_QUEUE_CHANGED] = {adopt, slots_again}, /* it may have been paused */
    [EVENT_READERS_CHANGED] = {adopt, slots_again},
    [EVENT_READERS_BACK] = {adopt, slots_again, ask_without_reader},
    [EVENT_ABILITIES_CHANGED] = {adopt, judge_again},
    /* its notification to this executor may be lost */
    [EVENT_EXECUTOR_DIED] = {adopt, ask_ends, claim_again},
};

void event_raise(struct lane *lane, enum event event)
{
    for (int i = 0; i < EFFECTS_MOST && effects[event][i] != NULL; i++)
        effects[event][i](lane);
}

void event_raise_all(struct executor *ex, enum event event)
{
    for (int i = 0; i < ex->lane_count; i++)
        event_raise(&ex->lanes[i], event);
}

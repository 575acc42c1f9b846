/* hear: notifications of the queues' channels, lockstep_<queue_id>; the payload says what has
 * changed. Anybody may send them, so they are taken in first, however many, and acted upon once;
 * what takes statements is not done all the time. */
#include "executor/hear.h"

#include "executor/alive.h"
#include "executor/event.h"
#include "executor/gate.h"
#include "executor/jobs.h"
#include "executor/lane.h"
#include "executor/letters.h"
#include "executor/obey.h"
#include "executor/receive.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "db/notification.h"
#include "scheduler/dispatcher.h"

#include <stdlib.h>
#include <string.h>

/* Any login may NOTIFY on any channel (manual, NOTIFY), so both numbers protect control from a
 * flood (tests/e2e/own_trouble.sh). */
#define HEAR_MOST 10000 /* then other things have their turn */
/* After a look at what operators ask for: so many times as long as it took. */
#define OBEY_PAUSE 10

/* What notifications say has changed. */
enum {
    HEARD_ANY = 1,
    HEARD_SLOT = 2,
    HEARD_WANTED = 4,
    HEARD_WORK = 8,
    HEARD_LOOK = 16,
    HEARD_RELAY = 32,
    HEARD_RELAY_AGAIN = 64,
    HEARD_CONTROL = 128,
    HEARD_CANCEL = 256
};

static const struct word {
    const char *payload;
    unsigned heard;
    enum event event;
} words[] = {{"slot", HEARD_SLOT, EVENT_SLOT_FREED},
             {"wanted", HEARD_WANTED, EVENT_SLOT_WANTED},
             {"work", HEARD_WORK, EVENT_WORK_UNOWNED},
             {"look", HEARD_LOOK, EVENT_LOOKAHEAD_FULL},
             {"relay", HEARD_RELAY, EVENT_HEARD},
             {"relay_again", HEARD_RELAY_AGAIN, EVENT_HEARD},
             {"control", HEARD_CONTROL, EVENT_QUEUE_CHANGED},
             {"cancel", HEARD_CANCEL, EVENT_RUN_STOPPED}};

static void hear_one(struct executor *ex, const char *channel, const char *payload)
{
    if (strcmp(channel, DISPATCHER_CHANNEL) == 0) {
        jobs_heard(ex);
        if (strcmp(payload, "free") == 0)
            jobs_free(ex->services.jobs);
        return;
    }
    int queue_id = atoi(channel + strlen("lockstep_"));
    unsigned heard = HEARD_ANY;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(payload, words[i].payload) == 0)
            heard |= words[i].heard;
    for (int i = 0; i < ex->lane_count; i++)
        if (ex->lanes[i].queue.id == queue_id && !ex->lanes[i].queue.gone)
            ex->lanes[i].hearing.heard |= heard;
}

static void act(struct lane *lane)
{
    unsigned heard = lane->hearing.heard;
    /* The bits are removed before the effects: a notification that arrives meanwhile sets them
     * again. */
    lane->hearing.heard &= HEARD_CONTROL | HEARD_CANCEL;
    event_tell(lane, EVENT_HEARD);
    alive_stir(lane->ex->services.alive);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (heard & words[i].heard)
            event_tell(lane, words[i].event);
    if (heard & HEARD_RELAY)
        letters_wake(lane, RELAY_HEARD);
    if (heard & HEARD_RELAY_AGAIN)
        letters_wake(lane, RELAY_AGAIN);
    gates_wake(lane);
}

/* What operators ask for stands in rows: one look at them answers all that was heard. If the
 * statement was undone because of another session, the bits are set again; nothing that an operator
 * asked for may be lost with an error. */
static enum rc obey(struct lane *lane, struct err *err)
{
    unsigned heard = lane->hearing.heard & (HEARD_CONTROL | HEARD_CANCEL);
    enum rc rc = RC_OK;
    if (heard == 0 || lane->queue.gone || clock_boot_us() < lane->hearing.obey_after_us)
        return RC_OK;
    int64_t from_us = clock_boot_us();
    lane->hearing.heard = 0;
    if (heard & HEARD_CONTROL)
        rc = lane_reread(lane, err);
    if (rc == RC_OK && (heard & HEARD_CANCEL))
        rc = obey_stops(lane, err);
    if (rc == RC_OK && ((heard & HEARD_CONTROL) ||
                        lane->holds.count > 0)) /* a held run may not be held any more */
        rc = obey_control(lane, err);
    if (rc == RC_RETRY)
        lane->hearing.heard |= heard;
    lane->hearing.obey_after_us = clock_boot_us() + OBEY_PAUSE * (clock_boot_us() - from_us);
    return rc;
}

enum rc hear(struct executor *ex, struct err *err)
{
    const char *channel, *payload;
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < HEAR_MOST; i++) {
        rc = db_notification(ex->control.db, &channel, &payload, err);
        if (rc == RC_OK)
            hear_one(ex, channel, payload);
    }
    rc = rc == RC_NONE ? RC_OK : rc;
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        if (lane->hearing.heard & ~(unsigned)(HEARD_CONTROL | HEARD_CANCEL))
            act(lane);
        rc = lane_confine(lane, obey(lane, err), err);
    }
    return rc;
}

void hear_again(struct lane *lane)
{
    lane->hearing.heard |= HEARD_CONTROL | HEARD_CANCEL;
}

int64_t hear_due_us(const struct lane *lane)
{
    return lane->hearing.heard != 0 ? lane->hearing.obey_after_us : 0;
}

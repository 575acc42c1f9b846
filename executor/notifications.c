/* Notifications of the queues' channels, lockstep_<queue_id>; the payload names the change. Any
 * login may send them, so notifications_take() first takes all of them in, however many, and then
 * reacts to each kind once. The reaction that takes statements (read_requests) has pauses.
 * requests.c carries out the requests of operators; event.c has the effects of the other kinds. */
#include "executor/notifications.h"

#include "executor/alive.h"
#include "executor/event.h"
#include "executor/gate.h"
#include "executor/jobs.h"
#include "executor/lane.h"
#include "executor/letters.h"
#include "executor/receive.h"
#include "executor/requests.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "base/probe.h"
#include "db/notification.h"
#include "scheduler/dispatcher.h"

#include <stdlib.h>
#include <string.h>

/* Any login may NOTIFY on any channel (manual, NOTIFY), so both numbers protect control from a
 * flood (tests/e2e/own_trouble.sh). */
#define NOTIFICATIONS_MOST 10000 /* then other things have their turn */
/* The pause after the requests of operators were read: so many times as long as that took, but at
 * most so long: the next request must not wait for minutes behind one slow statement. */
#define REQUESTS_PAUSE         10
#define REQUESTS_PAUSE_MOST_US (5 * 1000 * 1000)

/* The kinds of changes. */
enum {
    NOTIFIED_ANY = 1,
    NOTIFIED_SLOT = 2,
    NOTIFIED_WANTED = 4,
    NOTIFIED_WORK = 8,
    NOTIFIED_CHECK = 16,
    NOTIFIED_RELAY = 32,
    NOTIFIED_RELAY_AGAIN = 64,
    NOTIFIED_CONTROL = 128,
    NOTIFIED_CANCEL = 256
};

static const struct word {
    const char *payload;
    unsigned bit;
    enum event event;
} words[] = {{"slot", NOTIFIED_SLOT, EVENT_SLOT_FREED},
             {"wanted", NOTIFIED_WANTED, EVENT_SLOT_WANTED},
             {"work", NOTIFIED_WORK, EVENT_WORK_UNOWNED},
             {"look", NOTIFIED_CHECK, EVENT_LOOKAHEAD_FULL},
             {"relay", NOTIFIED_RELAY, EVENT_NOTIFIED},
             {"relay_again", NOTIFIED_RELAY_AGAIN, EVENT_NOTIFIED},
             {"control", NOTIFIED_CONTROL, EVENT_QUEUE_CHANGED},
             {"cancel", NOTIFIED_CANCEL, EVENT_RUN_STOPPED}};

static void note(struct executor *ex, const char *channel, const char *payload)
{
    if (strcmp(channel, DISPATCHER_CHANNEL) == 0) {
        jobs_notified(ex);
        if (strcmp(payload, "free") == 0)
            jobs_free(ex->services.jobs);
        return;
    }
    int queue_id = atoi(channel + strlen("lockstep_"));
    unsigned received = NOTIFIED_ANY;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(payload, words[i].payload) == 0)
            received |= words[i].bit;
    for (int i = 0; i < ex->lane_count; i++)
        if (ex->lanes[i].queue.id == queue_id && !ex->lanes[i].queue.gone)
            ex->lanes[i].notifications.received |= received;
}

static void act(struct lane *lane)
{
    unsigned received = lane->notifications.received;
    /* The bits are removed before the effects: a notification that arrives meanwhile sets them
     * again. */
    lane->notifications.received &= NOTIFIED_CONTROL | NOTIFIED_CANCEL;
    event_raise(lane, EVENT_NOTIFIED);
    alive_stir(lane->ex->services.alive);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (received & words[i].bit)
            event_raise(lane, words[i].event);
    if (received & NOTIFIED_RELAY)
        letters_wake(lane, RELAY_HEARD);
    if (received & NOTIFIED_RELAY_AGAIN)
        letters_wake(lane, RELAY_AGAIN);
    gates_wake(lane);
}

/* The requests of operators are in rows: one reading answers all notifications that were received.
 * If a statement fails, the bits are set again: no request may be lost with an error. A lane
 * without a source has not begun (lane_renew) and does not know its queue. */
static enum rc read_requests(struct lane *lane, struct err *err)
{
    unsigned received = lane->notifications.received & (NOTIFIED_CONTROL | NOTIFIED_CANCEL);
    enum rc rc = RC_OK;
    if (received == 0 || lane->queue.gone || lane->stream.source == NULL ||
        clock_boot_us() < lane->notifications.requests_after_us)
        return RC_OK;
    int64_t from_us = clock_boot_us();
    probe("requests.read");
    lane->notifications.received = 0;
    if (received & NOTIFIED_CONTROL)
        rc = lane_reread(lane, err);
    if (rc == RC_OK && (received & NOTIFIED_CANCEL))
        rc = requests_check_stops(lane, err);
    if (rc == RC_OK && ((received & NOTIFIED_CONTROL) ||
                        lane->paused.count > 0)) /* a paused run may have been resumed */
        rc = requests_read(lane, err);
    if (rc != RC_OK)
        lane->notifications.received |= received;
    int64_t now_us = clock_boot_us(), pause_us = REQUESTS_PAUSE * (now_us - from_us);
    lane->notifications.requests_after_us =
        now_us + (pause_us < REQUESTS_PAUSE_MOST_US ? pause_us : REQUESTS_PAUSE_MOST_US);
    return rc;
}

enum rc notifications_take(struct executor *ex, struct err *err)
{
    const char *channel, *payload;
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < NOTIFICATIONS_MOST; i++) {
        rc = db_notification(ex->control.db, &channel, &payload, err);
        if (rc == RC_OK)
            note(ex, channel, payload);
    }
    rc = rc == RC_NONE ? RC_OK : rc;
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        if (lane->notifications.received & ~(unsigned)(NOTIFIED_CONTROL | NOTIFIED_CANCEL))
            act(lane);
        enum rc one = read_requests(lane, err);
        rc = lane_confine(lane, one, err);
        if (one != RC_OK) /* with the lane's other work, or each turn would fail again */
            lane->notifications.requests_after_us = lane_trouble(lane)->until_us;
    }
    return rc;
}

void notifications_repeat_requests(struct notifications *notifications)
{
    notifications->received |= NOTIFIED_CONTROL | NOTIFIED_CANCEL;
}

int64_t notifications_due_us(const struct lane *lane)
{
    return lane->notifications.received != 0 ? lane->notifications.requests_after_us : 0;
}

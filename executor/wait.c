/* Where control sleeps. Three descriptors end the sleep, and the earliest due_us of all parts
 * bounds it. A part that forgets to report its time is not called until something else happens; a
 * time in the past costs a turn and nothing else. */
#include "executor/wait.h"

#include "executor/drain.h"
#include "executor/execute.h"
#include "executor/gate.h"
#include "executor/idle.h"
#include "executor/lag.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/notifications.h"
#include "executor/receive.h"
#include "executor/requests.h"
#include "executor/server.h"
#include "executor/signals.h"
#include "executor/trouble.h"
#include "executor/turn.h"

#include "db/notification.h"

#include "base/clock.h"

#include <poll.h>

/* When a part of a lane has something to do, 0: when something happens. */
/* A draining executor adopts nothing, so a timer of its orphans must not end its sleep. */
static int64_t recover_due_us(const struct lane *lane)
{
    return lane->ex->drain.draining ? 0 : orphans_due_us(&lane->orphans, lane->ex->turn.now_us);
}

static int64_t claim_due_us(const struct lane *lane)
{
    return claims_due_us(&lane->claims, lane->ex->turn.now_us, lane->ex->control.round_us);
}

static int64_t execute_due_us(const struct lane *lane)
{
    return slots_due_us(&lane->share.slots, lane->ex->turn.now_us, lane->ex->drain.draining);
}

static int64_t (*const parts_due_us[])(const struct lane *lane) = {
    notifications_due_us, receive_due_us,     recover_due_us, claim_due_us,
    execute_due_us,       gate_record_due_us, lag_due_us,
};

static int64_t (*const executor_due_us[])(const struct executor *ex) = {
    running_due_us, requests_due_us, slots_return_due_us, server_due_us, idle_due_us, drain_due_us,
};

#define LONGEST_US (3600 * 1000 * 1000LL)

/* A lane that is set aside has two timers, the end of that time and the next try to return tasks:
 * the timers of its other parts would wake control for a lane on which it does not work. */
static int64_t due_us(const struct executor *ex)
{
    int64_t first_us = 0;
    for (int i = 0; i < ex->lane_count; i++) {
        const struct lane *lane = &ex->lanes[i];
        first_us = clock_earlier_us(first_us, lane_trouble_due_us(lane));
        first_us = clock_earlier_us(first_us, late_due_us(lane));
        if (lane->queue.foreign || lane_aside(lane))
            continue;
        for (size_t part = 0; part < sizeof parts_due_us / sizeof *parts_due_us; part++)
            first_us = clock_earlier_us(first_us, parts_due_us[part](lane));
    }
    for (size_t i = 0; i < sizeof executor_due_us / sizeof *executor_due_us; i++)
        first_us = clock_earlier_us(first_us, executor_due_us[i](ex));
    return first_us;
}

/* -1: until something happens. */
static int sleep_ms(const struct executor *ex)
{
    int64_t first_us = due_us(ex);
    /* libpq may have read a notification already, together with the answer of the last statement:
     * then the socket has nothing to read, and poll() would sleep on it (libpq manual, Asynchronous
     * Notification). */
    if (db_notified(ex->control.db) || ex->turn.again)
        return 0;
    if (first_us == 0)
        return -1;
    int64_t left_us = first_us > ex->turn.now_us ? first_us - ex->turn.now_us : 0;
    return (int)(((left_us < LONGEST_US ? left_us : LONGEST_US) + 999) / 1000);
}

void wait_for_work(struct executor *ex)
{
    struct pollfd fds[] = {{.fd = ex->inbox.fd, .events = POLLIN},
                           {.fd = db_socket(ex->control.db), .events = POLLIN},
                           {.fd = signals_fd(), .events = POLLIN}};
    (void)poll(fds, 3, sleep_ms(ex));
    if (fds[2].revents != 0)
        signals_clear();
}

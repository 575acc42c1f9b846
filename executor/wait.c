#include "executor/wait.h"

#include "executor/drain.h"
#include "executor/hear.h"
#include "executor/idle.h"
#include "executor/lag.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/receive.h"
#include "executor/signals.h"
#include "executor/trouble.h"
#include "executor/turn.h"

#include "db/notification.h"

#include <poll.h>

/* When a part of a lane has something to do, 0: when something happens. */
static int64_t recover_due_us(const struct lane *lane)
{
    return lane->ex->draining ? 0 : orphans_due_us(&lane->orphans, lane->ex->now_us);
}

static int64_t claim_due_us(const struct lane *lane)
{
    return claims_due_us(&lane->claims, lane->ex->now_us, lane->ex->round_us);
}

static int64_t execute_due_us(const struct lane *lane)
{
    return slots_due_us(&lane->slots, lane->ex->now_us, lane->ex->draining);
}

static int64_t (*const parts_due_us[])(const struct lane *lane) = {
    hear_due_us,    receive_due_us,  recover_due_us, claim_due_us,
    execute_due_us, openings_due_us, lag_due_us,     late_due_us,
};

static int64_t (*const executor_due_us[])(const struct executor *ex) = {idle_due_us, drain_due_us};

static void sooner(int *timeout_ms, int64_t at_us, int64_t now_us)
{
    if (at_us != 0)
        sooner_us(timeout_ms, at_us > now_us ? at_us - now_us : 0);
}

void wait_for_news(struct executor *ex, int timeout_ms)
{
    for (int i = 0; i < ex->lane_count; i++) {
        const struct lane *lane = &ex->lanes[i];
        sooner(&timeout_ms, lane_aside_until(lane), ex->now_us);
        if (lane->foreign || lane_aside(lane))
            continue;
        for (size_t part = 0; part < sizeof parts_due_us / sizeof *parts_due_us; part++)
            sooner(&timeout_ms, parts_due_us[part](lane), ex->now_us);
    }
    for (size_t i = 0; i < sizeof executor_due_us / sizeof *executor_due_us; i++)
        sooner(&timeout_ms, executor_due_us[i](ex), ex->now_us);
    if (db_notified(ex->control) || ex->news)
        timeout_ms = 0;
    struct pollfd fds[] = {{.fd = ex->inbox.fd, .events = POLLIN},
                           {.fd = db_socket(ex->control), .events = POLLIN},
                           {.fd = signals_fd(), .events = POLLIN}};
    (void)poll(fds, 3, timeout_ms);
    if (fds[2].revents != 0)
        signals_clear();
}

/* The reasons that keep a lane from claiming, in one place, so that wait.c can ask when the next of
 * them ends. claim.c gives the reasons from the verdicts of the database; event.c removes `blocked`
 * when something has changed. */
#include "executor/claims.h"

#include "base/backoff.h"
#include "base/clock.h"

#include <stdio.h>

/* BUSY_WAIT_US: a claim has met a lock that is about to change hands, and is repeated behind that.
 * TAKEN_*: another session has a lock or a row for seconds (tests/e2e/locks_taken.sh, row_held.sh).
 * POISED_US, and three round trips: how long a claim gives way to a barrier that is due; a barrier
 * takes 0.3 ms and more (bench/notes/barrier.md). */
#define BUSY_WAIT_US   500
#define TAKEN_FIRST_MS 1000
#define TAKEN_LAST_MS  10000
#define POISED_US      2000

bool claims_may(const struct claims *claims)
{
    return !claims->blocked;
}

bool claims_may_now(const struct claims *claims, int64_t now_us)
{
    return !claims->blocked && claims->after_us <= now_us;
}

void claims_block(struct claims *claims, bool blocked)
{
    claims->blocked = blocked;
}

void claims_busy(struct claims *claims, int64_t now_us)
{
    claims->after_us = now_us + BUSY_WAIT_US;
}

/* Both numbers are set: the next failure waits longer, and the next claim waits for this one. */
void claims_taken(struct claims *claims, int64_t now_us)
{
    claims->taken_ms = backoff_next(claims->taken_ms, TAKEN_FIRST_MS, TAKEN_LAST_MS);
    claims->after_us = now_us + 1000LL * claims->taken_ms;
}

void claims_not_taken(struct claims *claims)
{
    claims->taken_ms = 0;
}

/* The wait has an end because the tasks in front of the barrier may be long: then readers would
 * have nothing in hand behind it. */
static int64_t poised_until(const struct claims *claims, int64_t round_us)
{
    return claims->poised_us + POISED_US + 3 * round_us;
}

bool claims_poised(struct claims *claims, bool at_barrier, int64_t now_us, int64_t round_us)
{
    if (!at_barrier)
        claims->poised_us = 0;
    else if (claims->poised_us == 0)
        claims->poised_us = now_us;
    return at_barrier && now_us < poised_until(claims, round_us);
}

void claims_past_barrier(struct claims *claims)
{
    claims->poised_us = 0;
}

void claims_park(struct claims *claims, const char *run)
{
    (void)snprintf(claims->parked, sizeof claims->parked, "%s", run);
}

void claims_limit(struct claims *claims, int most, int64_t last)
{
    claims->most = most;
    claims->most_until = last;
}

int claims_most(struct claims *claims, int64_t head)
{
    if (claims->most > 0 && head > claims->most_until)
        claims->most = 0;
    return claims->most;
}

int64_t claims_due_us(const struct claims *claims, int64_t now_us, int64_t round_us)
{
    int64_t poised_us = claims->poised_us != 0 ? poised_until(claims, round_us) : 0;
    int64_t after_us = claims->after_us > now_us ? claims->after_us : 0;
    poised_us = poised_us > now_us ? poised_us : 0;
    return clock_earlier_us(after_us, poised_us);
}

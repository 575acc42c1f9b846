/* Slows down guesses of passwords. Two limits: each name waits longer after each failure, and all
 * names that have never signed in share one budget, so that an attacker with many names is no
 * faster. A name that has signed in once is outside the budget: the attack of others does not keep
 * its person out. The caller decides whether a name is an address or a login
 * (console/sessions.c). */
#include "console/throttle.h"

#include <string.h>
#include <xxhash.h>

/* Half a second, one minute, ten minutes, one second. */
#define FIRST_US  500000
#define LAST_US   60000000
#define FORGET_US 600000000
#define PACE_US   1000000

/* A fixed table: a map that grows with names would let an attacker fill the memory. */
static struct throttled *place_of(struct throttle *throttle, const char *name)
{
    return &throttle->places[XXH3_64bits_withSeed(name, strlen(name), throttle->seed) %
                             THROTTLE_PLACES];
}

static int seconds(int64_t wait_us)
{
    return (int)((wait_us + 999999) / 1000000);
}

bool throttle_begin(struct throttle *throttle, const char *name, int64_t now_us, int *ret_wait_s)
{
    struct throttled *at = place_of(throttle, name);
    /* A token bucket that keeps one number: each failure moves next_us one second on. It may be
     * THROTTLE_BURST seconds ahead of the clock. */
    int64_t owed_us = throttle->next_us > now_us ? throttle->next_us - now_us : 0;
    *ret_wait_s = 0;
    /* One attempt at a time: parallel guesses would all begin before the first one fails. */
    if (at->trying)
        return false;
    if (now_us - at->last_us > FORGET_US)
        at->failures = 0;
    if (at->until_us > now_us)
        *ret_wait_s = seconds(at->until_us - now_us);
    else if (!at->signed_in && owed_us > (THROTTLE_BURST - 1) * PACE_US)
        *ret_wait_s = seconds(owed_us - (THROTTLE_BURST - 1) * PACE_US);
    if (*ret_wait_s > 0)
        return false;
    at->trying = true;
    at->paced = !at->signed_in;
    if (at->paced) /* paid in advance, because attempts overlap; throttle_end may return it */
        throttle->next_us = now_us + owed_us + PACE_US;
    return true;
}

void throttle_end(struct throttle *throttle, const char *name, enum throttle_outcome outcome,
                  int64_t now_us)
{
    struct throttled *at = place_of(throttle, name);
    at->trying = false;
    if (at->paced && outcome != THROTTLE_FAILED)
        throttle->next_us -= PACE_US;
    if (outcome == THROTTLE_DONE) { /* the failures stay counted */
        at->signed_in = true;
        at->until_us = 0;
    } else if (outcome == THROTTLE_FAILED) {
        /* The shift is capped, because the count is not. */
        int64_t wait_us = FIRST_US << (at->failures < 8 ? at->failures : 8);
        at->failures++;
        at->last_us = now_us;
        at->until_us = now_us + (wait_us < LAST_US ? wait_us : LAST_US);
    }
}

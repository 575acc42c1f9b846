#include "console/throttle.h"

#include <stdio.h>
#include <string.h>

#define FIRST_US  500000
#define LAST_US   60000000
#define FORGET_US 600000000

static struct throttled *find(struct throttle *throttle, const char *address)
{
    for (int i = 0; i < THROTTLE_ADDRESSES; i++)
        if (strcmp(throttle->addresses[i].address, address) == 0)
            return &throttle->addresses[i];
    return NULL;
}

/* A free place, or that of the address that waits least. */
static struct throttled *place(struct throttle *throttle)
{
    struct throttled *least = NULL;
    for (int i = 0; i < THROTTLE_ADDRESSES; i++) {
        struct throttled *at = &throttle->addresses[i];
        if (*at->address == '\0')
            return at;
        if (!at->trying && (least == NULL || at->until_us < least->until_us))
            least = at;
    }
    return least;
}

bool throttle_begin(struct throttle *throttle, const char *address, int64_t now_us, int *ret_wait_s)
{
    struct throttled *at = find(throttle, address);
    if (at == NULL && (at = place(throttle)) != NULL) {
        *at = (struct throttled){.last_us = now_us};
        (void)snprintf(at->address, sizeof at->address, "%s", address);
    }
    *ret_wait_s = 0;
    if (at == NULL || at->trying)
        return false;
    if (now_us - at->last_us > FORGET_US)
        at->failures = 0;
    if (at->until_us > now_us) {
        *ret_wait_s = (int)((at->until_us - now_us + 999999) / 1000000);
        return false;
    }
    at->trying = true;
    return true;
}

void throttle_end(struct throttle *throttle, const char *address, bool failed, int64_t now_us)
{
    struct throttled *at = find(throttle, address);
    if (at == NULL)
        return;
    if (!failed) { /* its wait is over; its failures are remembered */
        at->trying = false;
        at->until_us = 0;
        return;
    }
    int64_t wait_us = FIRST_US << (at->failures < 8 ? at->failures : 8);
    at->trying = false;
    at->failures++;
    at->last_us = now_us;
    at->until_us = now_us + (wait_us < LAST_US ? wait_us : LAST_US);
}

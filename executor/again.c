/* again: the pause before a statement that belongs to no queue is sent again. */
#include "executor/again.h"

#include "base/backoff.h"
#include "base/clock.h"

/* A statement that meets a locked table keeps control for two seconds each time (lock_timeout), so
 * the last pause is a multiple of that. */
#define AGAIN_FIRST_MS 1000
#define AGAIN_LAST_MS  (10 * 1000)

bool again_answered(struct again *again, enum rc rc)
{
    bool first = rc != RC_OK && again->wait_ms == 0;
    again->wait_ms = rc == RC_OK ? 0 : backoff_next(again->wait_ms, AGAIN_FIRST_MS, AGAIN_LAST_MS);
    again->at_us = clock_boot_us() + 1000LL * again->wait_ms;
    return first;
}

/* pthread_cond_timedwait counts on the wall clock unless its attribute says otherwise; a clock that
 * is set back would prolong each wait. CLOCK_BOOTTIME is not among the clocks that glibc takes
 * here. */
#include "base/condition.h"

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct timespec condition_until(int64_t timeout_us)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_us / 1000000;
    until.tv_nsec += timeout_us % 1000000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

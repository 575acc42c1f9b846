/* Every wait of Lockstep counts on clock_boot_us(): CLOCK_BOOTTIME cannot be set and continues
 * while the machine sleeps (clock_gettime(2)), so a laptop or a virtual machine that was suspended
 * knows how long it was away. The wall clock is only shown and written into records
 * (tests/e2e/kill_clock.sh). */
#include "base/clock.h"

#include <limits.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_boot_us(void)
{
    return read_us(CLOCK_BOOTTIME);
}

int64_t clock_wall_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int clock_left_ms(int64_t until_us)
{
    int64_t left_us = until_us - clock_boot_us();
    if (left_us <= 0)
        return 0;
    return left_us / 1000 < INT_MAX ? (int)(left_us / 1000) + 1 : INT_MAX;
}

/**
 * What: the clocks, by their use.
 * Invariants: clock_boot_us never goes back and counts suspended time; clock_wall_us may step.
 * Threads: any.
 * Ownership: none.
 * Failure: none.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/** Microseconds since boot (CLOCK_BOOTTIME): for waits, ages and liveness. */
int64_t clock_boot_us(void);

/** Until then, on the clock of clock_boot_us, as poll takes it: rounded up, and 0, never negative
 * (which is for ever), when it is past. */
int clock_left_ms(int64_t until_us);

/** The earlier of two times, of which 0 is none. */
static inline int64_t clock_earlier_us(int64_t a_us, int64_t b_us)
{
    return a_us == 0 || (b_us != 0 && b_us < a_us) ? b_us : a_us;
}

/** Microseconds since 1970 (CLOCK_REALTIME): for people only. */
int64_t clock_wall_us(void);

#endif

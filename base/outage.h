/**
 * What: when a trouble that continues is to be logged again: at once when it comes for the first
 *   time, then ever later, for each cause by itself; and how long it took, when it is over.
 * Invariants: of one cause there are at most two lines in the first second, and no more than one in
 *   OUTAGE_LAST_MS later on.
 * Threads: the owner's own.
 * Ownership: plain data; {0} is no outage.
 * Failure: none. Of more causes than there is room for, the last ones share their times.
 */
#ifndef BASE_OUTAGE_H
#define BASE_OUTAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define OUTAGE_FIRST_MS 1000
#define OUTAGE_LAST_MS  (300 * 1000)
#define OUTAGE_CAUSES   6

struct outage {
    int64_t since_us; /* of clock_boot_us; 0: there is none */
    struct outage_cause {
        char text[64]; /* of the error: code and kind, without what changes each time */
        int64_t due_us;
        int wait_ms;
    } causes[OUTAGE_CAUSES];
    int count;
};

/** It failed once more, because of why: is that to be logged? */
bool outage_must_log(struct outage *outage, const struct err *why, int64_t now_us);
/** It is well again. True: that is worth a line; *ret_ms: for how long it was not. */
bool outage_over(struct outage *outage, int64_t now_us, int64_t *ret_ms);

#endif

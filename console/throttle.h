/**
 * What: how long an address waits until it may try to sign in again.
 * Invariants: the first failure costs half a second, each further one twice as much, up to a
 *   minute; ten quiet minutes forget them; a success ends the wait only. One attempt an address at
 *   a time. Of more addresses than it has room for the one that waits least is forgotten.
 * Threads: one at a time; the caller locks.
 * Ownership: plain data.
 * Failure: none.
 */
#ifndef CONSOLE_THROTTLE_H
#define CONSOLE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_ADDRESSES 512

struct throttle {
    struct throttled {
        char address[64]; /* "": free */
        int failures;
        bool trying;
        int64_t until_us, last_us;
    } addresses[THROTTLE_ADDRESSES];
};

/** Whether it may try now, which it then does until throttle_end; if not, *ret_wait_s says for how
 * long, 0: until a try that is under way ends. */
bool throttle_begin(struct throttle *throttle, const char *address, int64_t now_us,
                    int *ret_wait_s);
void throttle_end(struct throttle *throttle, const char *address, bool failed, int64_t now_us);

#endif

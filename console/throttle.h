/**
 * What: how long an address, or behind a proxy a login, waits until it may try to sign in again.
 * Guarantee: no client can shorten the wait of another one, with however many names or addresses.
 * Mechanism: names share THROTTLE_PLACES places by a hash that no outsider knows; none is ever
 *   given to another name, so names of one place wait together.
 * Invariants: the first failure costs half a second, each further one twice as much, up to a
 *   minute; ten quiet minutes forget them; a success ends the wait only. One attempt a place at a
 *   time. All names together that have not signed in yet fail THROTTLE_BURST times at once, and
 *   then once a second.
 * Threads: one at a time; the caller locks.
 * Ownership: plain data.
 * Failure: none.
 */
#ifndef CONSOLE_THROTTLE_H
#define CONSOLE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_PLACES 4096
#define THROTTLE_BURST  16

struct throttle {
    uint64_t seed;   /* of the hash: any number that is not known outside */
    int64_t next_us; /* when the names that have not signed in yet have no failure left to pay */
    struct throttled {
        int64_t until_us, last_us;
        int failures;
        bool trying;
        bool paced;     /* the try is one of a name that has not signed in yet */
        bool signed_in; /* once, since the start */
    } places[THROTTLE_PLACES];
};

/** Whether it may try now, which it then does until throttle_end; if not, *ret_wait_s says for how
 * long, 0: until a try that is under way ends. */
bool throttle_begin(struct throttle *throttle, const char *name, int64_t now_us, int *ret_wait_s);
enum throttle_outcome {
    THROTTLE_DONE,   /* signed in */
    THROTTLE_FAILED, /* refused: it waits longer */
    THROTTLE_UNKNOWN /* the server was not reached */
};
void throttle_end(struct throttle *throttle, const char *name, enum throttle_outcome outcome,
                  int64_t now_us);

#endif

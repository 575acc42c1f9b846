/**
 * What: the time of a turn of control's, and whether another one is to follow at once.
 * Invariants: all that is decided in a turn sees one time; a long wait brings it up to date. Only
 *   turn.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the executor.
 * Failure: -
 */
#ifndef EXECUTOR_TURN_H
#define EXECUTOR_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct turn {
    int64_t now_us;
    /* Another turn follows at once: mail was taken during a claim, or adoption let a claim go
     * first. */
    bool again;
};

/** A turn begins. */
void turn_begin(struct turn *turn);
/** A long wait was within it. */
void turn_clock(struct turn *turn);
/** Another turn is to follow at once. */
void turn_again(struct turn *turn);

#endif

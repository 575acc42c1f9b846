/**
 * What: the time of a turn of control's, and whether another one is to follow at once.
 * Invariants: all that is decided in a turn sees one time; a long wait brings it up to date.
 * Threads: control.
 * Ownership: -
 * Failure: -
 */
#ifndef EXECUTOR_TURN_H
#define EXECUTOR_TURN_H

struct executor;

/** A turn begins. */
void turn_begin(struct executor *ex);
/** A long wait was within it. */
void turn_clock(struct executor *ex);
/** There is to be another one at once: mail was looked at, or a part let another one go first. */
void turn_again(struct executor *ex);

#endif

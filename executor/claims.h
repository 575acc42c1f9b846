/**
 * What: whether a lane may claim now, and if not, the reason and its end. claim.c claims.
 * Invariants: a lane that is blocked stays so until an event says that something has changed; every
 *   other reason ends at a time of its own. Only claims.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane.
 * Failure: -
 */
#ifndef EXECUTOR_CLAIMS_H
#define EXECUTOR_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

struct claims {
    bool blocked;     /* refused for the lookahead or a pause: until something changes */
    int64_t after_us; /* refused for a moment: not before */
    int taken_ms; /* likewise, when its locks were another session's: so long, 0: they are not */
    int64_t poised_us;  /* since when a barrier is waited for with enough in hand, 0: it is not */
    int most;           /* a claim was refused: at most so many messages a claim; 0: none was */
    int64_t most_until; /* and that up to this offset */
    char parked[37]; /* the run whose messages the last claim recorded without an owner, "": none */
};

/** Nothing keeps it from a claim now. */
bool claims_may(const struct claims *claims);
bool claims_may_now(const struct claims *claims, int64_t now_us);
void claims_block(struct claims *claims, bool blocked);
/** The locks of a phase change hands: not for a moment. */
void claims_busy(struct claims *claims, int64_t now_us);
/** Locks that only executors should take are another session's: not for a while, and longer each
 * time. */
void claims_taken(struct claims *claims, int64_t now_us);
void claims_not_taken(struct claims *claims);
/** at_barrier: all tasks that may start are with the readers, and the next phases are in hand.
 * True: the lane waits for the opening of the next phase, for a few round trips of round_us. */
bool claims_poised(struct claims *claims, bool at_barrier, int64_t now_us, int64_t round_us);
/** A phase has opened. */
void claims_past_barrier(struct claims *claims);
/** The last claim recorded messages of this run without an owner; "": they have one. */
void claims_park(struct claims *claims, const char *run);
/** A claim was refused: at most so many messages a claim, up to the offset last. */
void claims_limit(struct claims *claims, int most, int64_t last);
/** At most so many messages for a claim that begins at head, 0: as many as there are. */
int claims_most(struct claims *claims, int64_t head);
/** When a claim that waits may be sent, 0: not before something happens. */
int64_t claims_due_us(const struct claims *claims, int64_t now_us, int64_t round_us);

#endif

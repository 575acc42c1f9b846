/**
 * What: the numbers of events that were given to transactions which have not committed yet, or
 *   never will. A number is given when an event is written, and the event is seen when its
 *   transaction has committed: events do not come in the order of their numbers.
 * Invariants: a hole is kept until its event was seen, or until all transactions are over that ran
 *   when a later look saw the hole still open: then it stays empty for good (PostgreSQL's
 *   pg_current_snapshot: every transaction below xmin is over). Of more than HOLES_MOST the oldest
 *   are given up together; holes_settle says when their transactions are over, for then every
 *   client must read everything again.
 * Threads: that of its owner.
 * Ownership: the owner's struct; it has no memory of its own.
 * Failure: -
 */
#ifndef CONSOLE_HOLES_H
#define CONSOLE_HOLES_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define HOLES_MOST 256

/** Numbers first to last. */
struct hole {
    int64_t first, last;
    int64_t
        until_xid; /* when this is below xmin, nothing comes any more; 0: the next look sets it */
};

/** Ascending; lost: those that were given up, as one. */
struct holes {
    struct hole items[HOLES_MOST];
    int count;
    bool any_lost;
    struct hole lost;
};

void holes_clear(struct holes *holes);
/** Nothing was seen of first to last, which are above all that are known. None if first > last. */
void holes_add(struct holes *holes, int64_t first, int64_t last);
/** An event was seen. True: it was in a hole. */
bool holes_fill(struct holes *holes, int64_t id);
/** At the begin of a look with this snapshot, before what it saw is noted. */
void holes_arm(struct holes *holes, int64_t xmax);
/** After the events of the look were noted: drops holes that stay empty. True: the transactions of
 * those that were given up are over, and their events may have come unseen. */
bool holes_settle(struct holes *holes, int64_t xmin);
/** The number from which on a client that has all up to id would miss nothing. */
int64_t holes_safe(const struct holes *holes, int64_t id);
/** As two arrays of PostgreSQL. */
void holes_arrays(const struct holes *holes, struct str *firsts, struct str *lasts);

#endif

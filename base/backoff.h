/**
 * What: the next pause between two tries: first, then twice as long each time, up to last.
 * Invariants: 0 < first <= last. The unit is the caller's.
 * Threads: any; a pure function.
 * Ownership: nothing.
 * Failure: none.
 */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

/** pause: the one before, 0: there was none. */
static inline int backoff_next(int pause, int first, int last)
{
    return pause == 0 ? first : pause > last / 2 ? last : pause * 2;
}

#endif

/**
 * What: a list of works, in the order in which they came.
 * Invariants: empty when it is zeroed. A work is in one list at a time; only works.c writes the
 *   fields of struct works, and the link of a work.
 * Threads: as its owner's.
 * Ownership: a list owns its works; a work that is taken is the caller's. A list that is copied
 *   has one owner: the copy.
 * Failure: none.
 */
#ifndef READER_WORKS_H
#define READER_WORKS_H

struct work;

struct works {
    struct work *first, *last; /* NULL: it is empty */
    int count;
};

void works_add(struct works *works, struct work *work);
/** In front of the others. */
void works_add_first(struct works *works, struct work *work);
/** The first one; NULL: there is none. */
struct work *works_take(struct works *works);
/** All of more, behind or in front of the others; more is empty then. */
void works_join(struct works *works, struct works *more);
void works_join_first(struct works *works, struct works *more);
/** Frees all of them. */
void works_free(struct works *works);

#endif

/**
 * What: the name that was probably meant.
 * Invariants: upper and lower case are alike.
 * Threads: any.
 * Ownership: borrows; the answer is one of the names.
 * Failure: NULL when nothing is near.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/** How far one word is from the other, in half edits: a letter that is put in, left out or replaced
 * counts 2, two neighbours that are swapped count 1, as their letters are right. */
int nearest_distance(const char *from, const char *to);

/** The candidate next to word among best (may be NULL) and candidate, if it is within one edit for
 * each third of its length, and one more. */
const char *nearest_of(const char *word, const char *best, const char *candidate);

#endif

/**
 * What: the name somebody probably meant.
 * Invariants: none.
 * Threads: any.
 * Ownership: borrows; the answer is one of the names.
 * Failure: NULL when nothing is near.
 */
#ifndef CONFIG_NEAREST_H
#define CONFIG_NEAREST_H

/** Edits (insert, delete, replace, swap neighbours) from one word to the other, upper and lower
 * case alike. */
int nearest_distance(const char *from, const char *to);

/** The candidate next to word among best (may be NULL) and candidate, if within a third of its
 * length. */
const char *nearest_of(const char *word, const char *best, const char *candidate);

#endif

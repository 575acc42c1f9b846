/**
 * What: tasks in hand, named to the database by their ids and tokens: two array parameters.
 * Invariants: names_start, then names_add for each, then names_end.
 * Threads: control.
 * Ownership: the function that declares it; NAMES_AUTO frees it at the end of the block.
 * Failure: -
 */
#ifndef EXECUTOR_NAMES_H
#define EXECUTOR_NAMES_H

#include "base/str.h"

struct work;

struct names {
    struct str ids, tokens;
    int count;
};

#define NAMES_AUTO __attribute__((cleanup(names_done))) struct names

void names_start(struct names *names);
void names_add(struct names *names, const struct work *work);
int names_end(struct names *names);                            /* how many */
void names_only(struct names *names, const struct work *work); /* the one */
void names_done(struct names *names);

#endif

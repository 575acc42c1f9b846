/**
 * What: numbers that a seed determines, and bytes that are changed by them: shared by tests with
 * made input.
 * Invariants: the same seed gives the same input.
 * Threads: one at a time.
 */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern uint64_t random_state; /* the seed, before the first call */

uint64_t random_next(void);
size_t random_below(size_t n);
bool random_one_in(size_t n);

/** Bytes changed, taken out, put in, repeated, cut off; of texts in which no byte decides how long
 * something takes. The inserted text is one of count tokens. */
void random_mutate(struct str *text, const char *const *tokens, size_t count);

#endif

/**
 * What: records without a run, and the work and fields of any record, for ./dev fuzz --live: fields
 *   at their edges, bytes that were changed, scripts of the world, sizes up to the limit and beyond
 *   it.
 * Invariants: the same random_state makes the same records.
 * Threads: one.
 * Ownership: each function appends to the caller's str.
 * Failure: none.
 */
#ifndef TESTS_FUZZ_LOOSE_H
#define TESTS_FUZZ_LOOSE_H

#include "base/str.h"
#include "tests/support/random.h"

#include <stdbool.h>
#include <stddef.h>

#define BIG       (1000 * 1000)
#define COUNT(of) (sizeof(of) / sizeof *(of))

#define any_of(words) ((words)[random_below(COUNT(words))])

/** Where http tasks go; before anything else. */
void loose_calls(const char *of_requests);
/** From here on each record may be of another kind or phase than the one before. */
void loose_thicket(void);
/** From here on up to two thousand records are of one phase, nearly all wrong or nearly all in
 * order. */
void loose_stretch(void);
/** The records of this phase are not all made yet. */
bool loose_goes_on(void);
void loose_record(struct str *to);
void loose_large(struct str *to);
/** What a task does, as fields behind others. */
void loose_work(struct str *to);
/** One more field, good or bad. */
void loose_field(struct str *to);

#endif

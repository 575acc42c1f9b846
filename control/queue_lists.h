/**
 * What: the two settings of a queue that are lists, written with commas: retry_intervals and
 *   retry_on.
 * Invariants: executors can read every list that passes here.
 * Threads: any.
 * Ownership: borrows.
 * Failure: RC_REJECT + ERR_USAGE: the hint says how the list is written.
 */
#ifndef CONTROL_QUEUE_LISTS_H
#define CONTROL_QUEUE_LISTS_H

#include "base/err.h"

/** NULL: it is not given. */
MUST_CHECK enum rc queue_check_lists(const char *retry_intervals, const char *retry_on,
                                     struct err *err);

#endif

/**
 * What: the one reader of whole numbers that a person typed: in an option, an argument or the
 *   configuration.
 * Invariants: a number is refused, never cut to a smaller type. The refusal names the object, the
 *   range and the value as it was typed: `queue set: --max-readers must be 0 to 1000, not -1`.
 * Threads: any.
 * Ownership: borrows.
 * Failure: RC_REJECT + ERR_USAGE; the output is then untouched.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/err.h"

#include <stdint.h>

/** Both ends belong to it. */
struct number_range {
    int64_t least, most;
};
#define NUMBER_NOT_NEGATIVE ((struct number_range){0, INT64_MAX})
#define NUMBER_ID           ((struct number_range){1, INT64_MAX})

/** name: the option, argument or key. Digits without leading zeros, with '-' before them if they
 * are negative. */
MUST_CHECK enum rc number_parse(const char *object, const char *name, const char *text,
                                struct number_range range, int64_t *ret_number, struct err *err);

/** Behind a noun: nothing for one of it, "s" for any other number. */
#define NUMBER_S(number) ((number) == 1 ? "" : "s")

#endif

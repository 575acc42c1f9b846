/**
 * What: the names of reactions, for the message of a failed test.
 * Invariants: in the order of enum rc.
 * Threads: any.
 * Ownership: names are static.
 * Failure: none.
 */
#ifndef TESTS_SUPPORT_RC_H
#define TESTS_SUPPORT_RC_H

#include "base/err.h"

/** "OK", "NONE", ... */
const char *rc_name(enum rc rc);

#endif

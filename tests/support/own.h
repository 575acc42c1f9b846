/**
 * What: shared by the files of tests/support.
 * Invariants, Threads, Ownership, Failure: as tests/support/support.h.
 */
#ifndef TESTS_SUPPORT_OWN_H
#define TESTS_SUPPORT_OWN_H

/** A copy that lives until the process ends. */
const char *support_keep(const char *text);
/** The variable's value; the test fails when it is not set. */
const char *support_environment(const char *name);

#endif

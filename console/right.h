/**
 * What: which right a login lacks, as the statement that grants it.
 * Invariants: a hint that the database itself has given stays.
 * Threads: any. Ownership: borrows. Failure: none.
 */
#ifndef CONSOLE_RIGHT_H
#define CONSOLE_RIGHT_H

#include "base/err.h"

/** Fills in the hint of an error of a session of login, if the error is about a right. */
void right_hint(struct err *err, const char *login);

#endif

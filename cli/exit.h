/**
 * What: the exit codes, and how an error is reported to people.
 * Invariants: the codes are promised; new kinds of trouble get new codes.
 * Threads: any.
 * Ownership: borrows.
 * Failure: none.
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include "base/err.h"
#include <stdbool.h>
#include <stdio.h>

struct exit_code {
    enum err_kind kind;
    int code;
    const char *meaning;
};
/* Ended by a row whose meaning is NULL. An empty meaning: a code has that of its first row. */
extern const struct exit_code exit_codes[];

int exit_of(enum rc rc, const struct err *err);

/** "lockstep: OBJECT: MESSAGE", then detail, context (only if verbose) and hint, indented. */
void exit_report(FILE *out, const struct err *err, bool verbose);

#endif

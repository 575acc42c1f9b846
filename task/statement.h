/**
 * What: reads task SQL just far enough to run it safely: splits a text into statements and says how
 *   each must be run. The lexer follows scan.l of PostgreSQL with standard_conforming_strings = on:
 *   strings, E'', dollar quotes, quoted identifiers, nested comments; and as psql does it knows
 *   BEGIN ATOMIC bodies and ';' in parentheses (CREATE RULE).
 * Invariants: the server is the last judge: every statement goes through the extended protocol,
 *   which takes one command only, so a wrong split is a syntax error and never a way around the
 *   check. Nothing that ends a transaction is let through (COMMIT, ROLLBACK, SAVEPOINT, ...). The
 *   inside of strings, and so of a function's body, is not read.
 * Threads: any; pure functions.
 * Ownership: slices point into the caller's text.
 * Failure: RC_REJECT with the word that is refused and, in the hint, what to do instead.
 */
#ifndef TASK_STATEMENT_H
#define TASK_STATEMENT_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

#define STATEMENT_WORD 32 /* an identifier is read to this length, with the \0 */

struct statement {
    const char *text; /* without the ';' */
    size_t len;
    /* SELECT, INSERT, UPDATE, DELETE, MERGE, WITH, VALUES, TABLE: may run in a pipeline's implicit
     * transaction */
    bool plain;
    /* may leave state behind: SET, set_config, LISTEN, temporary objects, PREPARE, advisory locks,
     * DO, CALL, ...; rather once too often */
    bool changes_session;
};

/** Splits; *ret_statements is freed by the caller; empty ones are dropped; none at all: RC_REJECT.
 */
MUST_CHECK enum rc statement_split(const char *text, struct statement **ret_statements,
                                   int *ret_count, struct err *err);

/**
 * Whether one of its identifiers, quoted or not, is known: asked for each as it is written, but in
 * capitals (ASCII) and cut to STATEMENT_WORD.
 */
typedef bool statement_known(const void *context, const char *word);
bool statement_names(const struct statement *statement, statement_known *known,
                     const void *context);

#endif

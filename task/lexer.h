/**
 * What: cuts task SQL into tokens, as scan.l of PostgreSQL does with standard_conforming_strings =
 *   on: strings, E'', dollar quotes, quoted identifiers, nested comments. For statement.c.
 * Invariants: reads nothing behind the \0 of the text, and moves on with each token but the end.
 * Threads: any; plain data.
 * Ownership: slices point into the caller's text.
 * Failure: TOKEN_UNCLOSED: a comment or a quote has no end.
 */
#ifndef TASK_LEXER_H
#define TASK_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_QUOTED, /* an identifier in double quotes, the quotes not in the slice */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_SEMICOLON,
    TOKEN_OTHER, /* strings, numbers, operators */
    TOKEN_UNCLOSED
};

struct lexer {
    const char *at;
    const char *text; /* of the last token */
    size_t len;
    const char *unclosed; /* TOKEN_UNCLOSED: the kind of text that has no end */
};

/** The next token; comments and white space are skipped. */
enum token lexer_next(struct lexer *lexer);
/** As the scanner of PostgreSQL: not by a locale. */
bool lexer_is_space(char c);

#endif

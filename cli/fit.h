/**
 * What: the widths of the columns of a table on a terminal.
 * Invariants: texts are narrowed before numbers, statuses, heads and, at the end, times; the text
 *   of the leftmost column, which names the subject of a line, behind the other texts. No column is
 *   narrower than 3.
 * Threads: any.
 * Ownership: borrows.
 * Failure: none; the answer is false when the table is wider than it may be.
 */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include <stdbool.h>

struct column {
    char *head, type;      /* the types of cli/table.h */
    bool may_go;           /* the short form is without it when all its numbers are 0 */
    int head_width, whole; /* whole: of the widest cell, or of the head */
    int width;             /* as drawn */
};

struct fit {
    struct column *columns;
    const int *order;  /* the columns from the left, by their numbers */
    int count, screen; /* of order; columns of the terminal */
    bool rest;         /* the last column takes the rest of the line */
};

/** FIT_TEXTS: only texts are narrowed, down to 10 columns or to their heads. */
enum fit_limit { FIT_TEXTS, FIT_ALL };
/** Sets the widths. Until the table fits, the widest of the columns that may give is narrowed, in
 * rounds. */
bool fit_columns(const struct fit *fit, enum fit_limit limit);

#endif

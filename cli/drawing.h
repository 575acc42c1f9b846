/**
 * What: a table as people read it: as wide as the terminal (80 columns where there is none), with
 *   long values in their short form.
 * Invariants: no line is wider, however long names and numbers are, unless everything is asked for
 *   (table_style.wide). Numbers and statuses are shortened last. A number is shown whole or with a
 *   unit (12.3M), never cut. Cells are one line.
 * Threads: one.
 * Ownership: copies cells; borrows types and names until drawing_free.
 * Failure: as table_end.
 */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "cli/table.h"

struct drawing;
/** record: a row is a block of lines, a name and a value each, values whole. */
struct drawing *drawing_new(FILE *out, const struct table_style *style, const char *types,
                            char *const *names, int columns, bool record);
void drawing_row(struct drawing *drawing, const char *const *cells);
/** Prints what came since the last call. more: more rows will come, in the same columns. */
void drawing_print(struct drawing *drawing, bool more);
void drawing_free(struct drawing *drawing); /* NULL is fine */

/** Columns of the terminal on stdout, 80 if it is none; COLUMNS has the last word where it is
 * none. */
int drawing_width(void);

/** Whether it takes characters beyond ASCII. */
bool drawing_unicode(void);

#endif

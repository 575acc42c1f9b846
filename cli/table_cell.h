/**
 * What: one value in the promised output formats.
 * Invariants: the output is valid JSON or RFC 4180 CSV for any bytes of a value.
 * Threads: any, one per stream.
 * Ownership: borrows.
 * Failure: the stream keeps its error (table_check).
 */
#ifndef CLI_TABLE_CELL_H
#define CLI_TABLE_CELL_H

#include <stdio.h>

/** type as in cli/table.h; cell NULL is null. */
void cell_json(FILE *out, char type, const char *cell);
/** types: one letter a column; NULL: a header. */
void cell_csv_row(FILE *out, const char *types, const char *const *cells, int columns);

#endif

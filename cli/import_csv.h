/**
 * What: a CSV file with a header (RFC 4180), whole in memory.
 * Invariants: names are compared in any case; a row that is shorter has empty cells.
 * Threads: the caller's.
 * Ownership: import_csv_done frees; texts belong to the table.
 * Failure: RC_REJECT with the line.
 */
#ifndef CLI_IMPORT_CSV_H
#define CLI_IMPORT_CSV_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct import_csv {
    struct import_csv_row {
        char **cells;
        int count, line; /* where it begins */
    } * rows;            /* the first one is the header */
    int count;
};

MUST_CHECK enum rc import_csv_read(const char *path, const char *text, struct import_csv *ret_csv,
                                   struct err *err);
void import_csv_done(struct import_csv *csv);
/** The number of a column, -1: there is none. */
int import_csv_column(const struct import_csv *csv, const char *name);
/** The cell; "" for none, and for the NULL that exports write. row: from 1 on. */
const char *import_csv_cell(const struct import_csv *csv, int row, int column);

#endif

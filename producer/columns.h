/**
 * What: which columns a CSV file or a query of staged work may have, and how a row becomes a
 *   task in JSON.
 * Invariants: the columns are the simple fields of a message, by the same names;
 *   "execution_order" is another name of "order". A row that comes out is one JSON object with
 *   no field but those of its columns.
 * Threads: any; plain data.
 * Ownership: struct columns borrows nothing; rows are borrowed.
 * Failure: RC_REJECT; err->object is the column.
 */
#ifndef PRODUCER_COLUMNS_H
#define PRODUCER_COLUMNS_H

#include "base/err.h"
#include "base/str.h"

#define COLUMNS_MAX 64

struct column;

struct columns {
    const struct column *at[COLUMNS_MAX];
    int count;
};

/** One value; text NULL = none (SQL NULL). */
struct column_value {
    const char *text;
    size_t len;
};

/** Every name must be known, none twice, order and sql among them. */
MUST_CHECK enum rc columns_header(const struct column_value *names, int count,
                                  struct columns *ret_columns, struct err *err);

/** Appends the row as JSON. A value that is NULL or empty is left out. */
MUST_CHECK enum rc columns_row(const struct columns *columns, const struct column_value *values,
                               int count, struct str *out, struct err *err);

#endif

/**
 * What: the one writer of results: a table for people, JSON, JSON Lines and CSV (RFC 4180) for
 *   programs.
 * Invariants: json is one document, jsonl one object a line, csv has a header line; NULL is null,
 *   and an empty field in csv. Column types are one letter each: t text, s status (text, coloured),
 *   i integer or number (unquoted in JSON), b boolean, z time (RFC 3339 in JSON and CSV), d
 *   interval, u UUID, j JSON as it is. NULL for types: all text. Only the table shortens
 *   (cli/drawing.h).
 * Threads: one.
 * Ownership: copies what it is given; table_end frees.
 * Failure: RC_FATAL when stdout cannot be written; a reader that went away (EPIPE) is no error.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/err.h"
#include "db/db.h"
#include <stdbool.h>
#include <stdio.h>

enum output { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_JSONL, OUTPUT_CSV };

struct table_style {
    enum output output;
    bool color;
    bool wide;   /* of a table: everything whole, and all columns */
    bool wrap;   /* of a table: its last column continues in the next line, and nothing is cut */
    bool blocks; /* of records: without fields that are NULL */
    /* of a table: the columns that it has if it is not wide, from the left, "a,b?,c"; b is left out
     * when its numbers are all 0; NULL: all */
    const char *shorts;
};

struct table;
/** record: the answer is one row; a table shows it as one line a field, JSON as one object. */
struct table *table_new(FILE *out, struct table_style style, const char *types,
                        const char *const *names, int columns, bool record);
/** cells: one a column, NULL for SQL NULL. */
void table_row(struct table *table, const char *const *cells);
MUST_CHECK enum rc table_end(struct table *table, struct err *err);

/** Without an end: rows go out as they come (log --follow); tables are drawn line by line without
 * borders. */
void table_flush(struct table *table);

/** With the columns of a result and no row yet. Their types are those of the database; text that is
 * named status is a status. */
struct table *table_of(FILE *out, struct table_style style, const struct db_result *result,
                       bool record);

/** A whole result. */
MUST_CHECK enum rc table_result(FILE *out, struct table_style style, const struct db_result *result,
                                bool record, struct err *err);

/** Parts of one answer: in JSON one object with a member a part, in jsonl and csv the main part
 * alone. */
struct table_part {
    const char *name;
    const struct db_result *result; /* NULL: empty, and nothing was asked */
    bool record, main;
    bool blocks;        /* many rows: people get a block of lines for each, without NULL fields */
    const char *shorts; /* as of table_style, as is wrap */
    bool wrap;
};
MUST_CHECK enum rc table_parts(FILE *out, struct table_style style, const struct table_part *parts,
                               int count, struct err *err);

/** Whether everything written to out so far went out; flushes. */
MUST_CHECK enum rc table_check(FILE *out, struct err *err);

/** A JSON string with quotes. */
void table_json_text(FILE *out, const char *text);

#endif

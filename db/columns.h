/**
 * What: the columns of a result whose statement the caller does not know: a table that is printed,
 *   a query of the user's.
 * Invariants: columns are counted from 0.
 * Threads: one at a time.
 * Ownership: the names belong to the result and live as long as it does.
 * Failure: none.
 */
#ifndef DB_COLUMNS_H
#define DB_COLUMNS_H

struct db_result;

int db_columns(const struct db_result *result);
const char *db_column_name(const struct db_result *result, int column);
unsigned db_column_type(const struct db_result *result, int column); /* pg_type.oid */

#endif

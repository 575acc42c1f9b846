/**
 * What: the rows that a statement has answered, read by row and column.
 * Invariants: rows are counted from 0; columns have the names that the statement's contract gives
 *   them (sql/sql.h).
 * Threads: one at a time.
 * Ownership: a result belongs to the caller of the function that made it; db_free, or
 *   DB_RESULT_AUTO at the end of the block, frees it. Texts live as long as the result.
 * Failure: none: a value that is not of the type asked for reads as 0.
 */
#ifndef DB_RESULT_H
#define DB_RESULT_H

#include <stdbool.h>
#include <stdint.h>

struct db_result;

int db_rows(const struct db_result *result);
bool db_null(const struct db_result *result, int row, int column);
/** "" for NULL: see db_null. */
const char *db_text(const struct db_result *result, int row, int column);
int db_length(const struct db_result *result, int row, int column);  /* bytes */
int64_t db_int(const struct db_result *result, int row, int column); /* 0 for NULL */
bool db_bool(const struct db_result *result, int row, int column);
double db_double(const struct db_result *result, int row, int column);
/** Which of the words of the statement's contract a column holds; -1 for NULL. There is no other:
 * db_run refuses an answer whose word the contract does not know with RC_FATAL. -1, too, of a
 * column that has none. */
int db_word(const struct db_result *result, int row, int column);
void db_free(struct db_result *result); /* NULL is fine */
void db_result_auto(struct db_result **result);
#define DB_RESULT_AUTO __attribute__((cleanup(db_result_auto))) struct db_result

#endif

/**
 * What: values as the text parameters of a statement: integers, arrays (int8[], text[], bytea[])
 *   and bytea.
 * Invariants: an array is db_array_start, then its elements, then db_array_end.
 * Threads: one at a time.
 * Ownership: the caller's str holds the text.
 * Failure: none.
 */
#ifndef DB_PARAMETER_H
#define DB_PARAMETER_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/** An integer as a parameter; lives until the end of the enclosing block. */
#define DB_INT(value) int64_text((char[INT64_TEXT_SIZE]){0}, (int64_t)(value))

void db_array_start(struct str *str);
void db_array_int(struct str *str, int64_t value);
void db_array_text(struct str *str, const char *text, size_t len); /* text NULL = SQL NULL */
void db_array_bytes(struct str *str, const void *bytes, size_t len);
void db_array_end(struct str *str);
/** A bytea parameter in hex format, appended. */
void db_bytea(struct str *str, const void *bytes, size_t len);

#endif

/* Results by column number and array parameters by text. The numbers are constants that the build
 * makes from the line `-- columns:` of each statement, so C that names a column of which SQL has
 * changed the name does not compile. */
#include "db/columns.h"
#include "db/session.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int db_rows(const struct db_result *result)
{
    return PQntuples(result->result);
}

int db_columns(const struct db_result *result)
{
    return PQnfields(result->result);
}

const char *db_column_name(const struct db_result *result, int column)
{
    return PQfname(result->result, column);
}

unsigned db_column_type(const struct db_result *result, int column)
{
    return PQftype(result->result, column);
}

bool db_null(const struct db_result *result, int row, int column)
{
    return PQgetisnull(result->result, row, column) != 0;
}

const char *db_text(const struct db_result *result, int row, int column)
{
    return PQgetvalue(result->result, row, column);
}

int db_length(const struct db_result *result, int row, int column)
{
    return PQgetlength(result->result, row, column);
}

/* No check: the statement gives the column a type of integers. */
int64_t db_int(const struct db_result *result, int row, int column)
{
    return strtoll(db_text(result, row, column), NULL, 10);
}

/** A boolean in text format is t or f; NULL is an empty text, and so false. */
bool db_bool(const struct db_result *result, int row, int column)
{
    return db_text(result, row, column)[0] == 't';
}

double db_double(const struct db_result *result, int row, int column)
{
    return strtod(db_text(result, row, column), NULL);
}

void db_free(struct db_result *result)
{
    if (result == NULL)
        return;
    PQclear(result->result);
    free(result);
}

void db_result_auto(struct db_result **result)
{
    db_free(*result);
}

/** An array literal grows by one element a call, and is sent as one parameter: so a claim of many
 * records is one statement. */
void db_array_start(struct str *str)
{
    str_clear(str);
    str_text(str, "{");
}

static void next_element(struct str *str)
{
    if (str->len > 1)
        str_text(str, ",");
}

void db_array_int(struct str *str, int64_t value)
{
    next_element(str);
    str_int(str, value);
}

/* Every element is quoted, so only '"' and '\' need care (PostgreSQL manual, section 8.15.6). */
void db_array_text(struct str *str, const char *text, size_t len)
{
    next_element(str);
    if (text == NULL) {
        /* Without quotes it is NULL; a quoted "NULL" is a text. */
        str_text(str, "NULL");
        return;
    }
    str_text(str, "\"");
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            str_add(str, text + from, i - from);
            str_text(str, "\\");
            from = i;
        }
    }
    str_add(str, text + from, len - from);
    str_text(str, "\"");
}

static void hex(struct str *str, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        str_add(str, pair, 2);
    }
}

void db_array_bytes(struct str *str, const void *bytes, size_t len)
{
    next_element(str);
    if (bytes == NULL) {
        str_text(str, "NULL");
        return;
    }
    /* The hex format of bytea (manual, 8.4.1); its backslash is escaped for the array. */
    str_text(str, "\"\\\\x");
    hex(str, bytes, len);
    str_text(str, "\"");
}

void db_array_end(struct str *str)
{
    str_text(str, "}");
}

void db_bytea(struct str *str, const void *bytes, size_t len)
{
    str_text(str, "\\x");
    hex(str, bytes, len);
}

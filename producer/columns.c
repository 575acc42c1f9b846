/* The columns of CSV and of queries, as one table: name, field of the message, kind. A row becomes
 * the JSON text that a JSON Lines source would have, and the codec (task/message.c) judges it as a
 * whole. So this file checks only that a value can be written as JSON of the right type, and no
 * rule about tasks exists twice. docs/reference/message.md has the fields. */
#include "producer/columns.h"

#include "base/utf8.h"
#include "task/json.h"
#include "task/message.h"
#include "task/message_text.h"

#include <stdio.h>
#include <string.h>

enum column_kind { COLUMN_INTEGER, COLUMN_BOOLEAN, COLUMN_TEXT, COLUMN_JSON };

static const struct column {
    const char *name, *field;
    enum column_kind kind;
    bool required;
    const char *form; /* of JSON; NULL: of another kind */
} known[] = {
    {"order", "order", COLUMN_INTEGER, true, NULL},
    /* ORDER is reserved in SQL: a column of a table that has this name needs quotes. */
    {"execution_order", "order", COLUMN_INTEGER, false, NULL},
    {"sql", "sql", COLUMN_TEXT, false, NULL},
    {"name", "name", COLUMN_TEXT, false, NULL},
    {"description", "description", COLUMN_TEXT, false, NULL},
    {"type", "type", COLUMN_TEXT, false, NULL},
    {"params", "params", COLUMN_JSON, false, "a JSON array"},
    {"transaction", "transaction", COLUMN_BOOLEAN, false, NULL},
    {"condition", "condition", COLUMN_TEXT, false, NULL},
    {"max_attempts", "max_attempts", COLUMN_INTEGER, false, NULL},
    {"retry_intervals", "retry_intervals", COLUMN_JSON, false, "a JSON array of numbers"},
    {"retry_on", "retry_on", COLUMN_JSON, false, "a JSON array of text"},
    {"timeout", "timeout", COLUMN_JSON, false, "a number of seconds"},
    {"not_before", "not_before", COLUMN_TEXT, false, NULL},
    {"key", "key", COLUMN_TEXT, false, NULL},
    {"steps", "steps", COLUMN_JSON, false, "a JSON array of steps"},
    {"command", "command", COLUMN_TEXT, false, NULL},
    {"args", "args", COLUMN_JSON, false, "a JSON array of text"},
    {"input", "input", COLUMN_TEXT, false, NULL},
    {"url", "url", COLUMN_TEXT, false, NULL},
    {"method", "method", COLUMN_TEXT, false, NULL},
    {"headers", "headers", COLUMN_JSON, false, "a JSON object of text"},
    {"body", "body", COLUMN_TEXT, false, NULL},
    {"kind", "kind", COLUMN_TEXT, false, NULL},
};
enum { KNOWN = sizeof known / sizeof *known };

#define KNOWN_HINT                                                                                 \
    "columns are order (or execution_order), sql, name, description, type, params, transaction, "  \
    "condition, max_attempts, retry_intervals, retry_on, timeout, not_before, key, "               \
    "steps, command, args, input, url, method, headers, body, kind; the first line of a CSV file " \
    "is its header"

/** By field and not by name: order and execution_order together are one field twice. */
static bool has_field(const struct columns *columns, const char *field)
{
    for (int i = 0; i < columns->count; i++)
        if (strcmp(columns->at[i]->field, field) == 0)
            return true;
    return false;
}

static enum rc add_column(struct columns *columns, const struct column_value *name, struct err *err)
{
    char object[80];
    /* A name that is not known may be the first line of a binary file: it is cut for the message.
     */
    int shown = name->len < 60 ? (int)name->len : 60;
    (void)snprintf(object, sizeof object, "%.*s", shown, name->text);
    int i = 0;
    while (i < KNOWN && !(strlen(known[i].name) == name->len &&
                          memcmp(known[i].name, name->text, name->len) == 0))
        i++;
    if (i == KNOWN)
        return err_set(err, RC_REJECT, ERR_USAGE, object,
                       strpbrk(object, ";\t|") != NULL
                           ? "Separate the columns by commas, also in the lines below."
                           : KNOWN_HINT,
                       "the column \"%s\" is not known", object);
    if (has_field(columns, known[i].field))
        return err_set(err, RC_REJECT, ERR_USAGE, object, "Remove one of them.",
                       "the column \"%s\" occurs twice", known[i].field);
    columns->at[columns->count++] = &known[i];
    return RC_OK;
}

/* The fields that hold the work of a task. The type of a row says which of them it needs, and the
 * codec checks that; a header without any of them can only be a mistake. */
static int work_columns(const struct columns *columns)
{
    static const char *const fields[] = {"sql", "command", "url", "steps", "type"};
    int count = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        count += has_field(columns, fields[i]);
    return count;
}

enum rc columns_header(const struct column_value *names, int count, struct columns *ret_columns,
                       struct err *err)
{
    struct columns columns = {.count = 0};
    for (int i = 0; i < count; i++) { /* none twice, so there are never more than KNOWN */
        enum rc rc = add_column(&columns, &names[i], err);
        if (rc != RC_OK)
            return rc;
    }
    /* Refused at the header, once, instead of once for each row. */
    for (int i = 0; i < KNOWN; i++)
        if (known[i].required && !has_field(&columns, known[i].field))
            return err_set(err, RC_REJECT, ERR_USAGE, known[i].name, KNOWN_HINT,
                           "the column \"%s\" is missing", known[i].name);
    if (work_columns(&columns) == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "sql", KNOWN_HINT,
                       "the column \"sql\" is missing, and so are command, url, steps and type");
    *ret_columns = columns;
    return RC_OK;
}

/** Bytes that a terminal would interpret are shown as question marks. */
static enum rc bad_value(const struct column *column, const struct column_value *value,
                         const char *wanted, struct err *err)
{
    char shown[40];
    size_t len = value->len < sizeof shown - 1 ? value->len : sizeof shown - 1;
    for (size_t i = 0; i < len; i++)
        shown[i] = value->text[i] >= ' ' && value->text[i] <= '~' ? value->text[i] : '?';
    shown[len] = '\0';
    return err_set(err, RC_REJECT, ERR_USAGE, column->name, NULL,
                   "the column \"%s\" must be %s, not: %s%s", column->name, wanted, shown,
                   len < value->len ? "..." : "");
}

static enum rc add_integer(const struct column *column, const struct column_value *value,
                           struct str *out, struct err *err)
{
    int64_t n;
    if (!int64_parse(value->text, value->len, &n))
        return bad_value(column, value, "an integer in plain digits, at most 9223372036854775807",
                         err);
    /* The digits are copied as they are: a double, as JSON libraries use for numbers, would round
     * an order above 2^53. */
    str_add(out, value->text, value->len);
    return RC_OK;
}

/** PostgreSQL prints a boolean as t and f (datatype-boolean), a CSV file usually spells the words.
 */
static enum rc add_boolean(const struct column *column, const struct column_value *value,
                           struct str *out, struct err *err)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"t", true}, {"false", false}, {"f", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == value->len &&
            memcmp(words[i].text, value->text, value->len) == 0) {
            str_text(out, words[i].value ? "true" : "false");
            return RC_OK;
        }
    return bad_value(column, value, "true or false", err);
}

static enum rc add_text(const struct column *column, const struct column_value *value,
                        struct str *out, struct err *err)
{
    size_t bad = utf8_prefix(value->text, value->len);
    if (bad < value->len)
        return err_set(err, RC_REJECT, ERR_USAGE, column->name,
                       "Convert the source to UTF-8 without NUL bytes, e.g. with iconv.",
                       "the column \"%s\" holds a byte 0x%02x at %zu that is %s", column->name,
                       (unsigned char)value->text[bad], bad,
                       value->text[bad] == '\0' ? "not allowed" : "not UTF-8");
    json_quote(out, value->text, value->len);
    return RC_OK;
}

/** Parsed on its own, so that it cannot bring fields of its own into the object. */
static enum rc add_json(const struct column *column, const struct column_value *value,
                        struct str *out, struct err *err)
{
    struct json json = {0};
    struct err why;
    char hint[64];
    (void)snprintf(hint, sizeof hint, "Write it as %s.", column->form);
    if (json_parse(value->text, value->len, MESSAGE_MAX_BYTES, &json, &why) != RC_OK)
        return err_set(err, RC_REJECT, ERR_USAGE, column->name, hint,
                       "the column \"%s\" must be %s: %s", column->name, column->form, why.message);
    json_done(&json);
    str_add(out, value->text, value->len);
    return RC_OK;
}

static enum rc add_value(const struct column *column, const struct column_value *value,
                         struct str *out, struct err *err)
{
    str_format(out, "%c\"%s\":", out->data == NULL || out->len == 0 ? '{' : ',', column->field);
    switch (column->kind) {
    case COLUMN_INTEGER:
        return add_integer(column, value, out, err);
    case COLUMN_BOOLEAN:
        return add_boolean(column, value, out, err);
    case COLUMN_TEXT:
        return add_text(column, value, out, err);
    case COLUMN_JSON:
        return add_json(column, value, out, err);
    }
    return RC_OK;
}

enum rc columns_row(const struct columns *columns, const struct column_value *values, int count,
                    struct str *out, struct err *err)
{
    if (count != columns->count)
        return err_set(err, RC_REJECT, ERR_USAGE, "",
                       "Put a value that holds a comma, a quote or a line break in quotes, and "
                       "double the quotes within it.",
                       "the row has %d values, the header has %d columns", count, columns->count);
    for (int i = 0; i < count; i++) {
        const struct column *column = columns->at[i];
        /* CSV does not distinguish NULL from an empty value, so both leave the field out, also of a
         * query. */
        bool none = values[i].text == NULL || values[i].len == 0;
        /* sql is needed in each row only where no other column can hold the work or a type that
         * needs none. */
        bool needed = strcmp(column->field, "order") == 0 || column->required ||
                      (strcmp(column->field, "sql") == 0 && work_columns(columns) == 1);
        if (none && needed)
            return err_set(err, RC_REJECT, ERR_USAGE, column->name, "Give every task one.",
                           "the column \"%s\" is %s", column->name,
                           values[i].text == NULL ? "NULL" : "empty");
        enum rc rc = none ? RC_OK : add_value(column, &values[i], out, err);
        if (rc != RC_OK)
            return rc;
    }
    str_text(out, "}");
    return RC_OK;
}

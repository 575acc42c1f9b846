/* The one writer of results. A table is made with its columns, gets rows, and ends; for programs
 * each row is written at once, for people cli/drawing.c collects them. Column letters (cli/table.h)
 * decide quotes, colours and short forms.
 *
 * The format for programs is a promise: names and types of columns come from the statement (its
 * columns in sql/), and changes of the table for people never reach it. */
#include "cli/table.h"

#include "base/str.h"
#include "cli/drawing.h"
#include "cli/table_cell.h"
#include "db/columns.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct table {
    FILE *out;
    struct table_style style;
    bool record;
    int columns, rows;
    char *types;
    char **names;
    struct drawing *drawing; /* OUTPUT_TABLE */
};

struct table *table_new(FILE *out, struct table_style style, const char *types,
                        const char *const *names, int columns, bool record)
{
    struct table *table = xcalloc(1, sizeof *table);
    *table = (struct table){.out = out, .style = style, .record = record, .columns = columns};
    table->types = xmalloc((size_t)columns + 1);
    memset(table->types, 't', (size_t)columns);
    table->types[columns] = '\0';
    if (types != NULL)
        memcpy(table->types, types, strnlen(types, (size_t)columns));
    table->names = xcalloc((size_t)columns, sizeof *table->names);
    for (int i = 0; i < columns; i++)
        table->names[i] = xstrdup(names[i]);
    if (style.output == OUTPUT_TABLE)
        table->drawing = drawing_new(out, &style, table->types, table->names, columns, record);
    else if (style.output == OUTPUT_CSV)
        cell_csv_row(out, NULL, names, columns);
    return table;
}

/* One object, its members in the order of the columns. */
static void json_row(struct table *table, const char *const *cells)
{
    for (int i = 0; i < table->columns; i++) {
        (void)fputs(i > 0 ? ", " : "{", table->out);
        table_json_text(table->out, table->names[i]);
        (void)fputs(": ", table->out);
        cell_json(table->out, table->types[i], cells[i]);
    }
    (void)fputc('}', table->out);
}

void table_row(struct table *table, const char *const *cells)
{
    switch (table->style.output) {
    case OUTPUT_TABLE:
        drawing_row(table->drawing, cells);
        break;
    case OUTPUT_CSV:
        cell_csv_row(table->out, table->types, cells, table->columns);
        break;
    case OUTPUT_JSONL:
        json_row(table, cells);
        (void)fputc('\n', table->out);
        break;
    case OUTPUT_JSON:
        if (!table->record)
            (void)fputs(table->rows > 0 ? ",\n " : "[\n ", table->out);
        json_row(table, cells);
        break;
    }
    table->rows++;
}

void table_flush(struct table *table)
{
    if (table->style.output == OUTPUT_TABLE)
        drawing_print(table->drawing, true);
    (void)fflush(table->out);
}

static void finish(struct table *table)
{
    if (table->style.output == OUTPUT_TABLE) {
        drawing_print(table->drawing, false);
    } else if (table->style.output == OUTPUT_JSON) {
        if (!table->record)
            (void)fputs(table->rows > 0 ? "\n]" : "[]", table->out);
        else if (table->rows == 0)
            (void)fputs("null", table->out);
    }
    drawing_free(table->drawing);
    for (int i = 0; i < table->columns; i++)
        free(table->names[i]);
    free(table->names);
    free(table->types);
    free(table);
}

/* Whether the reader of the pipe has left. Needed when an earlier write failed: ferror remembers
 * that it did, but its errno is gone. */
static bool reader_left(FILE *out)
{
    struct pollfd watched = {.fd = fileno(out), .events = 0};
    return poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) != 0;
}

enum rc table_check(FILE *out, struct err *err)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return RC_OK;
    int number = errno;
    if (number == EPIPE || (number == 0 && reader_left(out)))
        return RC_NONE;
    return err_set(err, RC_FATAL, ERR_INTERNAL, "stdout", "", "cannot write the result: %s",
                   number ? strerror(number) : "an earlier write failed");
}

enum rc table_end(struct table *table, struct err *err)
{
    FILE *out = table->out;
    bool line = table->style.output == OUTPUT_JSON;
    finish(table);
    if (line)
        (void)fputc('\n', out);
    return table_check(out, err);
}

static void add_result(struct table *table, const struct db_result *result)
{
    FREE_AUTO const char **cells = xcalloc((size_t)table->columns, sizeof *cells);
    for (int row = 0; row < db_rows(result); row++) {
        for (int i = 0; i < table->columns; i++)
            cells[i] = db_null(result, row, i) ? NULL : db_text(result, row, i);
        table_row(table, cells);
    }
}

/* The letter of a column's type, by the type's OID. A text that is named status gets a colour. */
static char letter_of(const struct db_result *result, int column)
{
    switch (db_column_type(result, column)) { /* pg_type.dat of PostgreSQL: these never change */
    case 16:                                  /* bool */
        return 'b';
    case 20: /* int8, int2, int4, float4, float8, numeric */
    case 21:
    case 23:
    case 700:
    case 701:
    case 1700:
        return 'i';
    case 1184: /* timestamptz */
        return 'z';
    case 1186: /* interval */
        return 'd';
    case 2950: /* uuid */
        return 'u';
    case 3802: /* jsonb */
        return 'j';
    default:
        return strcmp(db_column_name(result, column), "status") == 0 ? 's' : 't';
    }
}

struct table *table_of(FILE *out, struct table_style style, const struct db_result *result,
                       bool record)
{
    int columns = db_columns(result);
    FREE_AUTO const char **names = xcalloc((size_t)columns, sizeof *names);
    FREE_AUTO char *types = xcalloc((size_t)columns + 1, 1);
    for (int i = 0; i < columns; i++) {
        names[i] = db_column_name(result, i);
        types[i] = letter_of(result, i);
    }
    return table_new(out, style, types, names, columns, record);
}

enum rc table_result(FILE *out, struct table_style style, const struct db_result *result,
                     bool record, struct err *err)
{
    struct table *table = table_of(out, style, result, record);
    add_result(table, result);
    return table_end(table, err);
}

enum rc table_parts(FILE *out, struct table_style style, const struct table_part *parts, int count,
                    struct err *err)
{
    bool json = style.output == OUTPUT_JSON, all = json || style.output == OUTPUT_TABLE;
    bool first = true;
    for (int i = 0; i < count; i++) {
        if (!all && !parts[i].main)
            continue;
        if (json) {
            (void)fputs(first ? "{" : ",\n ", out);
            table_json_text(out, parts[i].name);
            (void)fputs(": ", out);
        }
        bool empty = parts[i].result == NULL || db_rows(parts[i].result) == 0;
        if (!json && !first && !empty)
            (void)fputc('\n', out);
        first = false;
        /* For people an empty part is left out; in JSON it is there, empty, so that the form stays
         * the same. */
        if (json && parts[i].result == NULL)
            (void)fputs("[]", out);
        if (parts[i].result == NULL || (!json && empty && all))
            continue;
        struct table_style part = style;
        part.blocks = parts[i].blocks && style.output == OUTPUT_TABLE;
        part.shorts = parts[i].shorts;
        part.wrap = parts[i].wrap;
        struct table *table = table_of(out, part, parts[i].result, parts[i].record || part.blocks);
        add_result(table, parts[i].result);
        finish(table);
    }
    if (json)
        (void)fputs("}\n", out);
    return table_check(out, err);
}

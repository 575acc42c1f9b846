/* A whole CSV file in memory, by libcsv in strict mode: a stray quote is an error, not data. The
 * parser gets one line at a time, only so that each row knows the line on which it begins.
 *
 * The first row is the header. A file of SQL Server writes NULL as a word, which is an empty cell
 * here. */
#include "cli/import_csv.h"

#include "base/ascii.h"
#include "base/memory.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct import_csv *csv;
    bool begun; /* cells of the last row are still to come */
    int line;
};

/* libcsv calls it for each cell, and on_row at the end of a row, possibly many lines later: a cell
 * in quotes may contain line ends. */
static void on_cell(void *cell, size_t len, void *context)
{
    struct reading *reading = context;
    struct import_csv *csv = reading->csv;
    if (!reading->begun) {
        csv->rows = xrealloc(csv->rows, (size_t)csv->count + 1, sizeof *csv->rows);
        csv->rows[csv->count++] = (struct import_csv_row){.line = reading->line};
        reading->begun = true;
    }
    struct import_csv_row *row = &csv->rows[csv->count - 1];
    char *text = xcalloc(1, len + 1);
    if (len > 0)
        memcpy(text, cell, len);
    row->cells = xrealloc(row->cells, (size_t)row->count + 1, sizeof *row->cells);
    row->cells[row->count++] = text;
}

static void on_row(int end, void *context)
{
    struct reading *reading = context;
    (void)end;
    reading->begun = false;
}

/* Line by line, so that a row knows its own. */
static bool parse(struct csv_parser *parser, const char *text, struct reading *reading)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        len += text[len] == '\n';
        if (csv_parse(parser, text, len, on_cell, on_row, reading) != len)
            return false;
        reading->line++;
        text += len;
    }
    return csv_fini(parser, on_cell, on_row, reading) == 0;
}

enum rc import_csv_read(const char *path, const char *text, struct import_csv *ret_csv,
                        struct err *err)
{
    struct csv_parser parser;
    struct import_csv csv = {0};
    struct reading reading = {.csv = &csv, .line = 1};
    /* Excel and SSMS write a byte order mark, which would become part of the first column's
     * name. */
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        abort(); /* only for options that do not exist */
    bool good = parse(&parser, text, &reading);
    csv_free(&parser);
    if (good && csv.count > 0) {
        *ret_csv = csv;
        return RC_OK;
    }
    import_csv_done(&csv);
    return err_set(err, RC_REJECT, ERR_USAGE, path,
                   good ? "Name the columns in the first line."
                        : "Put a value with a quote in it in quotes, and double the quote.",
                   good ? "it is empty" : "it is not CSV from line %d on", reading.line);
}

void import_csv_done(struct import_csv *csv)
{
    for (int i = 0; i < csv->count; i++) {
        for (int n = 0; n < csv->rows[i].count; n++)
            free(csv->rows[i].cells[n]);
        free(csv->rows[i].cells);
    }
    free(csv->rows);
    *csv = (struct import_csv){0};
}

int import_csv_column(const struct import_csv *csv, const char *name)
{
    for (int i = 0; i < csv->rows[0].count; i++)
        if (ascii_same(csv->rows[0].cells[i], name))
            return i;
    return -1;
}

const char *import_csv_cell(const struct import_csv *csv, int row, int column)
{
    const struct import_csv_row *cells = &csv->rows[row];
    const char *text = column >= 0 && column < cells->count ? cells->cells[column] : "";
    return strcmp(text, "NULL") == 0 ? "" : text;
}

/* CSV as RFC 4180 has it, read by libcsv. Begin with csv_next(). The parser is fed line by line,
 * because it calls back for every row of its input, and a row must be handed out before the next
 * one begins. */
#include "base/str.h"
#include "producer/columns.h"
#include "producer/staged_reader.h"
#include "task/message.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

struct csv {
    struct source *source;
    struct csv_parser parser;
    struct columns columns; /* count 0: the header is not read yet */
    int64_t line;           /* where the parser is */
    int64_t row_line;       /* where the row began that is being read */
    size_t row_bytes;       /* fed of it */
    bool row_done, row_empty, after_cr;
    bool over;        /* nothing more comes */
    struct str cells; /* the values of the row, one behind the other */
    size_t *ends;     /* where each ends in cells */
    int count, room;
    struct str task;
};

/** Only commas and quotes mean something: spaces belong to the value (RFC 4180, section 2). */
static int no_space(unsigned char byte)
{
    (void)byte;
    return 0;
}

static void on_cell(void *cell, size_t len, void *context)
{
    struct csv *csv = context;
    if (csv->count == csv->room) {
        csv->room = csv->room > 0 ? 2 * csv->room : 16;
        csv->ends = xrealloc(csv->ends, (size_t)csv->room, sizeof *csv->ends);
    }
    str_add(&csv->cells, cell, len);
    csv->ends[csv->count++] = csv->cells.len;
}

static void on_row(int end, void *context)
{
    struct csv *csv = context;
    (void)end; /* CSV_REPALL_NL reports an empty line, too, as a row without a cell */
    csv->row_done = csv->count > 0;
    csv->row_empty = csv->count == 0;
}

static enum rc stop(struct csv *csv, struct staged_text *ret_text, const char *hint,
                    const char *message, struct err *err)
{
    csv->over = true;
    ret_text->line = csv->row_line;
    return err_set(err, RC_REJECT, ERR_USAGE, "", hint, "%s", message);
}

/** CR LF is one line break, also when two feeds separate its bytes. */
static void count_line(struct csv *csv, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n' ? !csv->after_cr : bytes[i] == '\r')
            csv->line++;
        csv->after_cr = bytes[i] == '\r';
    }
}

/** Feeds the parser up to a line break, or up to the end of the bytes that are read. RC_NONE: more
 * must be read. */
static enum rc feed(struct csv *csv, struct staged_text *ret_text, struct err *err)
{
    size_t len;
    const char *bytes = source_bytes(csv->source, &len);
    size_t n = 0;
    while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
        n++;
    n += n < len;
    if (n == 0)
        return RC_NONE;
    if (csv->row_bytes == 0)
        csv->row_line = csv->line;
    /* A quote that is never closed would make the rest of the file one value: the bound ends that.
     */
    csv->row_bytes += n;
    if (csv->row_bytes > MESSAGE_MAX_BYTES)
        return stop(csv, ret_text,
                    "is a quote not closed? keep large data in a table and pass its key",
                    "The row that begins here is longer than a message may be.", err);
    if (csv_parse(&csv->parser, bytes, n, on_cell, on_row, csv) != n)
        return stop(csv, ret_text,
                    "a value with a quote in it must be in quotes, and the quote is doubled",
                    "The row is not CSV: there is a quote where none may be.", err);
    count_line(csv, bytes, n);
    source_take(csv->source, n);
    if (csv->row_empty)
        csv->row_bytes = 0;
    csv->row_empty = false;
    return RC_OK;
}

/** The last row may come without a line break. RC_NONE: there was none. */
static enum rc finish(struct csv *csv, struct staged_text *ret_text, struct err *err)
{
    csv->over = true;
    if (csv_fini(&csv->parser, on_cell, on_row, csv) != 0)
        return stop(csv, ret_text, "close the quote", "A quote is opened and never closed.", err);
    return csv->count > 0 ? RC_OK : RC_NONE;
}

static enum rc next_row(struct csv *csv, int timeout_ms, struct staged_text *ret_text,
                        struct err *err)
{
    while (!csv->row_done) {
        if (csv->over)
            return RC_NONE;
        enum rc rc = feed(csv, ret_text, err);
        if (rc == RC_NONE)
            rc = source_more(csv->source, timeout_ms, err);
        if (rc == RC_NONE) {
            rc = finish(csv, ret_text, err);
            if (rc != RC_OK)
                return rc;
            csv->row_done = true;
        }
        if (rc != RC_OK)
            return rc;
    }
    ret_text->line = csv->row_line;
    return RC_OK;
}

static void values_of(const struct csv *csv, struct column_value *values)
{
    size_t start = 0;
    for (int i = 0; i < csv->count && i < COLUMNS_MAX; i++) {
        values[i] = (struct column_value){csv->cells.data + start, csv->ends[i] - start};
        start = csv->ends[i];
    }
}

static void forget_row(struct csv *csv)
{
    csv->row_done = false;
    csv->row_bytes = 0;
    csv->count = 0;
    str_clear(&csv->cells);
    str_clear(&csv->task);
}

static enum rc read_header(struct csv *csv, struct err *err)
{
    struct column_value names[COLUMNS_MAX] = {0};
    values_of(csv, names);
    int count = csv->count < COLUMNS_MAX ? csv->count : COLUMNS_MAX;
    enum rc rc = columns_header(names, count, &csv->columns, err);
    csv->over = rc != RC_OK; /* without a header no row means anything */
    return rc;
}

static enum rc csv_next(void *state, int timeout_ms, struct staged_text *ret_text, struct err *err)
{
    struct csv *csv = state;
    if (csv->row_done)
        forget_row(csv);
    if (csv->columns.count == 0) {
        enum rc rc = next_row(csv, timeout_ms, ret_text, err);
        if (rc != RC_OK)
            return rc;
        rc = read_header(csv, err);
        forget_row(csv);
        if (rc != RC_OK)
            return rc;
    }
    enum rc rc = next_row(csv, timeout_ms, ret_text, err);
    if (rc != RC_OK)
        return rc;
    struct column_value values[COLUMNS_MAX] = {0};
    values_of(csv, values);
    rc = columns_row(&csv->columns, values, csv->count, &csv->task, err);
    ret_text->text = csv->task.data;
    ret_text->len = csv->task.len;
    return rc;
}

static void csv_close(void *state)
{
    struct csv *csv = state;
    csv_free(&csv->parser);
    str_done(&csv->cells);
    str_done(&csv->task);
    free(csv->ends);
    free(csv);
}

void staged_csv(struct source *source, struct staged_reader *ret_reader)
{
    struct csv *csv = xcalloc(1, sizeof *csv);
    csv->source = source;
    csv->line = 1;
    if (csv_init(&csv->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
        abort(); /* only for options that do not exist */
    csv_set_space_func(&csv->parser, no_space);
    csv_set_blk_size(&csv->parser, 65536); /* its buffer grows by this; the default is 128 bytes */
    *ret_reader = (struct staged_reader){csv_next, csv_close, csv};
}

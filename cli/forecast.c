/* The drawing below schedule forecast: a line a job, a digit for how many times fall into a column.
 * The database decides which column a time belongs to (job_cells), because days have 23 to 25 hours
 * in the session's time zone.
 *
 * The drawing is left out where the terminal is too narrow for it: the list above it has all
 * times. */
#include "cli/forecast.h"

#include "cli/drawing.h"
#include "cli/width.h"

#include "base/memory.h"
#include "base/str.h"
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES  40
#define LEAST_CELLS 8
#define MOST_LABEL  24

/* The first rows of jobs that are drawn, a line each. */
struct lines {
    int first[MOST_LINES], count, others; /* others: rows of jobs that are not drawn */
    bool crowded;                         /* a cell has more than a digit says */
};

static bool is_same(const struct db_result *times, int row, int other)
{
    return strcmp(db_text(times, row, JOB_FORECAST_JOB), db_text(times, other, JOB_FORECAST_JOB)) ==
           0;
}

static void add_row(struct lines *lines, const struct db_result *times, int row)
{
    for (int i = 0; i < lines->count; i++)
        if (is_same(times, lines->first[i], row))
            return;
    if (lines->count < MOST_LINES)
        lines->first[lines->count++] = row;
    else
        lines->others++;
}

/* As wide as the longest name of a job, within `most`. */
static int label_width(const struct db_result *times, int most)
{
    int widest = 1;
    for (int row = 0; row < db_rows(times); row++) {
        int width = width_of(db_text(times, row, JOB_FORECAST_JOB));
        widest = width > widest ? width : widest;
    }
    return widest < most ? widest : most;
}

static void draw_label(const char *job, int width)
{
    STR_AUTO label = {0};
    width_cut(&label, job, width, drawing_unicode() ? "…" : "~");
    (void)printf("%s%*s ", label.data, width - width_of(label.data), "");
}

/* The line of the job of this row. */
static void draw_line(const struct db_result *times, const struct db_result *cells, int first,
                      int columns, int *counts, bool *crowded)
{
    const char *none = drawing_unicode() ? "·" : ".";
    memset(counts, 0, (size_t)columns * sizeof *counts);
    for (int row = first; row < db_rows(times); row++)
        if (is_same(times, first, row))
            counts[db_int(cells, row, JOB_CELLS_CELL)]++;
    for (int column = 0; column < columns; column++)
        if (counts[column] == 0)
            (void)fputs(none, stdout);
        else if (counts[column] >= 10)
            /* Sets the flag and prints in one expression; the legend explains the sign then. */
            *crowded = putchar('+') != EOF;
        else
            (void)putchar('0' + counts[column]);
    (void)putchar('\n');
}

static void draw(const struct db_result *times, const struct db_result *cells, int label)
{
    struct lines lines = {0};
    int columns = 1;
    for (int row = 0; row < db_rows(cells); row++) {
        int cell = (int)db_int(cells, row, JOB_CELLS_CELL);
        columns = cell >= columns ? cell + 1 : columns;
    }
    FREE_AUTO int *counts = xcalloc((size_t)columns, sizeof *counts);
    (void)putchar('\n');
    for (int row = 0; row < db_rows(times); row++)
        add_row(&lines, times, row);
    for (int i = 0; i < lines.count; i++) {
        draw_label(db_text(times, lines.first[i], JOB_FORECAST_JOB), label);
        draw_line(times, cells, lines.first[i], columns, counts, &lines.crowded);
    }
    if (lines.others > 0)
        (void)printf("%d times of other jobs are not drawn\n", lines.others);
    (void)printf("from %s on\n", db_text(cells, 0, JOB_CELLS_START));
    (void)printf("a column is %s\n", db_text(cells, 0, JOB_CELLS_LENGTH));
    if (lines.crowded)
        (void)printf("+ is 10 or more\n");
}

enum rc forecast_draw(struct cli *cli, const struct db_result *times, struct err *err)
{
    DB_RESULT_AUTO *cells = NULL;
    int width = drawing_width();
    int label = label_width(times, width / 3 < MOST_LABEL ? width / 3 : MOST_LABEL);
    int columns = width - label - 1;
    /* One time needs no drawing, and fewer columns show nothing. */
    if (db_rows(times) < 2 || columns < LEAST_CELLS)
        return RC_OK;
    STR_AUTO list = {0};
    db_array_start(&list);
    for (int row = 0; row < db_rows(times); row++)
        db_array_text(&list, db_text(times, row, JOB_FORECAST_AT),
                      (size_t)db_length(times, row, JOB_FORECAST_AT));
    db_array_end(&list);
    enum rc rc = db_run(cli->db, &sql_job_cells, (const char *const[]){list.data, DB_INT(columns)},
                        &cells, err);
    if (rc == RC_OK && db_rows(cells) == db_rows(times))
        draw(times, cells, label);
    return rc;
}

/* The table for people. Rows are collected; then cells get their short form, columns get widths
 * that fit the terminal, and rows are printed. Lengths are columns of the terminal (cli/width.c),
 * never bytes. cli/table.c chooses between this and the formats for programs.
 *
 * Three steps, and their order matters: shorten (a time, an id and an interval get their short
 * form), measure and fit (cli/fit.c decides which columns give way), then print with cuts. Widths
 * are decided by the short forms, so these come first. */
#include "cli/drawing.h"

#include "cli/fit.h"
#include "cli/short.h"
#include "cli/width.h"

#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct drawing {
    FILE *out;
    struct table_style style;
    bool record, headed, settled, days; /* days: a time of another year is its date alone */
    int count, rows, screen; /* columns of the table, rows in hand, columns of the terminal */
    struct column *columns;
    int *order, shown; /* the columns that are drawn, from the left; how many */
    char *const *names;
    char *zone;   /* of the times, as the heads name it; NULL: no head does */
    char **cells; /* as they came; NULL for NULL */
};

int drawing_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int64_t number;
    /* A narrower terminal counts as none: 80 columns wrap there, but less than 40 cannot be
     * read. */
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    if (columns != NULL && int64_parse(columns, strlen(columns), &number) && number >= 40 &&
        number <= 500)
        return (int)number;
    return 80;
}

bool drawing_unicode(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Three dots where the terminal does not take UTF-8: it would show three wrong characters. */
static const char *ellipsis(void)
{
    return drawing_unicode() ? "…" : "...";
}

static const char *color_of(const char *status)
{
    static const struct {
        const char *status, *color;
    } colors[] = {{"Completed", "32"},  {"ok", "32"},         {"Failed", "31"},
                  {"FAIL", "31"},       {"Terminated", "31"}, {"Error", "33"},
                  {"warn", "33"},       {"Paused", "33"},     {"Cancelled", "33"},
                  {"Processing", "36"}, {"Running", "36"},    {"Publishing", "36"},
                  {"Published", "36"}};
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++)
        if (strcmp(colors[i].status, status) == 0)
            return colors[i].color;
    return NULL;
}

/* The column of a name that begins a list "a,b?,c"; -1: none. */
static int column_named(char *const *names, int count, const char *list)
{
    size_t size = strcspn(list, "?,");
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == size && strncmp(list, names[i], size) == 0)
            return i;
    return -1;
}

/* The short form of a table has the columns that its list names, in that order. */
static void choose(struct drawing *drawing, const char *shorts)
{
    for (const char *at = shorts; *at != '\0'; at += *at == ',') {
        int column = column_named(drawing->names, drawing->count, at);
        at += strcspn(at, "?,");
        if (column >= 0) {
            drawing->order[drawing->shown++] = column;
            drawing->columns[column].may_go = *at == '?';
        }
        at += *at == '?';
    }
}

/* In the short form of a table "run_id" is "run", "started_at" is "started". */
static char *head_of(const struct drawing *drawing, const char *name)
{
    char *head = xstrdup(name);
    size_t len = strlen(head);
    if (!drawing->style.wide && !drawing->record && len > 3 &&
        (strcmp(head + len - 3, "_id") == 0 || strcmp(head + len - 3, "_at") == 0))
        head[len - 3] = '\0';
    return head;
}

struct drawing *drawing_new(FILE *out, const struct table_style *style, const char *types,
                            char *const *names, int columns, bool record)
{
    struct drawing *drawing = xcalloc(1, sizeof *drawing);
    *drawing = (struct drawing){.out = out,
                                .style = *style,
                                .record = record,
                                .count = columns,
                                .screen = drawing_width(),
                                .names = names};
    drawing->columns = xcalloc((size_t)columns, sizeof *drawing->columns);
    drawing->order = xcalloc((size_t)columns, sizeof *drawing->order);
    for (int i = 0; i < columns; i++)
        drawing->columns[i] = (struct column){.head = head_of(drawing, names[i]), .type = types[i]};
    if (!record && !style->wide && style->shorts != NULL)
        choose(drawing, style->shorts);
    else
        while (drawing->shown < columns) {
            drawing->order[drawing->shown] = drawing->shown;
            drawing->shown++;
        }
    return drawing;
}

/* Rows that are printed are of no more use: log --follow would grow without end. */
static void forget_rows(struct drawing *drawing)
{
    for (int i = 0; i < drawing->rows * drawing->count; i++)
        free(drawing->cells[i]);
    free(drawing->cells);
    drawing->cells = NULL;
    drawing->rows = 0;
}

void drawing_free(struct drawing *drawing)
{
    if (drawing == NULL)
        return;
    forget_rows(drawing);
    for (int i = 0; i < drawing->count; i++)
        free(drawing->columns[i].head);
    free(drawing->columns);
    free(drawing->order);
    free(drawing->zone);
    free(drawing);
}

void drawing_row(struct drawing *drawing, const char *const *cells)
{
    int at = drawing->rows++ * drawing->count;
    drawing->cells = xrealloc(drawing->cells, (size_t)(at + drawing->count), sizeof(char *));
    for (int i = 0; i < drawing->count; i++)
        drawing->cells[at + i] = cells[i] != NULL ? xstrdup(cells[i]) : NULL;
}

/* Short times have no zone of their own: the heads of their columns name it ("started+02"), once
 * per table, before the first row is printed. */
static void name_zone(struct drawing *drawing)
{
    for (int i = 0; i < drawing->rows * drawing->count && drawing->zone == NULL; i++)
        if (drawing->columns[i % drawing->count].type == 'z' && drawing->cells[i] != NULL &&
            short_zone(drawing->cells[i]) != NULL)
            drawing->zone = xstrdup(short_zone(drawing->cells[i]));
    for (int i = 0; i < drawing->count && drawing->zone != NULL; i++) {
        STR_AUTO head = {0};
        if (drawing->columns[i].type != 'z')
            continue;
        str_text(&head, drawing->columns[i].head);
        str_text(&head, drawing->zone);
        free(drawing->columns[i].head);
        drawing->columns[i].head = xstrdup(head.data);
    }
}

/* A time on the other side of a change of the clock has another zone than the head says. */
static void add_time(const struct drawing *drawing, struct str *text, const char *cell)
{
    const char *zone = short_zone(cell);
    short_time(text, cell, (int64_t)time(NULL), drawing->days);
    if (zone != NULL && (drawing->zone == NULL || strcmp(zone, drawing->zone) != 0))
        str_text(text, zone);
}

/* Replaces cells by their short form. Only later, when widths are known, are they cut. id_length 0:
 * the table is wide and nothing is shortened. */
static void shorten(struct drawing *drawing, int column, int id_length)
{
    char type = drawing->columns[column].type;
    for (int row = 0; row < drawing->rows; row++) {
        char **cell = &drawing->cells[row * drawing->count + column];
        struct str text = {0};
        if (*cell == NULL)
            continue;
        if (type == 'b')
            str_text(&text, **cell == 't' ? "yes" : "no");
        else if (type == 'z' && id_length > 0)
            add_time(drawing, &text, *cell);
        else if (type == 'd' && id_length > 0)
            short_interval(&text, *cell);
        else if (type == 'u' && id_length > 0)
            str_add(&text, *cell, strnlen(*cell, (size_t)id_length));
        else
            width_clean(&text, *cell, false);
        free(*cell);
        *cell = text.data != NULL ? text.data : xstrdup("");
    }
}

static void shorten_all(struct drawing *drawing)
{
    FREE_AUTO const char **ids = xcalloc((size_t)(drawing->rows * drawing->count) + 1, sizeof *ids);
    int known = 0;
    for (int i = 0; i < drawing->rows * drawing->count; i++)
        if (drawing->columns[i % drawing->count].type == 'u')
            ids[known++] = drawing->cells[i];
    /* One length for all ids of the table, so that equal ids look equal in different columns. */
    int id_length = drawing->style.wide ? 0 : short_id(ids, known);
    if (!drawing->style.wide && !drawing->headed)
        name_zone(drawing);
    for (int i = 0; i < drawing->count; i++)
        shorten(drawing, i, id_length);
}

/* A column without a value in any row is left out of the short form; so is a count that may go when
 * it is 0 in each row. */
static bool is_empty(const struct drawing *drawing, int column)
{
    for (int row = 0; row < drawing->rows; row++) {
        const char *cell = drawing->cells[row * drawing->count + column];
        if (cell != NULL && !(drawing->columns[column].may_go && strcmp(cell, "0") == 0))
            return false;
    }
    return true;
}

static void leave_out_empty(struct drawing *drawing)
{
    int kept = 0;
    for (int i = 0; i < drawing->shown; i++)
        if (!is_empty(drawing, drawing->order[i]))
            drawing->order[kept++] = drawing->order[i];
    drawing->shown = kept;
}

/* whole: as wide as the widest cell, or the head. */
static void measure(struct drawing *drawing, int at)
{
    struct column *column = &drawing->columns[at];
    column->whole = column->head_width = width_of(column->head);
    for (int row = 0; row < drawing->rows; row++) {
        const char *cell = drawing->cells[row * drawing->count + at];
        int width = cell != NULL ? width_of(cell) : 0;
        column->whole = width > column->whole ? width : column->whole;
    }
}

/* Times of other years give their hours. */
static void give_hours(struct drawing *drawing)
{
    drawing->days = true;
    for (int i = 0; i < drawing->rows * drawing->count; i++)
        if (drawing->columns[i % drawing->count].type == 'z' && drawing->cells[i] != NULL)
            short_day(drawing->cells[i]);
}

static bool lay_out(struct drawing *drawing, bool rest, enum fit_limit limit)
{
    const struct fit fit = {.columns = drawing->columns,
                            .order = drawing->order,
                            .count = drawing->shown,
                            .screen = drawing->style.wide ? INT_MAX : drawing->screen,
                            .rest = rest && !drawing->style.wide};
    for (int i = 0; i < drawing->shown; i++)
        measure(drawing, drawing->order[i]);
    return fit_columns(&fit, limit);
}

/* Decides the columns and their widths, once: rows that come later (log --follow) keep them. */
static void settle(struct drawing *drawing, bool more)
{
    bool rest = more || drawing->style.wrap; /* the last column takes what is left of the line */
    /* With more rows to come an empty column may get a value later. */
    if (drawing->style.shorts != NULL && !drawing->style.wide && !more)
        leave_out_empty(drawing);
    drawing->settled = true;
    if (drawing->shown == 0 || lay_out(drawing, rest, FIT_TEXTS))
        return;
    give_hours(drawing);
    (void)lay_out(drawing, rest, FIT_ALL);
}

static void pad(FILE *out, int columns)
{
    (void)fprintf(out, "%*s", columns > 0 ? columns : 0, "");
}

static void put_cell(const struct drawing *drawing, const struct column *column, const char *cell,
                     bool head, bool last)
{
    STR_AUTO text = {0};
    if (drawing->style.wide)
        str_text(&text, cell);
    else if (column->type == 'i' && !head)
        short_number(&text, cell, column->width);
    else
        width_cut(&text, cell, column->width, column->width > 4 ? ellipsis() : "");
    const char *shown = text.data != NULL ? text.data : "";
    const char *color =
        !head && column->type == 's' && drawing->style.color ? color_of(cell) : NULL;
    int room = column->width - width_of(shown);
    if (column->type == 'i')
        pad(drawing->out, room);
    if (color != NULL)
        (void)fprintf(drawing->out, "\033[%sm%s\033[0m", color, shown);
    else
        (void)fputs(shown, drawing->out);
    if (column->type != 'i' && !last)
        pad(drawing->out, room);
}

/* How much of text is a line of so many columns: up to a blank, if there is one. */
static size_t line_of(const char *text, int columns)
{
    size_t len = width_fit(text, columns), blank = len;
    if (text[len] == '\0')
        return len;
    while (blank > 0 && text[blank] != ' ')
        blank--;
    return blank > 0 ? blank : len;
}

/* The last cell of a table that wraps, over as many lines as it needs. */
static void put_wrapped(const struct drawing *drawing, const char *cell, int width, int before)
{
    for (bool first = true; first || *cell != '\0'; first = false) {
        STR_AUTO line = {0};
        size_t len = line_of(cell, width);
        str_add(&line, cell, len);
        if (!first) {
            (void)fputc('\n', drawing->out);
            pad(drawing->out, before);
        }
        (void)fputs(line.len > 0 ? line.data : "", drawing->out);
        cell += len;
        cell += *cell == ' ';
    }
}

static void put_row(const struct drawing *drawing, char *const *cells, bool head)
{
    int before = 0;
    for (int i = 0; i < drawing->shown; i++) {
        const struct column *column = &drawing->columns[drawing->order[i]];
        const char *own = head ? column->head : cells[drawing->order[i]];
        const char *cell = own != NULL ? own : "";
        bool last = i == drawing->shown - 1;
        if (i > 0)
            (void)fputc(' ', drawing->out);
        if (last && drawing->style.wrap && !drawing->style.wide)
            put_wrapped(drawing, cell, column->width, before);
        else
            put_cell(drawing, column, cell, head, last);
        before += column->width + 1;
    }
    (void)fputc('\n', drawing->out);
}

/* A value of a record: its lines below each other; on a terminal what is longer continues in the
 * next line. */
static void put_value(const struct drawing *drawing, char type, const char *value, int before)
{
    STR_AUTO text = {0};
    const char *color = type == 's' && drawing->style.color ? color_of(value) : NULL;
    width_clean(&text, type == 'b' ? (*value == 't' ? "yes" : "no") : value, true);
    const char *at = text.data != NULL ? text.data : "";
    /* In a file or a pipe a long value stays one line, so that it can be searched. */
    int room = isatty(fileno(drawing->out)) && !drawing->style.wide && drawing->screen > before + 20
                   ? drawing->screen - before
                   : 1 << 30;
    /* A line of the value is copied once, however many lines of the screen it takes. */
    for (bool first = true; first || *at != '\0'; at += *at == '\n') {
        STR_AUTO whole = {0};
        str_add(&whole, at, strcspn(at, "\n"));
        at += whole.len;
        const char *line = whole.data != NULL ? whole.data : "";
        do {
            size_t len = width_fit(line, room);
            if (!first)
                pad(drawing->out, before);
            (void)fprintf(drawing->out, "%s%s%s%.*s%s\n", color ? "\033[" : "", color ? color : "",
                          color ? "m" : "", (int)len, line, color ? "\033[0m" : "");
            first = false;
            line += len;
        } while (*line != '\0');
    }
}

/* Of many records each prints only the fields that have a value; a single record prints all
 * fields. */
static void print_records(const struct drawing *drawing)
{
    int before = 0;
    for (int i = 0; i < drawing->count; i++) {
        int width = width_of(drawing->names[i]) + 1;
        before = width > before ? width : before;
    }
    for (int row = 0; row < drawing->rows; row++) {
        if (row > 0)
            (void)fputc('\n', drawing->out);
        for (int i = 0; i < drawing->count; i++) {
            const char *cell = drawing->cells[row * drawing->count + i];
            if (cell == NULL && drawing->style.blocks)
                continue;
            (void)fputs(drawing->names[i], drawing->out);
            if (cell != NULL && *cell != '\0') {
                pad(drawing->out, before - width_of(drawing->names[i]));
                put_value(drawing, drawing->columns[i].type, cell, before);
            } else {
                (void)fputc('\n', drawing->out);
            }
        }
    }
}

void drawing_print(struct drawing *drawing, bool more)
{
    if (drawing->record) {
        print_records(drawing);
    } else if (drawing->rows > 0) {
        shorten_all(drawing);
        if (!drawing->settled)
            settle(drawing, more);
        if (!drawing->headed)
            put_row(drawing, NULL, true);
        drawing->headed = true;
        for (int row = 0; row < drawing->rows; row++)
            put_row(drawing, drawing->cells + (ptrdiff_t)row * drawing->count, false);
    }
    forget_rows(drawing);
}

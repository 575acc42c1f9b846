/* The drawing below run show: a line a phase, a shade for how many of its tasks ran at a time. The
 * statement run_gantt samples the times into columns, so a run of a million tasks sends some
 * thousand rows. cli/picture.c and its neighbours make the picture for files.
 *
 * The phases come from the caller's table, so both have the same ones; of more than MOST_LINES the
 * middle is left out of the drawing. */
#include "cli/gantt.h"

#include "cli/drawing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES  60 /* even: half of them at each end */
#define LEAST_CELLS 20

bool gantt_blocks(const struct cli *cli)
{
    return !cli_has(cli, "ascii") && drawing_unicode();
}

static double most_running(const struct db_result *cells)
{
    double most = 1;
    for (int row = 0; row < db_rows(cells); row++)
        most = db_double(cells, row, RUN_GANTT_RUNNING) > most
                   ? db_double(cells, row, RUN_GANTT_RUNNING)
                   : most;
    return most;
}

/* One of five shades. A cell in which anything ran is never blank. */
static const char *shade(double running, double most, bool blocks)
{
    static const char *const dark[] = {" ", "░", "▒", "▓", "█"};
    static const char *const plain[] = {" ", ".", "-", "+", "#"};
    int level = running <= 0 ? 0 : 1 + (int)(running / most * 3.999);
    if (level > 4)
        level = 4;
    return blocks ? dark[level] : plain[level];
}

/* The cells are sorted by order and column and leave out those in which nothing ran, so one index
 * walks through them for all lines. */
static void draw_line(const struct db_result *cells, int *row, const char *order, int columns,
                      double most, bool blocks)
{
    for (int column = 0; column < columns; column++) {
        double running = 0;
        if (*row < db_rows(cells) && strcmp(db_text(cells, *row, RUN_GANTT_ORDER), order) == 0 &&
            db_int(cells, *row, RUN_GANTT_CELL) == column)
            running = db_double(cells, (*row)++, RUN_GANTT_RUNNING);
        (void)fputs(shade(running, most, blocks), stdout);
    }
}

static void draw(const struct db_result *phases, const struct db_result *cells, int columns,
                 int left, bool blocks)
{
    int lines = db_rows(phases), row = 0;
    double most = most_running(cells);
    const char *bar = blocks ? "│" : "|";
    for (int line = 0; line < lines; line++) {
        const char *order = db_text(phases, line, RUN_PHASES_ORDER);
        /* The gap takes a line itself. The cells of the phases in it were not read: run_gantt gets
         * MOST_LINES. */
        if (lines > MOST_LINES && line == MOST_LINES / 2) {
            (void)printf("%*s %s %d phases are not drawn\n", left, "...", bar, lines - MOST_LINES);
            line = lines - MOST_LINES / 2;
            order = db_text(phases, line, RUN_PHASES_ORDER);
        }
        while (row < db_rows(cells) &&
               db_int(cells, row, RUN_GANTT_ORDER) < db_int(phases, line, RUN_PHASES_ORDER))
            row++;
        (void)printf("%*s %s", left, order, bar);
        draw_line(cells, &row, order, columns, most, blocks);
        (void)printf("%s %s\n", bar, db_text(phases, line, RUN_PHASES_TASKS));
    }
    (void)printf("%*s  each column %.3g s; darkest: %.3g tasks at once\n", left, "",
                 db_double(cells, 0, RUN_GANTT_MAKESPAN) / columns, most);
    (void)printf("%*s  makespan %.3f s\n", left, "", db_double(cells, 0, RUN_GANTT_MAKESPAN));
}

enum rc gantt_print(struct cli *cli, int64_t run_no, const struct db_result *phases,
                    struct err *err)
{
    size_t left = 5, right = 1;
    for (int row = 0; row < db_rows(phases); row++) {
        size_t order = strlen(db_text(phases, row, RUN_PHASES_ORDER)),
               tasks = strlen(db_text(phases, row, RUN_PHASES_TASKS));
        left = order > left ? order : left;
        right = tasks > right ? tasks : right;
    }
    int columns = drawing_width() - (int)(left + right) - 4;
    if (columns < LEAST_CELLS)
        columns = LEAST_CELLS;
    DB_RESULT_AUTO *cells = NULL;
    enum rc rc = db_run(cli->db, &sql_run_gantt,
                        (const char *const[]){DB_INT(run_no), DB_INT(columns), DB_INT(MOST_LINES)},
                        &cells, err);
    if (rc != RC_OK || db_rows(cells) == 0)
        return rc;
    (void)printf("\n%*s\n", (int)left, "order");
    draw(phases, cells, columns, (int)left, gantt_blocks(cli));
    return table_check(stdout, err);
}

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/gantt.h"
#include "cli/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOK_EVERY_MS 150
#define MOST_PHASES   30
#define BAR_CELLS     24

struct watch {
    struct cli *cli;
    struct run_row run;
    bool live;
    int drawn;       /* lines on the terminal that belong to us */
    struct str last; /* plain: what was said last */
};

static void add_bar(struct str *out, int64_t done, int64_t total, bool blocks)
{
    int full = total > 0 ? (int)(done * BAR_CELLS / total) : 0;
    for (int i = 0; i < BAR_CELLS; i++)
        str_text(out, i < full ? (blocks ? "█" : "#") : (blocks ? "░" : "."));
}

/* "  200  [####....]  1/2  3.2 s  1 running, 1 failed": columns of run_phases. */
static void add_phase(struct watch *watch, struct str *out, const struct db_result *phases, int row,
                      bool times)
{
    int64_t tasks = db_int(phases, row, 2), finished = db_int(phases, row, 3);
    str_format(out, "%8s  ", db_text(phases, row, 0));
    if (times)
        add_bar(out, finished, tasks, gantt_blocks(watch->cli));
    str_format(out, "%s%lld/%lld", times ? "  " : "", (long long)finished, (long long)tasks);
    if (times && !db_null(phases, row, 12))
        str_format(out, "  %.1f s", db_double(phases, row, 12));
    str_format(out, "  %s", db_text(phases, row, 9));
    static const struct {
        int column;
        const char *word;
    } counts[] = {{4, "running"}, {6, "failed"}, {7, "cancelled"}, {8, "to be retried"}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (db_int(phases, row, counts[i].column) > 0)
            str_format(out, ", %s %s", db_text(phases, row, counts[i].column), counts[i].word);
}

/* As many phases as the terminal has room for: what scrolled away cannot be drawn again. */
static int most_phases(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 5 &&
        size.ws_row - 3 < MOST_PHASES)
        return size.ws_row - 3;
    return MOST_PHASES;
}

/* The phases around the open one are what people want to see. */
static int first_shown(const struct db_result *phases, int most)
{
    int rows = db_rows(phases), open = 0;
    while (open < rows - 1 && strcmp(db_text(phases, open, 9), "done") == 0)
        open++;
    int first = open > most / 2 ? open - most / 2 : 0;
    return rows - first < most && rows > most ? rows - most : first;
}

static void draw_live(struct watch *watch, const struct db_result *progress,
                      const struct db_result *phases)
{
    STR_AUTO out = {0};
    if (watch->drawn > 0)
        str_format(&out, "\033[%dA", watch->drawn);
    watch->drawn = 1;
    str_format(&out, "\r\033[Krun %s  %s  %.1f s\n", watch->run.run_id, db_text(progress, 0, 0),
               db_double(progress, 0, 6));
    int most = most_phases(), first = first_shown(phases, most);
    for (int row = first; row < db_rows(phases) && row < first + most; row++) {
        str_text(&out, "\033[K");
        add_phase(watch, &out, phases, row, true);
        str_text(&out, "\n");
        watch->drawn++;
    }
    str_text(&out, "\033[J");
    (void)fputs(out.data, stdout);
}

/* One line for each phase whose counts changed since they were told. */
static void tell_plain(struct watch *watch, const struct db_result *progress,
                       const struct db_result *phases)
{
    STR_AUTO now = {0};
    for (int row = 0; row < db_rows(phases); row++) {
        STR_AUTO line = {0};
        add_phase(watch, &line, phases, row, false);
        str_text(&line, "\n");
        str_text(&now, line.data);
        if (watch->last.data == NULL || strstr(watch->last.data, line.data) == NULL)
            (void)fputs(line.data, stdout);
    }
    STR_AUTO status = {0};
    str_format(&status, "run %s  %s", watch->run.run_id, db_text(progress, 0, 0));
    if (watch->last.data == NULL || strstr(watch->last.data, status.data) == NULL)
        (void)printf("%s  %.1f s\n", status.data, db_double(progress, 0, 6));
    str_text(&now, status.data);
    str_clear(&watch->last);
    str_text(&watch->last, now.data);
}

/* Looks once and shows. *ret_ended: nothing more will come. */
static enum rc look(struct watch *watch, bool *ret_ended, struct err *err)
{
    DB_RESULT_AUTO *progress = NULL;
    DB_RESULT_AUTO *phases = NULL;
    const char *params[] = {DB_INT(watch->run.run_no)};
    enum rc rc = db_run(watch->cli->db, &sql_run_progress, params, &progress, err);
    if (rc == RC_OK)
        rc = db_run(watch->cli->db, &sql_run_phases, params, &phases, err);
    /* An end that is told must still be true after a crash. What a standby shows is on the primary's disk. */
    if (rc == RC_OK && db_bool(progress, 0, 1) && db_server(watch->cli->db)->timeline != 0)
        rc = db_run(watch->cli->db, &sql_session_flush, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    if (watch->live)
        draw_live(watch, progress, phases);
    else
        tell_plain(watch, progress, phases);
    rc = table_check(stdout, err);
    *ret_ended = db_bool(progress, 0, 1) || rc == RC_NONE;
    if (!db_bool(progress, 0, 1) || rc == RC_FATAL ||
        strcmp(db_text(progress, 0, 0), "Completed") == 0)
        return rc;
    return err_set(err, RC_REJECT, ERR_FAILED, watch->run.run_id, "lockstep run show tells more.",
                   "the run ended: %s%s%s", db_text(progress, 0, 0),
                   db_null(progress, 0, 2) ? "" : ": ", db_text(progress, 0, 2));
}

enum rc command_run_watch(struct cli *cli, struct err *err)
{
    struct watch watch = {.cli = cli, .live = cli->output == OUTPUT_TABLE && isatty(STDOUT_FILENO)};
    bool ended = false;
    enum rc rc = find_run_argument(cli, &watch.run, err);
    if (rc == RC_OK)
        stop_catch();
    while (rc == RC_OK && !ended) {
        int64_t before = clock_boot_us();
        rc = look(&watch, &ended, err);
        int64_t took_ms = (clock_boot_us() - before) / 1000;
        if (rc != RC_OK || ended)
            break;
        if (stop_requested()) {
            rc = err_set(err, RC_REJECT, ERR_CANCELLED, watch.run.run_id, "The run goes on.",
                         "watching was interrupted");
            break;
        }
        stop_wait((int)(LOOK_EVERY_MS + 4 * took_ms)); /* large runs are counted more seldom */
    }
    str_done(&watch.last);
    return rc == RC_NONE ? RC_OK : rc;
}

/* run watch, and --wait of other commands: asks for the run every 150 ms and draws, on a terminal
 * over the last drawing, elsewhere a line for each change. The run does not depend on it:
 * interrupting it, or losing the session, changes nothing.
 *
 * Progress and phases are read in one snapshot, so they agree with each other. The exit code is 0
 * only for a run that is Completed. */
#include "cli/watch.h"
#include "base/clock.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "cli/commands.h"
#include "cli/drawing.h"
#include "cli/find.h"
#include "cli/gantt.h"
#include "cli/stop.h"
#include "cli/width.h"
#include "task/stalled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOW_EVERY_MS 150
#define MOST_PHASES   30
#define BAR_CELLS     24

#define RECONNECT_MS    60000 /* a restart or a fail-over of the server */
#define RECONNECT_EVERY 1000

struct watch {
    struct cli *cli;
    struct run_row run;
    bool live;
    int drawn;       /* lines on the terminal that belong to us */
    struct str last; /* plain: the lines that were printed last */
    struct stalled stalled;
};

/* What became of a finished task, and how its part of a bar is drawn. */
static const struct fate {
    int column; /* enum run_phases_columns */
    const char *block, *ascii, *color;
} fates[] = {{RUN_PHASES_COMPLETED, "█", "#", ""},
             {RUN_PHASES_FAILED, "×", "x", "\033[31m"},
             {RUN_PHASES_CANCELLED, "─", "-", "\033[33m"}};

/* A fate that has any task gets a cell at least. */
static void add_bar(const struct watch *watch, struct str *out, const struct db_result *phases,
                    int row)
{
    bool blocks = gantt_blocks(watch->cli), color = watch->live && watch->cli->color;
    int64_t total = db_int(phases, row, RUN_PHASES_TASKS);
    int drawn = 0;
    for (int i = 2; i >= 0; i--) { /* the rare ones first: they take their cell from the others */
        int64_t count = db_int(phases, row, fates[i].column);
        drawn += count > 0 && i > 0 && count * BAR_CELLS < total;
    }
    int cells = BAR_CELLS - drawn;
    drawn = 0;
    for (int i = 0; i < 3; i++) {
        int64_t count = db_int(phases, row, fates[i].column);
        int full = total > 0 ? (int)(count * cells / total) : 0;
        full = full == 0 && count > 0 && i > 0 ? 1 : full;
        if (full > 0 && color)
            str_text(out, fates[i].color);
        for (int k = 0; k < full && drawn < BAR_CELLS; k++, drawn++)
            str_text(out, blocks ? fates[i].block : fates[i].ascii);
        if (full > 0 && color && *fates[i].color != '\0')
            str_text(out, "\033[0m");
    }
    bool done = total > 0 && db_int(phases, row, RUN_PHASES_FINISHED) == total;
    for (; drawn < BAR_CELLS; drawn++)
        str_text(out, done ? (blocks ? fates[0].block : fates[0].ascii) : blocks ? "░" : ".");
}

/* "  200  [####....]  1/2+  3.2 s  1 running": columns of run_phases. The newest phase has
 * a plus until the end of the run is claimed: more of its tasks may be on the topic. */
static void add_phase(struct watch *watch, struct str *out, const struct db_result *progress,
                      const struct db_result *phases, int row, bool times)
{
    bool grows = row == db_rows(phases) - 1 && !db_bool(progress, 0, RUN_PROGRESS_COMPLETE) &&
                 !db_bool(progress, 0, RUN_PROGRESS_ENDED);
    int64_t tasks = db_int(phases, row, RUN_PHASES_TASKS),
            finished = db_int(phases, row, RUN_PHASES_FINISHED);
    str_format(out, "%8s  ", db_text(phases, row, RUN_PHASES_ORDER));
    if (times)
        add_bar(watch, out, phases, row);
    str_format(out, "%s%lld/%lld%s", times ? "  " : "", (long long)finished, (long long)tasks,
               grows ? "+" : "");
    if (times && !db_null(phases, row, RUN_PHASES_SECONDS))
        str_format(out, "  %.1f s", db_double(phases, row, RUN_PHASES_SECONDS));
    str_format(out, "  %s", db_text(phases, row, RUN_PHASES_STATE));
    static const struct {
        int column; /* enum run_phases_columns */
        const char *word;
    } counts[] = {{RUN_PHASES_PROCESSING, "running"},
                  {RUN_PHASES_FAILED, "failed"},
                  {RUN_PHASES_CANCELLED, "cancelled"},
                  {RUN_PHASES_ERROR, "to be retried"}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (db_int(phases, row, counts[i].column) > 0)
            str_format(out, ", %s %s", db_text(phases, row, counts[i].column), counts[i].word);
}

/* As many phases as the terminal has room for: a line that has scrolled away cannot be drawn
 * again. */
static int most_phases(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 5 &&
        size.ws_row - 3 < MOST_PHASES)
        return size.ws_row - 3;
    return MOST_PHASES;
}

/* Of many phases those around the open one are shown. */
static int first_shown(const struct db_result *phases, int most)
{
    int rows = db_rows(phases), open = 0;
    while (open < rows - 1 && db_word(phases, open, RUN_PHASES_STATE) == RUN_PHASES_IS_DONE)
        open++;
    int first = open > most / 2 ? open - most / 2 : 0;
    return rows - first < most && rows > most ? rows - most : first;
}

static int64_t finished_of(const struct db_result *phases)
{
    int64_t finished = 0;
    for (int row = 0; row < db_rows(phases); row++)
        finished += db_int(phases, row, RUN_PHASES_FINISHED);
    return finished;
}

/* "run 3f2a... "nightly" Running 188/1000 tasks"; the second number is there when it is known how
 * many tasks are published. */
static void add_head(const struct watch *watch, struct str *out, const struct db_result *progress,
                     const struct db_result *phases)
{
    str_format(out, "run %s", watch->run.run_id);
    if (!db_null(progress, 0, RUN_PROGRESS_NAME)) {
        str_text(out, " \"");
        width_clean(out, db_text(progress, 0, RUN_PROGRESS_NAME), false);
        str_text(out, "\"");
    }
    str_format(out, "  %s", db_text(progress, 0, RUN_PROGRESS_STATUS));
    if (!db_null(progress, 0, RUN_PROGRESS_PUBLISHED_TASKS))
        str_format(out, "  %lld/%s tasks", (long long)finished_of(phases),
                   db_text(progress, 0, RUN_PROGRESS_PUBLISHED_TASKS));
}

/* The rate so far and the time left, but not for a run that makes no progress or has just begun. */
static void add_rate(const struct watch *watch, struct str *out, const struct db_result *progress,
                     const struct db_result *phases)
{
    double seconds = db_null(progress, 0, RUN_PROGRESS_SECONDS)
                         ? 0
                         : db_double(progress, 0, RUN_PROGRESS_SECONDS);
    int64_t finished = finished_of(phases);
    str_format(out, "  %.1f s", seconds);
    if (db_bool(progress, 0, RUN_PROGRESS_ENDED) ||
        db_null(progress, 0, RUN_PROGRESS_PUBLISHED_TASKS) || finished == 0 || seconds < 1 ||
        watch->stalled.sentence[0] != '\0')
        return;
    double rate = (double)finished / seconds;
    double left = (double)(db_int(progress, 0, RUN_PROGRESS_PUBLISHED_TASKS) - finished);
    str_format(out, "  %.1f/s", rate);
    if (left > 0)
        str_format(out, "  about %.0f s left", left / rate);
}

/* As much of text as a line of the terminal takes: a line that wraps could not be drawn over. */
static void add_cut(struct str *out, const char *text)
{
    STR_AUTO clean = {0};
    width_clean(&clean, text, false);
    if (clean.len > 0)
        str_add(out, clean.data, width_fit(clean.data, drawing_width() - 1));
}

static void draw_live(struct watch *watch, const struct db_result *progress,
                      const struct db_result *phases)
{
    STR_AUTO out = {0};
    STR_AUTO head = {0};
    if (watch->drawn > 0)
        str_format(&out, "\033[%dA", watch->drawn);
    watch->drawn = 1;
    add_head(watch, &head, progress, phases);
    add_rate(watch, &head, progress, phases);
    str_text(&out, "\r\033[K");
    add_cut(&out, head.data);
    str_text(&out, "\n");
    if (watch->stalled.sentence[0] != '\0') {
        str_text(&out, "\033[K");
        add_cut(&out, watch->stalled.sentence);
        str_text(&out, "\n");
        watch->drawn++;
    }
    int most = most_phases() - watch->drawn + 1, first = first_shown(phases, most);
    for (int row = first; row < db_rows(phases) && row < first + most; row++) {
        str_text(&out, "\033[K");
        add_phase(watch, &out, progress, phases, row, true);
        str_text(&out, "\n");
        watch->drawn++;
    }
    str_text(&out, "\033[J");
    (void)fputs(out.data, stdout);
}

/* One line for each phase whose counts have changed since they were printed. A phase that is
 * finished behind an unfinished one (its tasks were cancelled for a failure) is printed after that
 * one. */
static void print_plain(struct watch *watch, const struct db_result *progress,
                        const struct db_result *phases)
{
    STR_AUTO now = {0};
    bool before_done = true;
    for (int row = 0; row < db_rows(phases); row++) {
        STR_AUTO line = {0};
        bool done = db_word(phases, row, RUN_PHASES_STATE) == RUN_PHASES_IS_DONE;
        if (done && !before_done && !db_bool(progress, 0, RUN_PROGRESS_ENDED))
            continue;
        before_done = before_done && done;
        add_phase(watch, &line, progress, phases, row, false);
        str_text(&line, "\n");
        str_text(&now, line.data);
        if (watch->last.data == NULL || strstr(watch->last.data, line.data) == NULL)
            (void)fputs(line.data, stdout);
    }
    STR_AUTO status = {0};
    STR_AUTO head = {0};
    str_format(&status, "run %s  %s", watch->run.run_id, db_text(progress, 0, RUN_PROGRESS_STATUS));
    add_head(watch, &head, progress, phases);
    if (watch->last.data == NULL || strstr(watch->last.data, status.data) == NULL)
        (void)printf("%s  %.1f s\n", head.data,
                     db_null(progress, 0, RUN_PROGRESS_SECONDS)
                         ? 0
                         : db_double(progress, 0, RUN_PROGRESS_SECONDS));
    str_text(&now, status.data);
    str_clear(&watch->last);
    str_text(&watch->last, now.data);
}

/* Why it makes no progress, if that is news. */
static enum rc show_stalled(struct watch *watch, struct err *err)
{
    enum rc rc = stalled_check(&watch->stalled, watch->cli->db, watch->run.run_no, err);
    if (rc == RC_OK && !watch->live) {
        width_print(stdout, watch->stalled.sentence, false);
        (void)printf("\n");
    }
    return rc == RC_NONE ? RC_OK : rc;
}

/* The run and its phases as they are at one moment: a run that is Published has no open phase. */
static enum rc read_run(const struct watch *watch, struct db_result **ret_progress,
                        struct db_result **ret_phases, struct err *err)
{
    struct db *db = watch->cli->db;
    const char *params[] = {DB_INT(watch->run.run_no)};
    enum rc rc = db_run(db, &sql_run_watch_begin, NULL, NULL, err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_run_progress, params, ret_progress, err);
    probe("watch.read");
    if (rc == RC_OK)
        rc = db_run(db, &sql_run_phases, params, ret_phases, err);
    return rc == RC_OK ? db_run(db, &sql_run_watch_end, NULL, NULL, err) : rc;
}

/* Checks once and shows. *ret_ended: nothing more will come. */
static enum rc show_once(struct watch *watch, bool *ret_ended, struct err *err)
{
    DB_RESULT_AUTO *progress = NULL;
    DB_RESULT_AUTO *phases = NULL;
    enum rc rc = read_run(watch, &progress, &phases, err);
    /* With synchronous_commit = off an end can be visible before it is durable. It is flushed
     * before it is reported, so that it is still true after a crash. A standby shows only commits
     * that are on the primary's disk. */
    if (rc == RC_OK && db_bool(progress, 0, RUN_PROGRESS_ENDED) &&
        db_server(watch->cli->db)->timeline != 0)
        rc = db_run(watch->cli->db, &sql_session_flush, NULL, NULL, err);
    if (rc == RC_OK && !db_bool(progress, 0, RUN_PROGRESS_ENDED))
        rc = show_stalled(watch, err);
    if (rc != RC_OK)
        return rc;
    if (watch->live)
        draw_live(watch, progress, phases);
    else
        print_plain(watch, progress, phases);
    rc = table_check(stdout, err);
    *ret_ended = db_bool(progress, 0, RUN_PROGRESS_ENDED) || rc == RC_NONE;
    if (!db_bool(progress, 0, RUN_PROGRESS_ENDED) || rc == RC_FATAL ||
        db_word(progress, 0, RUN_PROGRESS_STATUS) == RUN_PROGRESS_IS_COMPLETED)
        return rc;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_FAILED, watch->run.run_id);
    return err_set(err, RC_REJECT, ERR_FAILED, watch->run.run_id, hint, "the run ended: %s%s%s",
                   db_text(progress, 0, RUN_PROGRESS_STATUS),
                   db_null(progress, 0, RUN_PROGRESS_ERROR) ? "" : ": ",
                   db_text(progress, 0, RUN_PROGRESS_ERROR));
}

static enum rc interrupted(const struct watch *watch, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_CANCELLED, watch->run.run_id, "The run continues.",
                   "watching was interrupted");
}

/* The run does not need us, so a lost session is only a reason to ask again. */
static enum rc reconnect(struct watch *watch, struct err *err)
{
    cli_say(watch->cli, "lockstep: the connection is lost, trying again: %s\n", err->message);
    watch->drawn = 0;
    enum rc rc = cli_reconnect_within(watch->cli, RECONNECT_MS, RECONNECT_EVERY, err);
    return (rc == RC_LOST || rc == RC_RETRY) && stop_requested() ? interrupted(watch, err) : rc;
}

enum rc command_run_watch(struct cli *cli, struct err *err)
{
    struct run_row run;
    enum rc rc = find_run_argument(cli, &run, err);
    return rc == RC_OK ? watch_run(cli, &run, err) : rc;
}

enum rc watch_run(struct cli *cli, const struct run_row *run, struct err *err)
{
    struct watch watch = {
        .cli = cli, .run = *run, .live = cli->output == OUTPUT_TABLE && isatty(STDOUT_FILENO)};
    bool ended = false;
    enum rc rc = RC_OK;
    stop_catch();
    while (rc == RC_OK && !ended) {
        int64_t before = clock_boot_us();
        rc = show_once(&watch, &ended, err);
        if (rc == RC_LOST) {
            rc = reconnect(&watch, err);
            continue;
        }
        int64_t took_ms = (clock_boot_us() - before) / 1000;
        if (rc != RC_OK || ended)
            break;
        if (stop_requested()) {
            rc = interrupted(&watch, err);
            break;
        }
        stop_wait((int)(SHOW_EVERY_MS + 4 * took_ms)); /* large runs are counted more seldom */
    }
    str_done(&watch.last);
    return rc == RC_NONE ? RC_OK : rc;
}

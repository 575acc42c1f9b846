/* log: the event log, once or with --follow, and the execution log. Following asks again every 300
 * ms. The console's event stream (console/stream.c) solves the same problem of late numbers for
 * many readers.
 *
 * Without --follow it is one statement, and lines that become visible later are not waited for. */
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/stop.h"
#include "db/columns.h"

#include <stdio.h>
#include <string.h>

#define FOLLOW_EVERY_MS 300
#define EVENT_COLUMNS   "at,event,queue,run_id,order,task,actor,detail"
#define MOST_HOLES      1000 /* as many as log_holes answers */

/* A line of the log gets its number before its transaction commits, so numbers become visible out
 * of order. Everything up to `after` has been shown, but for the holes: numbers that were missing
 * and may yet come. */
struct reading {
    const char *queue, *event;
    struct run_row run;
    bool of_run;
    int64_t after;
    int64_t holes[2 * MOST_HOLES];
    int hole_count;
};

static enum rc read_events(struct cli *cli, const struct reading *reading, const char *holes,
                           const char *top, const char *limit, struct db_result **ret_result,
                           struct err *err)
{
    const char *params[] = {DB_INT(reading->after),
                            reading->of_run ? DB_INT(reading->run.run_no) : NULL,
                            reading->queue,
                            reading->event,
                            limit,
                            holes,
                            top};
    return db_run(cli->db, &sql_log_events, params, ret_result, err);
}

static void holes_text(const struct reading *reading, struct str *ret_text)
{
    db_array_start(ret_text);
    for (int i = 0; i < reading->hole_count; i++)
        db_array_int(ret_text, reading->holes[i]);
    db_array_end(ret_text);
}

/* "{9,7}": the newest first. Holes beyond the room are given up, the oldest first: their numbers
 * are the most likely to stay empty. */
static void add_holes(struct reading *reading, const char *text)
{
    int64_t all[2 * MOST_HOLES];
    int count = 0;
    for (const char *at = text + 1; *at >= '0' && *at <= '9' && count < MOST_HOLES;) {
        size_t len = strspn(at, "0123456789");
        if (!int64_parse(at, len, &all[count++]))
            break;
        at += len + (at[len] == ',');
    }
    for (int i = 0; i < reading->hole_count && count < MOST_HOLES; i++)
        all[count++] = reading->holes[i];
    memcpy(reading->holes, all, (size_t)count * sizeof *all);
    reading->hole_count = count;
}

/* An event has come: its number is asked for no more. The last hole takes its place, because the
 * order of the list does not matter to the statement. */
static void close_hole(struct reading *reading, int64_t id)
{
    for (int i = 0; i < reading->hole_count; i++)
        if (reading->holes[i] == id) {
            reading->holes[i] = reading->holes[--reading->hole_count];
            return;
        }
}

/* Reads the events since the last call. log_holes comes first: an event that becomes visible
 * between the two statements has a number above top, or is in a hole, so the next call finds it. */
static enum rc read_more(struct cli *cli, struct reading *reading, bool first, const char *limit,
                         struct db_result **ret_result, struct err *err)
{
    DB_RESULT_AUTO *mark = NULL;
    STR_AUTO holes = {0};
    holes_text(reading, &holes);
    const char *after = first ? NULL : DB_INT(reading->after);
    enum rc rc = db_run(cli->db, &sql_log_holes, (const char *const[]){after}, &mark, err);
    if (rc == RC_OK)
        rc = read_events(cli, reading, holes.data, db_text(mark, 0, LOG_HOLES_TOP), limit,
                         ret_result, err);
    if (rc != RC_OK)
        return rc;
    reading->after = db_int(mark, 0, LOG_HOLES_TOP);
    add_holes(reading, db_text(mark, 0, LOG_HOLES_HOLES));
    for (int row = 0; row < db_rows(*ret_result); row++)
        close_hole(reading, db_int(*ret_result, row, LOG_EVENTS_ID));
    return RC_OK;
}

static void add_rows(struct table *table, const struct db_result *result)
{
    const char *cells[16];
    for (int row = 0; row < db_rows(result); row++) {
        for (int i = 0; i < db_columns(result); i++)
            cells[i] = db_null(result, row, i) ? NULL : db_text(result, row, i);
        table_row(table, cells);
    }
}

/* Until a signal comes, or the reader of stdout has gone (table_check: RC_NONE). */
static enum rc follow(struct cli *cli, struct reading *reading, struct err *err)
{
    DB_RESULT_AUTO *first = NULL;
    enum rc rc = read_more(cli, reading, true, limit_of(cli), &first, err);
    if (rc != RC_OK)
        return rc;
    struct table_style style = cli_style(cli);
    style.shorts = EVENT_COLUMNS;
    struct table *table = table_of(stdout, style, first, false);
    add_rows(table, first);
    stop_catch();
    while (rc == RC_OK && !stop_requested()) {
        table_flush(table);
        rc = table_check(stdout, err);
        if (rc != RC_OK)
            break;
        stop_wait(FOLLOW_EVERY_MS);
        DB_RESULT_AUTO *more = NULL;
        /* A bound for memory: after a long stop the rest comes with the next calls. */
        rc = read_more(cli, reading, false, "10000", &more, err);
        if (rc == RC_OK)
            add_rows(table, more);
    }
    enum rc end = table_end(table, rc == RC_OK ? err : NULL);
    return rc == RC_NONE || end == RC_NONE ? RC_OK : rc;
}

static enum rc executions(struct cli *cli, const struct reading *reading, struct err *err)
{
    const char *params[] = {reading->of_run ? DB_INT(reading->run.run_no) : NULL, reading->queue,
                            limit_of(cli)};
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = db_run(cli->db, &sql_log_executions, params, &result, err);
    return rc == RC_OK
               ? cli_print_list(
                     cli, result,
                     "queue,run_id,order,task_id,attempt,status,started_at,seconds,error", err)
               : rc;
}

enum rc command_log(struct cli *cli, struct err *err)
{
    const char *id = cli_text(cli, "run");
    struct reading reading = {.event = cli_text(cli, "event"), .of_run = id != NULL};
    enum rc rc = find_queue_filter(cli, &reading.queue, err);
    if (rc == RC_OK && id != NULL)
        rc = find_run(cli, id, &reading.run, err);
    if (rc != RC_OK)
        return rc;
    if (cli_has(cli, "follow") && (cli_has(cli, "executions") || cli->output == OUTPUT_JSON))
        return err_set(err, RC_REJECT, ERR_USAGE, "log",
                       "Use --follow with events, as table, jsonl or csv.",
                       "--follow cannot be combined with %s",
                       cli->output == OUTPUT_JSON ? "json" : "--executions");
    if (cli_has(cli, "follow"))
        return follow(cli, &reading, err);
    if (cli_has(cli, "executions"))
        return executions(cli, &reading, err);
    DB_RESULT_AUTO *result = NULL;
    rc = read_events(cli, &reading, NULL, NULL, limit_of(cli), &result, err);
    return rc == RC_OK ? cli_print_list(cli, result, EVENT_COLUMNS, err) : rc;
}

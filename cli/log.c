#include "cli/commands.h"
#include "cli/find.h"
#include "cli/stop.h"

#include <stdio.h>
#include <string.h>

#define FOLLOW_EVERY_MS 300

struct reading {
    const char *queue, *event;
    struct run_row run;
    bool of_run;
    int64_t after;
};

static enum rc read_events(struct cli *cli, struct reading *reading, const char *limit,
                           struct db_result **ret_result, struct err *err)
{
    const char *params[] = {DB_INT(reading->after),
                            reading->of_run ? DB_INT(reading->run.run_no) : NULL, reading->queue,
                            reading->event, limit};
    struct db_result *result = NULL;
    enum rc rc = db_run(cli->db, &sql_log_events, params, &result, err);
    if (rc != RC_OK)
        return rc;
    if (db_rows(result) > 0)
        reading->after = db_int(result, db_rows(result) - 1, 0);
    *ret_result = result;
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

/* Until a signal, or until nobody reads any more. */
static enum rc follow(struct cli *cli, struct reading *reading, struct err *err)
{
    DB_RESULT_AUTO *first = NULL;
    enum rc rc = read_events(cli, reading, limit_of(cli), &first, err);
    if (rc != RC_OK)
        return rc;
    struct table *table =
        table_of(stdout, (struct table_style){cli->output, cli->color}, first, false);
    add_rows(table, first);
    stop_catch();
    while (rc == RC_OK && !stop_requested()) {
        table_flush(table);
        rc = table_check(stdout, err);
        if (rc != RC_OK)
            break;
        stop_wait(FOLLOW_EVERY_MS);
        DB_RESULT_AUTO *more = NULL;
        rc = read_events(cli, reading, "10000", &more, err);
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
    return rc == RC_OK ? cli_print(cli, result, err) : rc;
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
                       "--follow goes with events, as table, jsonl or csv.",
                       "--follow cannot be combined with %s",
                       cli->output == OUTPUT_JSON ? "json" : "--executions");
    if (cli_has(cli, "follow"))
        return follow(cli, &reading, err);
    if (cli_has(cli, "executions"))
        return executions(cli, &reading, err);
    DB_RESULT_AUTO *result = NULL;
    rc = read_events(cli, &reading, limit_of(cli), &result, err);
    return rc == RC_OK ? cli_print(cli, result, err) : rc;
}

/* run cancel, end, pause, resume, retry: a function of the database does each; this file names the
 * run and prints the outcome. The function may have to wait for a row that another session holds;
 * then that session is named (cli/waiting.c).
 *
 * A run is named by its id, the beginning of one, or --latest (cli/find.c). Each change is one
 * transaction that writes its event, with --reason, as well: either both are there or none.
 * Commands of queues, tasks and executors use control_done of this file, too. */
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/find.h"
#include "cli/waiting.h"
#include "db/sqlstate.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

enum rc control_done(enum rc rc, struct err *err)
{
    /* LS002: it makes no sense; LS003: there is no such thing. The message names the object
     * itself. */
    if (rc != RC_OK && err != NULL &&
        (sqlstate_is(err, SQLSTATE_NO_SENSE) || sqlstate_is(err, SQLSTATE_NO_SUCH_THING))) {
        err->kind = sqlstate_is(err, SQLSTATE_NO_SENSE) ? ERR_FAILED : ERR_USAGE;
        err->object[0] = '\0';
        err->context[0] = '\0';
    }
    return rc;
}

static enum rc on_run(struct cli *cli, const struct sql_statement *stmt,
                      struct db_result **ret_result, struct err *err)
{
    struct run_row run;
    enum rc rc = find_run_argument(cli, &run, err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {run.run_id, cli_text(cli, "reason"), run.queue};
    struct waiting *waiting = waiting_start(cli);
    rc = db_run(cli->db, stmt, params, ret_result, err);
    waiting_stop(waiting);
    return control_done(rc, err);
}

enum rc command_run_cancel(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    enum rc rc = on_run(cli, &sql_control_run_cancel, &done, err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

enum rc command_run_end(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    enum rc rc = on_run(cli, &sql_control_run_end, &done, err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

enum rc command_run_pause(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    enum rc rc = on_run(cli, &sql_control_run_pause, &done, err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

enum rc command_run_resume(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    enum rc rc = on_run(cli, &sql_control_run_resume, &done, err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

static const char *const retry_columns[] = {"queue",  "run_id", "tasks",
                                            "phases", "order",  "refused"};

/* A refusal becomes a cell of the table; by err the caller distinguishes it from an error of the
 * server. */
static enum rc retry_one(struct cli *cli, const char *run_id, const char *queue,
                         struct table *table, struct err *err)
{
    DB_RESULT_AUTO *done = NULL;
    const char *params[] = {run_id, cli_text(cli, "reason"), queue};
    enum rc rc = control_done(db_run(cli->db, &sql_control_run_retry, params, &done, err), err);
    const char *cells[6] = {queue, run_id};
    if (rc == RC_OK) {
        cells[2] = db_text(done, 0, CONTROL_RUN_RETRY_TASKS);
        cells[3] = db_text(done, 0, CONTROL_RUN_RETRY_PHASES);
        cells[4] = db_text(done, 0, CONTROL_RUN_RETRY_ORDER);
    } else {
        cells[5] = err->message;
    }
    table_row(table, cells);
    return rc;
}

/* Each run is a transaction of its own: one that is refused does not undo the others. */
static enum rc retry_many(struct cli *cli, struct err *err)
{
    const char *queue;
    DB_RESULT_AUTO *runs = NULL;
    struct table *table;
    int refused = 0;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_control_retryable,
                    (const char *const[]){queue, cli_text(cli, "status"), cli_text(cli, "name"),
                                          limit_of(cli)},
                    &runs, err);
    if (rc != RC_OK)
        return rc;
    struct table_style style = cli_style(cli);
    style.wrap = true;
    table = table_new(stdout, style, "tuiiit", retry_columns, 6, false);
    for (int i = 0; i < db_rows(runs) && rc == RC_OK; i++) {
        struct err why = {0};
        enum rc one = retry_one(cli, db_text(runs, i, CONTROL_RETRYABLE_RUN_ID),
                                db_text(runs, i, CONTROL_RETRYABLE_QUEUE), table, &why);
        refused += one != RC_OK;
        if (one != RC_OK && why.kind != ERR_FAILED) { /* not refused: the server has an error */
            *err = why;
            rc = one;
        }
    }
    enum rc shown = table_end(table, rc == RC_OK ? err : NULL);
    if (rc == RC_OK && shown == RC_OK && refused > 0)
        return err_set(err, RC_REJECT, ERR_FAILED, "run retry", NULL, "%d of %d runs were refused",
                       refused, db_rows(runs));
    return rc == RC_OK ? shown : rc;
}

enum rc command_run_retry(struct cli *cli, struct err *err)
{
    struct run_row run;
    bool many = cli_has(cli, "status");
    if (many && (cli->argument_count > 0 || cli_has(cli, "latest")))
        return err_set(err, RC_REJECT, ERR_USAGE, "run retry", REMEDY_HELP_OF("run retry"),
                       "name one run, or many by --status, not both");
    if (many)
        return retry_many(cli, err);
    enum rc rc = find_run_argument(cli, &run, err);
    if (rc != RC_OK)
        return rc;
    DB_RESULT_AUTO *done = NULL;
    const char *params[] = {run.run_id, cli_text(cli, "reason"), run.queue};
    rc = control_done(db_run(cli->db, &sql_control_run_retry, params, &done, err), err);
    return rc == RC_OK ? cli_print(cli, done, err) : rc;
}

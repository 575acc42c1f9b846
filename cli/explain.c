/* run explain, task explain, queue explain: why something does not continue. lockstep.explain in
 * the database knows the reasons; this file adds the ends of the topic where only Kafka knows them,
 * and prints each reason as a paragraph: the cause, the remedy, since when.
 *
 * The sentences are the database's, so the console and programs that call lockstep.explain show the
 * same ones. */
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/width.h"
#include "control/topic.h"

#include "base/remedies.h"

#include <stdio.h>

#define KAFKA_MS 1500

/* Asks Kafka as well where it may be the cause: an executor reports an open transaction only after
 * some seconds, and only the end of the log shows that records were deleted with their topic. The
 * statement then runs a second time with the offsets. */
static enum rc reasons(struct cli *cli, const char *queue, const char *const ids[3],
                       struct db_result **ret_rows, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct queue_row row;
    struct topic_ends ends;
    struct err ignored;
    const char *params[] = {ids[0],
                            ids[1],
                            ids[2],
                            NULL,
                            NULL,
                            NULL,
                            kafka_properties_get(&cli->kafka, "bootstrap.servers"),
                            NULL,
                            NULL};
    enum rc rc = db_run(cli->db, &sql_explain_reasons, params, &rows, err);
    if (rc != RC_OK)
        return rc;
    /* A failure of Kafka is ignored here: the reasons that the database knows are an answer,
     * too. */
    bool known =
        queue != NULL && db_rows(rows) > 0 && db_bool(rows, 0, EXPLAIN_REASONS_WAITS_FOR_TOPIC) &&
        kafka_properties_get(&cli->kafka, "bootstrap.servers") != NULL &&
        find_queue(cli, queue, &row, &ignored) == RC_OK &&
        topic_ends(&cli->kafka, row.topic, row.partition, KAFKA_MS, &ends, &ignored) == RC_OK;
    if (!known) {
        *ret_rows = rows;
        rows = NULL;
        return RC_OK;
    }
    params[3] = DB_INT(row.queue_id);
    params[4] = ends.stable < ends.high ? DB_INT(ends.stable) : NULL;
    params[5] = ends.open_since_ms >= 0 ? DB_INT(ends.open_since_ms) : NULL;
    params[7] = DB_INT(ends.high);
    params[8] = db_text(rows, 0, EXPLAIN_REASONS_ASKED_AT);
    return db_run(cli->db, &sql_explain_reasons, params, ret_rows, err);
}

/* A paragraph for each reason, because a table of such sentences could not be read. */
static enum rc show(struct cli *cli, const char *queue, const char *const ids[3], struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = reasons(cli, queue, ids, &rows, err);
    if (rc != RC_OK || cli->output != OUTPUT_TABLE)
        return rc == RC_OK ? cli_print(cli, rows, err) : rc;
    for (int i = 0; i < db_rows(rows); i++) {
        (void)printf("%s", i > 0 ? "\n" : "");
        width_print(stdout, db_text(rows, i, EXPLAIN_REASONS_SENTENCE), false);
        if (!db_null(rows, i, EXPLAIN_REASONS_HELPS)) {
            (void)printf("\n  ");
            width_print(stdout, db_text(rows, i, EXPLAIN_REASONS_HELPS), false);
        }
        if (!db_null(rows, i, EXPLAIN_REASONS_SINCE))
            (void)printf("\n  since %s", db_text(rows, i, EXPLAIN_REASONS_SINCE));
        (void)printf("\n");
    }
    return table_check(stdout, err);
}

enum rc command_run_explain(struct cli *cli, struct err *err)
{
    struct run_row run;
    enum rc rc = find_run_argument(cli, &run, err);
    return rc == RC_OK
               ? show(cli, run.queue, (const char *const[]){NULL, DB_INT(run.run_no), NULL}, err)
               : rc;
}

enum rc command_queue_explain(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    return rc == RC_OK ? show(cli, queue.name,
                              (const char *const[]){DB_INT(queue.queue_id), NULL, NULL}, err)
                       : rc;
}

enum rc command_task_explain(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *task = NULL;
    enum rc rc = number_argument(cli, "task", err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_task_find, (const char *const[]){cli->arguments[0]}, &task, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[0], REMEDY_TASK_LIST,
                       "there is no task of this number");
    return rc == RC_OK ? show(cli, NULL, (const char *const[]){NULL, NULL, cli->arguments[0]}, err)
                       : rc;
}

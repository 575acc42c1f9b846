/* queue list, show, set, pause, resume, delete. Each change is one function of the database; this
 * file asks Kafka for the ends of the log where people need them, and says in advance what a delete
 * would lose. queue create is in cli/queue_create.c.
 *
 * queue show asks Kafka, because lag and open transactions are facts of the log; queue list does
 * not, so that it answers at once however many queues there are. queue resume has three forms: it
 * ends a pause and lifts a halt; with --accept-topic or --accept-server it accepts the changed
 * topic or server, because executors would halt the queue again otherwise. A new setting of queue
 * set is a row of `settings` here and an option in cli/commands.c. */
#include "base/remedies.h"
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/find.h"
#include "cli/queue_keep.h"
#include "control/queue_accept.h"
#include "control/queue_lists.h"
#include "control/queue_use.h"
#include "control/topic.h"

#include <stdio.h>
#include <string.h>

/* For each question to Kafka: a person waits at the terminal. */
#define KAFKA_PATIENCE_MS 2000

enum rc command_queue_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = db_run(cli->db, &sql_queue_list, NULL, &result, err);
    return rc == RC_OK
               ? cli_print_list(
                     cli, result,
                     "name,topic,next_offset,max_readers,in_use,state,active_runs,halted_reason",
                     err)
               : rc;
}

/* Kafka only adds the ends of the log here: when it does not answer, the rest is shown all the
 * same. */
static bool ends_of(struct cli *cli, const struct queue_row *queue, struct topic_ends *ret_ends)
{
    struct err err;
    if (kafka_properties_get(&cli->kafka, "bootstrap.servers") == NULL)
        return false;
    enum rc rc =
        topic_ends(&cli->kafka, queue->topic, queue->partition, KAFKA_PATIENCE_MS, ret_ends, &err);
    if (rc != RC_OK)
        cli_say(cli, "lockstep: %s: the ends of the log are not known: %s%s%s\n", queue->topic,
                err.message, *err.hint ? "\n  hint: " : "", err.hint);
    return rc == RC_OK;
}

enum rc command_queue_show(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    DB_RESULT_AUTO *facts = NULL;
    DB_RESULT_AUTO *readers = NULL;
    struct topic_ends ends = {0};
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    if (rc != RC_OK)
        return rc;
    bool known = ends_of(cli, &queue, &ends);
    /* Without Kafka the four are NULL, and the statement leaves the fields out that need them. */
    const char *params[] = {DB_INT(queue.queue_id), known ? DB_INT(ends.low) : NULL,
                            known ? DB_INT(ends.stable) : NULL, known ? DB_INT(ends.high) : NULL,
                            known && ends.open_since_ms >= 0 ? DB_INT(ends.open_since_ms) : NULL};
    rc = db_run(cli->db, &sql_queue_show, params, &facts, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_queue_readers, (const char *const[]){queue.name}, &readers, err);
    if (rc != RC_OK)
        return rc;
    const struct table_part parts[] = {{"queue", facts, true, true, false, NULL, false},
                                       {"executors", readers, false, false, false, NULL, false}};
    return table_parts(stdout, cli_style(cli), parts, 2, err);
}

/* NULL is the parameter of a setting that stays as it is. */
enum rc command_queue_set(struct cli *cli, struct err *err)
{
    /* By the names of the statement's parameters: their order in sql/queue/ may change without a
     * change here. */
    static const struct {
        int param;
        const char *option;
    } settings[] = {{QUEUE_SET_P_MAX_READERS, "max-readers"},
                    {QUEUE_SET_P_ON_FAILURE, "on-failure"},
                    {QUEUE_SET_P_RUNS, "runs"},
                    {QUEUE_SET_P_MAX_ATTEMPTS, "max-attempts"},
                    {QUEUE_SET_P_LOOKAHEAD, "lookahead"},
                    {QUEUE_SET_P_DEAD_LETTERS, "dead-letters"},
                    {QUEUE_SET_P_EXTERNAL_LEASE, "external-lease"},
                    {QUEUE_SET_P_RETRY_INTERVALS, "retry-intervals"},
                    {QUEUE_SET_P_RETRY_ON, "retry-on"}};
    enum { COUNT = sizeof settings / sizeof *settings };
    struct queue_row queue;
    const char *params[COUNT + 1] = {[QUEUE_SET_P_NAME] = cli->arguments[0]};
    int given = 0;
    for (int i = 0; i < COUNT; i++) {
        params[settings[i].param] = cli_text(cli, settings[i].option);
        given += params[settings[i].param] != NULL;
    }
    const char *events = cli_text(cli, "events");
    bool keep = queue_keep_given(cli);
    if (given == 0 && events == NULL && !keep)
        return err_set(err, RC_REJECT, ERR_USAGE, "queue set", REMEDY_HELP_OF("queue set"),
                       "nothing is to be set");
    /* Everything is checked before the first change: the settings are three statements. */
    enum rc rc = queue_keep_check(cli, err);
    if (rc == RC_OK)
        rc = queue_check_lists(cli_text(cli, "retry-intervals"), cli_text(cli, "retry-on"), err);
    if (rc == RC_OK)
        rc = find_queue(cli, cli->arguments[0], &queue, err);
    DB_RESULT_AUTO *result = NULL;
    if (rc == RC_OK && given > 0)
        rc = db_run(cli->db, &sql_queue_set, params, &result, err);
    if (rc == RC_OK && events != NULL)
        rc = queue_set_events(cli, queue.name, events, err);
    if (rc == RC_OK && keep)
        rc = queue_keep_set(cli, queue.name, err);
    if (rc == RC_OK && given > 0)
        cli_say(
            cli,
            "lockstep: %s: max_readers %s, on_failure %s, runs %s, max_attempts %s, lookahead %s, "
            "dead_letters %s, external_lease %s s, retry_intervals %s, retry_on %s\n",
            queue.name, db_text(result, 0, QUEUE_SET_MAX_READERS),
            db_text(result, 0, QUEUE_SET_ON_FAILURE), db_text(result, 0, QUEUE_SET_RUNS),
            db_text(result, 0, QUEUE_SET_MAX_ATTEMPTS), db_text(result, 0, QUEUE_SET_LOOKAHEAD),
            db_text(result, 0, QUEUE_SET_DEAD_LETTERS),
            db_text(result, 0, QUEUE_SET_EXTERNAL_LEASE_S),
            db_text(result, 0, QUEUE_SET_RETRY_INTERVALS), db_text(result, 0, QUEUE_SET_RETRY_ON));
    return rc;
}

/* Lifts a halt. Executors check the cause again, and halt the queue again if it is still there. */
static enum rc retry(struct cli *cli, const struct queue_row *queue, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *params[] = {queue->name, cli_text(cli, "reason")};
    enum rc rc = db_run(cli->db, &sql_queue_retry, params, &result, err);
    if (rc == RC_OK)
        cli_say(cli,
                "lockstep: %s: it was halted (%s); executors check it again, and halt it again if "
                "nothing has changed\n",
                queue->name, db_text(result, 0, QUEUE_RETRY_HALTED_REASON));
    return rc == RC_NONE ? RC_OK : rc;
}

/* Nothing is written for a queue that is paused already, so a reason would be lost silently. */
static void say_paused_already(const struct cli *cli, const char *name, const struct db_result *was)
{
    bool why = !db_null(was, 0, QUEUE_HOLD_PAUSED_REASON);
    cli_say(cli, "lockstep: %s: it is paused already, by %s since %s%s%s; nothing has changed\n",
            name, db_text(was, 0, QUEUE_HOLD_PAUSED_BY), db_text(was, 0, QUEUE_HOLD_PAUSED_AT),
            why ? ": " : "", why ? db_text(was, 0, QUEUE_HOLD_PAUSED_REASON) : "");
}

static enum rc hold(struct cli *cli, bool paused, struct err *err)
{
    struct queue_row queue;
    DB_RESULT_AUTO *was = NULL;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    if (rc == RC_OK) {
        /* Pause and resume are one statement, which writes who and why into the event log. */
        const char *params[] = {queue.name, paused ? "true" : "false", cli_text(cli, "reason")};
        rc = db_run(cli->db, &sql_queue_hold, params, &was, err);
    }
    /* resume means both: a queue that is paused, and one that is halted. */
    if (rc == RC_OK && !paused)
        rc = retry(cli, &queue, err);
    if (rc == RC_OK && paused && !db_null(was, 0, QUEUE_HOLD_PAUSED_BY))
        say_paused_already(cli, queue.name, was);
    else if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: %s\n", queue.name, paused ? "paused" : "open");
    return rc;
}

enum rc command_queue_pause(struct cli *cli, struct err *err)
{
    return hold(cli, true, err);
}

static const char *show_hint(char hint[100], const char *queue)
{
    (void)snprintf(hint, 100, REMEDY_QUEUE_SHOW, queue);
    return hint;
}

/* The warning is printed whether the queue is accepted or not: it says that the offset was not
 * compared with the log. */
static enum rc accept_topic(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    char hint[100];
    struct queue_accepted accepted;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    if (rc != RC_OK)
        return rc;
    const struct queue_acceptance what = {.name = queue.name,
                                          .topic = queue.topic,
                                          .partition = queue.partition,
                                          .cursor = queue.next_offset,
                                          .from_offset = cli_text(cli, "from-offset"),
                                          .reason = cli_text(cli, "reason"),
                                          .patience_ms = KAFKA_PATIENCE_MS};
    rc = queue_accept(cli->db, &cli->kafka, &what, &accepted, err);
    if (*accepted.warning != '\0')
        cli_say(cli, "lockstep: warning: %s: %s\n", queue.topic, accepted.warning);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, queue.name, show_hint(hint, queue.name),
                       "the queue is not halted for its topic, there is nothing to accept");
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: topic %s is accepted, the queue continues from offset %lld\n",
                queue.name, queue.topic, (long long)accepted.next_offset);
    return rc;
}

static enum rc accept_server(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    char hint[100];
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {queue.name, cli_text(cli, "reason")};
    rc = db_run(cli->db, &sql_queue_accept_server, params, &result, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, queue.name, show_hint(hint, queue.name),
                       "the queue is not halted for its server, there is nothing to accept");
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: this server is accepted, the queue continues from offset %s\n",
                queue.name, db_text(result, 0, QUEUE_ACCEPT_SERVER_NEXT_OFFSET));
    return rc;
}

/* --from-offset alone is refused: a cursor that is moved by hand leaves messages out, or claims
 * them again. */
enum rc command_queue_resume(struct cli *cli, struct err *err)
{
    if (cli_has(cli, "accept-server"))
        return accept_server(cli, err);
    if (cli_has(cli, "accept-topic"))
        return accept_topic(cli, err);
    if (cli_has(cli, "from-offset"))
        return err_set(err, RC_REJECT, ERR_USAGE, "--from-offset",
                       "Add --accept-topic if that is meant.",
                       "the cursor moves by hand only when a halted queue's topic is accepted");
    return hold(cli, false, err);
}

/* Without --yes nothing is deleted; the error counts what would be lost. */
static enum rc refuse_delete(struct cli *cli, const struct queue_row *queue, struct err *err)
{
    DB_RESULT_AUTO *losses = NULL;
    struct topic_ends ends = {0};
    bool known = ends_of(cli, queue, &ends);
    const char *const params[] = {DB_INT(queue->queue_id), known ? DB_INT(ends.high) : NULL};
    enum rc rc = db_run(cli->db, &sql_queue_losses, params, &losses, err);
    if (rc != RC_OK)
        return rc;
    const char *undone = db_text(losses, 0, QUEUE_LOSSES_UNDONE);
    return err_set(err, RC_REJECT, ERR_USAGE, queue->name, "Add --yes if that is meant.",
                   "this deletes the queue with its records: %s%s%s",
                   db_text(losses, 0, QUEUE_LOSSES_ALL),
                   *undone != '\0' ? "; never to be run: " : "", undone);
}

enum rc command_queue_delete(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    DB_RESULT_AUTO *gone = NULL;
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    if (rc == RC_OK)
        /* A queue that an executor works on is refused first: --yes would not help. */
        rc = queue_unused(cli->db, queue.name, err);
    if (rc == RC_OK && !cli_has(cli, "yes"))
        rc = refuse_delete(cli, &queue, err);
    if (rc == RC_OK)
        rc = control_done(db_run(cli->db, &sql_queue_delete,
                                 (const char *const[]){DB_INT(queue.queue_id), NULL}, &gone, err),
                          err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: deleted, with %s task%s; the topic %s stays\n", queue.name,
                db_text(gone, 0, QUEUE_DELETE_TASKS),
                db_int(gone, 0, QUEUE_DELETE_TASKS) == 1 ? "" : "s", queue.topic);
    return rc;
}

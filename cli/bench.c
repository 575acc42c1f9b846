/* bench: a queue and a topic of its own, one synthetic run, an executor in this process that works
 * it off, and the figures of the run by the execution log: how many tasks a second, and how long a
 * barrier takes. Queue and topic are deleted at the end, after an error and after Ctrl-C, too; one
 * that could not be deleted is named. Their name is random, so they are also deleted if the answer
 * to their creation was lost.
 *
 * The executor is that of executor run, with its configuration, so the figures are of this
 * installation: its servers, its network, its settings. It dispatches no jobs. Other executors do
 * not know the queue, and the run competes with their work for the servers only. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/executor_run.h"
#include "cli/find.h"
#include "cli/stop.h"

#include "action/action.h"
#include "action/settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/remedies_rights.h"
#include "base/str.h"
#include "config/conninfo.h"
#include "control/birthmark.h"
#include "control/queue_create.h"
#include "db/backend.h"
#include "producer/publish.h"
#include "task/uuid.h"

#include <stdio.h>
#include <string.h>

#define KAFKA_MS      30000 /* for each request; a topic is made and deleted by its controller */
#define UNSURE_MS     5000  /* to delete a topic that may never have been made */
#define SESSION_MS    30000
#define SESSION_EVERY 300

struct bench {
    struct cli *cli;
    char name[40]; /* of the queue and of its topic */
    bool tried, topic_made;
    int readers;
    char run[37];
    double publish_s;
};

static enum rc check_rights(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *lacks = NULL;
    char hint[400];
    enum rc rc = db_run(cli->db, &sql_bench_lacks, NULL, &lacks, err);
    if (rc != RC_OK || db_null(lacks, 0, BENCH_LACKS_ROLES))
        return rc;
    const char *roles = db_text(lacks, 0, BENCH_LACKS_ROLES);
    (void)snprintf(hint, sizeof hint, REMEDY_GRANT(roles, db_login(cli->db)));
    return err_set(err, RC_FATAL, ERR_DB, db_login(cli->db), hint,
                   "bench makes a queue, publishes and runs tasks, and this login lacks %s", roles);
}

static enum rc make_queue(struct bench *bench, struct err *err)
{
    struct cli *cli = bench->cli;
    char id[37], readers[12];
    uuid_new(id);
    (void)snprintf(bench->name, sizeof bench->name, "bench-%.8s", id);
    (void)snprintf(readers, sizeof readers, "%d", bench->readers);
    const struct queue_wish wish = {.name = bench->name,
                                    .max_readers = readers,
                                    .create_topic = true,
                                    .replication = -1,
                                    .reason = "lockstep bench"};
    struct queue_plan plan = {0};
    struct err why;
    enum rc rc = queue_plan(cli->config, &wish, &plan, err);
    bench->tried = rc == RC_OK;
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: making a queue and its topic\n", bench->name);
    if (rc == RC_OK)
        rc = queue_place(&cli->kafka, KAFKA_MS, &plan, err);
    bench->topic_made = plan.topic_made;
    if (rc == RC_OK)
        rc = queue_make(cli->db, &plan, err);
    /* The executor would make it, and wait for it. */
    if (rc == RC_OK &&
        birthmark_make(cli->db, &cli->kafka, bench->name, bench->name, 0, &why) != RC_OK)
        log_err(LOG_WARN, "birthmark_not_written", bench->name, &why);
    return rc;
}

/* The publisher reads the tasks from a query: order 10, 20, ... */
static enum rc publish(struct bench *bench, struct err *err)
{
    struct cli *cli = bench->cli;
    STR_AUTO conninfo = {0};
    DB_RESULT_AUTO *query = NULL;
    struct publish_result result = {0};
    const char *params[] = {cli_text(cli, "sql"), DB_INT(cli_int(cli, "phases", 100)),
                            DB_INT(cli_int(cli, "tasks", 20))};
    enum rc rc = db_run(cli->db, &sql_bench_tasks, params, &query, err);
    if (rc != RC_OK)
        return rc;
    config_conninfo(cli->config, &conninfo);
    const struct publish_options options = {.conninfo = conninfo.data ? conninfo.data : "",
                                            .kafka = &cli->kafka,
                                            .queue = bench->name,
                                            .query = db_text(query, 0, BENCH_TASKS_QUERY),
                                            .name = "lockstep bench",
                                            .lock_wait_ms = PUBLISH_LOCK_WAIT_MS,
                                            .cancelled = stop_asked};
    int64_t began_us = clock_boot_us();
    rc = publish_run(&options, &result, err);
    bench->publish_s = (double)(clock_boot_us() - began_us) / 1e6;
    (void)snprintf(bench->run, sizeof bench->run, "%s", result.run);
    /* A signal may have come after the publisher has asked for the last time. */
    if (rc == RC_OK && stop_requested())
        rc = err_set(err, RC_REJECT, ERR_CANCELLED, "bench", "", "cancelled before its run began");
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: published %lld tasks in %lld phases\n", bench->name,
                (long long)result.tasks, (long long)result.phases);
    return rc;
}

static enum rc work_off(struct bench *bench, struct err *err)
{
    struct action_settings *actions = NULL;
    STR_AUTO conninfo = {0};
    const char *queues[] = {bench->name};
    enum rc rc =
        action_settings_load(bench->cli->config, cli_config_wrong, bench->cli, &actions, err);
    if (rc != RC_OK)
        return rc;
    action_start();
    struct action_shelf *shelf = action_shelf_new(actions, NULL);
    struct executor_options options = executor_configured(bench->cli, queues, 1, shelf, &conninfo);
    options.dispatches = false;
    options.until_idle = true;
    /* The executor outlives a restart of the server; the command's session would not. */
    cli_disconnect(bench->cli);
    rc = executor_run(&options, err);
    stop_catch(); /* the executor leaves the signals ignored */
    action_shelf_free(shelf);
    return rc;
}

/* A new session, if there is none. */
static enum rc session(struct cli *cli, struct err *err)
{
    return cli->db != NULL ? RC_OK : cli_reconnect_within(cli, SESSION_MS, SESSION_EVERY, err);
}

/* The executor also ends when a signal drains it. */
static enum rc judge(struct bench *bench, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc =
        db_run(bench->cli->db, &sql_bench_run, (const char *const[]){bench->run}, &row, err);
    if (rc != RC_OK || strcmp(db_text(row, 0, BENCH_RUN_STATUS), "Completed") == 0)
        return rc;
    bool failed = *db_text(row, 0, BENCH_RUN_ERROR) != '\0';
    return err_set(err, RC_REJECT, failed ? ERR_FAILED : ERR_CANCELLED, "bench", "",
                   failed ? "its run is %s: %s" : "cancelled, its run was %s%s",
                   db_text(row, 0, BENCH_RUN_STATUS), db_text(row, 0, BENCH_RUN_ERROR));
}

static enum rc measure(struct bench *bench, struct err *err)
{
    DB_RESULT_AUTO *figures = NULL;
    char seconds[32];
    enum rc rc = publish(bench, err);
    if (rc == RC_OK)
        rc = work_off(bench, err);
    if (rc == RC_OK)
        rc = session(bench->cli, err);
    if (rc == RC_OK)
        rc = judge(bench, err);
    (void)snprintf(seconds, sizeof seconds, "%.6f", bench->publish_s);
    if (rc == RC_OK)
        rc = db_run(bench->cli->db, &sql_bench_figures, (const char *const[]){bench->run, seconds},
                    &figures, err);
    return rc == RC_OK ? cli_print(bench->cli, figures, err) : rc;
}

static enum rc delete_queue(struct bench *bench, struct err *err)
{
    struct cli *cli = bench->cli;
    struct queue_row queue;
    enum rc rc = RC_LOST;
    for (int i = 0; i < 2 && rc == RC_LOST; i++) { /* the session may be lost already */
        enum rc there = session(cli, err);
        if (there != RC_OK)
            return there;
        rc = find_queue(cli, bench->name, &queue, err);
        if (rc == RC_REJECT && err->kind == ERR_USAGE)
            return RC_OK; /* there is none */
        if (rc == RC_OK)
            rc = db_run(cli->db, &sql_queue_delete,
                        (const char *const[]){DB_INT(queue.queue_id), "lockstep bench"}, NULL, err);
        if (rc == RC_LOST)
            cli_disconnect(cli);
    }
    return rc;
}

static enum rc delete_topic(struct bench *bench, struct err *err)
{
    struct kafka_admin *admin = NULL;
    enum rc rc = kafka_admin_open(&bench->cli->kafka, &admin, err);
    if (rc == RC_OK)
        rc = kafka_topic_delete(admin, bench->name, bench->topic_made ? KAFKA_MS : UNSURE_MS, err);
    kafka_admin_close(admin);
    return rc == RC_NONE ? RC_OK : rc;
}

static void say_stays(const struct cli *cli, const char *what, const char *name,
                      const struct err *err)
{
    cli_say(cli, "lockstep: warning: %s %s could not be deleted: %s\n", what, name, err->message);
    if (*err->hint != '\0')
        cli_say(cli, "  hint: %s\n", err->hint);
}

/* The queue goes first: one whose topic is gone would be halted. */
static void clean(struct bench *bench)
{
    struct err err = {0};
    if (!bench->tried)
        return;
    stop_catch(); /* one more signal does not end this */
    if (delete_queue(bench, &err) != RC_OK) {
        say_stays(bench->cli, "queue and topic", bench->name, &err);
        return;
    }
    if (delete_topic(bench, &err) != RC_OK && bench->topic_made)
        say_stays(bench->cli, "topic", bench->name, &err);
}

enum rc command_bench(struct cli *cli, struct err *err)
{
    struct bench bench = {.cli = cli,
                          .readers = (int)cli_int(
                              cli, "readers", config_get_int(cli->config, "executor", "readers"))};
    enum rc rc = check_rights(cli, err);
    if (rc != RC_OK)
        return rc;
    /* The figures are the answer. Warnings say why a run does not continue. */
    if (cli->verbose == 0)
        log_configure(cli->quiet ? LOG_ERROR : LOG_WARN,
                      strcmp(config_get_text(cli->config, "log", "format"), "json") == 0);
    stop_catch();
    stop_interrupts();
    stop_outlives_hang_up();
    rc = make_queue(&bench, err);
    if (rc == RC_OK)
        rc = measure(&bench, err);
    if (cli_has(cli, "keep") && bench.run[0] != '\0')
        cli_say(cli, "lockstep: %s: the queue and its topic are kept; its run is %s\n", bench.name,
                bench.run);
    else
        clean(&bench);
    return rc;
}

/* executor run: turns configuration and options into executor_options, checks the queues' names,
 * opens the metrics port and calls executor_run, which lasts until the drain. It also keeps
 * SIGHUP's promise: reload reads the file again for commands, hosts and the log.
 *
 * The command's own session checks names and sets retention, then it is closed: the executor opens
 * sessions of its own, which it can lose and open again. Faults of options and configuration are
 * reported before executor_run, so that they end the start and not a running executor. */
#include "cli/executor_run.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/metrics_port.h"

#include "action/action.h"
#include "action/settings.h"
#include "base/log.h"
#include "base/remedies.h"
#include "config/conninfo.h"
#include "executor/counts.h"
#include "executor/executor.h"
#include "metrics/tally.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MOST_QUEUES      64
#define FILES_OF_PROCESS 64 /* 34 when it has nothing to do */

/* An unknown queue is reported at once, with the nearest name, and not by the daemon's log alone.
 * The executor works for the other queues. */
static enum rc collect_queues(struct cli *cli, const char *names[MOST_QUEUES], int *ret_count,
                              struct err *err)
{
    int count = 0, known = 0;
    const char *name;
    for (; (name = cli_repeated(cli, "queue", count)) != NULL; count++) {
        struct queue_row queue;
        if (count == MOST_QUEUES)
            return err_set(err, RC_REJECT, ERR_USAGE, "executor run", "Start several executors.",
                           "more than %d queues", MOST_QUEUES);
        for (int i = 0; i < count; i++)
            if (strcmp(names[i], name) == 0)
                return err_set(err, RC_REJECT, ERR_USAGE, name, "Name each queue once.",
                               "the queue is named twice");
        struct err why = {0};
        enum rc rc = find_queue(cli, name, &queue, &why);
        known += rc == RC_OK;
        names[count] = name;
        if (rc == RC_OK)
            continue;
        if (err != NULL)
            *err = why;
        if (why.kind != ERR_USAGE)
            return rc;
        if (known > 0 || cli_repeated(cli, "queue", count + 1) != NULL)
            cli_say(cli, "lockstep: warning: %s: %s\n  hint: %s\n", name, why.message, why.hint);
    }
    if (count > 0 && known == 0)
        return RC_REJECT;
    if (count == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "executor run", REMEDY_QUEUE_LIST,
                       "which queue? --queue NAME is needed");
    *ret_count = count;
    return RC_OK;
}

/* The retention of [queue:NAME] becomes the queue's, unless `queue set` has set one. A failure is
 * only logged: a server that takes no writes now (a standby, for which the executor waits) keeps
 * its values. */
static void keep_by_file(struct cli *cli, const char *queue)
{
    static const char *const keys[] = {"keep_runs", "keep_days", "keep_failed_days"};
    const char *params[] = {queue, NULL, NULL, NULL};
    char section[80];
    struct err err;
    bool given = false;
    (void)snprintf(section, sizeof section, "queue:%s", queue);
    for (int i = 0; i < 3; i++) {
        const char *text = config_get_text(cli->config, section, keys[i]);
        params[i + 1] = text != NULL && *text != '\0' ? text : NULL;
        given = given || params[i + 1] != NULL;
    }
    if (given && db_run(cli->db, &sql_sweep_file, params, NULL, &err) != RC_OK)
        log_err(LOG_WARN, "keep_not_set", queue, &err);
}

/* Of one SIGHUP: the error is logged once, by the loader or by reload itself. */
struct reloading {
    struct cli *cli;
    struct action_shelf *shelf;
    bool logged;
};

/* The executor continues with the settings that it has. */
static void log_refused(void *context, const struct err *err)
{
    struct reloading *reloading = context;
    reloading->logged = true;
    log_err(LOG_WARN, "reload_refused", NULL, err);
}

/* Replaces commands, hosts and the log's level and form; all other values stay as at the start. The
 * old settings live on the shelf until the last attempt that uses them has ended. */
static bool reload(void *context)
{
    struct reloading *reloading = context;
    struct config *config = NULL;
    struct action_settings *actions = NULL;
    struct err err;
    reloading->logged = false;
    enum rc rc = cli_config_load(reloading->cli, log_refused, reloading, &config, &err);
    if (rc == RC_OK)
        rc = action_settings_load(config, log_refused, reloading, &actions, &err);
    if (rc != RC_OK) {
        config_free(config);
        if (!reloading->logged)
            log_refused(reloading, &err);
        return false;
    }
    cli_configure_log(reloading->cli, config);
    action_shelf_put(reloading->shelf, actions, config);
    return true;
}

struct executor_options executor_configured(struct cli *cli, const char *const *queues, int count,
                                            struct action_shelf *actions, struct str *conninfo)
{
    config_conninfo(cli->config, conninfo);
    const char *task_conninfo = config_get_text(cli->config, "postgres", "task_conninfo");
    return (struct executor_options){
        .conninfo = conninfo->data ? conninfo->data : "",
        .task_conninfo = *task_conninfo ? task_conninfo : NULL,
        .kafka = &cli->kafka,
        .queues = queues,
        .queue_count = count,
        .actions = actions,
        .readers = (int)cli_int(cli, "readers", config_get_int(cli->config, "executor", "readers")),
        .max_attempts = (int)config_get_int(cli->config, "executor", "max_attempts"),
        .sweep_interval_ms = (int)config_get_duration_ms(cli->config, "executor", "sweep_interval"),
        .dispatches =
            config_get_bool(cli->config, "scheduler", "enabled") && !cli_has(cli, "until-idle"),
        .keep_log_ms = config_get_duration_ms(cli->config, "scheduler", "keep_log"),
        .until_idle = cli_has(cli, "until-idle"),
        .drain_timeout_ms = (int)config_get_duration_ms(cli->config, "executor", "drain_timeout"),
        .heartbeat_ms = (int)config_get_duration_ms(cli->config, "executor", "heartbeat"),
        .frozen_after_ms = (int)config_get_duration_ms(cli->config, "executor", "frozen_after")};
}

/* A reader has its session's socket twice, and two descriptors that wake it; a queue has a gate and
 * its part of the client of Kafka. Too few of them would end the process in the middle of its
 * start. */
static enum rc enough_files(const struct executor_options *options, struct err *err)
{
    struct rlimit may;
    rlim_t needed =
        (rlim_t)options->readers * 4 + (rlim_t)options->queue_count * 4 + FILES_OF_PROCESS;
    if (getrlimit(RLIMIT_NOFILE, &may) != 0 || may.rlim_cur >= needed)
        return RC_OK;
    return err_set(err, RC_FATAL, ERR_CONFIG, "executor run",
                   "Raise the hard limit (ulimit -Hn, LimitNOFILE= of the unit), or start it with "
                   "fewer readers.",
                   "%d readers need %llu open files, and the process may open %llu",
                   options->readers, (unsigned long long)needed, (unsigned long long)may.rlim_cur);
}

enum rc command_executor_run(struct cli *cli, struct err *err)
{
    const char *queues[MOST_QUEUES];
    STR_AUTO conninfo = {0};
    int count = 0;
    enum rc rc = collect_queues(cli, queues, &count, err);
    if (rc != RC_OK)
        return rc;
    struct action_settings *actions = NULL;
    struct metrics_port *port = NULL;
    rc = action_settings_load(cli->config, cli_config_wrong, cli, &actions, err);
    if (rc != RC_OK)
        return rc;
    cli_log_database(cli);
    for (int i = 0; i < count; i++)
        keep_by_file(cli, queues[i]);
    /* Before any thread is started (action/action.h). */
    action_start();
    struct reloading reloading = {.cli = cli, .shelf = action_shelf_new(actions, NULL)};
    struct executor_options options =
        executor_configured(cli, queues, count, reloading.shelf, &conninfo);
    rc = enough_files(&options, err);
    options.reload = reload;
    options.reload_context = &reloading;
    /* Without the port no numbers are kept. */
    options.tally = metrics_port_configured(cli) ? counts_tally(queues, count) : NULL;
    if (rc == RC_OK)
        rc =
            metrics_port_open(cli, options.conninfo, db_server(cli->db), options.tally, &port, err);
    cli_disconnect(cli); /* the daemon has sessions of its own */
    if (rc == RC_OK)
        rc = executor_run(&options, err);
    metrics_port_close(port);
    tally_free(options.tally);
    action_shelf_free(reloading.shelf);
    return rc;
}

/* console run: the console as a daemon, in the foreground. all run: an executor, with its
 * dispatcher of jobs, and the console in one process. console/ serves; this file finds the
 * databases, the metrics port and the moment to stop.
 *
 * With sections [cluster:NAME] the console serves several databases and [postgres] is not used;
 * each may be down at the start. */
#include "cli/commands.h"
#include "cli/metrics_port.h"
#include "cli/stop.h"

#include "base/log.h"
#include "base/service.h"
#include "config/conninfo.h"
#include "console/clusters.h"
#include "console/console.h"
#include "db/migrate.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS 60000

static enum rc start_beside(struct cli *cli, const struct console_options *options,
                            struct console **ret_console, struct err *err)
{
    STR_AUTO url = {0};
    enum rc rc = console_start(options, ret_console, err);
    if (rc != RC_OK)
        return rc;
    console_url(*ret_console, &url);
    log_event(LOG_INFO, "console_started", "url", url.data, NULL);
    cli_say(cli, "The console is at %s\n", url.data);
    return RC_OK;
}

/* The databases of the configuration, by name; none: that of [postgres]. */
static void find_clusters(const struct config *config, struct console_options *options,
                          struct console_cluster **ret_clusters)
{
    static const char prefix[] = "cluster:";
    const struct config_value *value;
    int count = 0;
    for (int i = 0; (value = config_at(config, i)) != NULL; i++) {
        if (strncmp(value->section, prefix, sizeof prefix - 1) != 0)
            continue;
        *ret_clusters = xrealloc(*ret_clusters, (size_t)count + 1, sizeof **ret_clusters);
        (*ret_clusters)[count++] =
            (struct console_cluster){value->section + sizeof prefix - 1, value->value};
    }
    options->clusters = *ret_clusters;
    options->cluster_count = count;
}

/* The only database must be there, with its schema: a start that fails is noticed. Of several each
 * may be down for now. */
static enum rc check_database(struct cli *cli, struct console_options *options, struct err *err)
{
    if (options->cluster_count > 0)
        return RC_OK;
    enum rc rc = cli_reconnect(cli, err);
    if (rc == RC_OK)
        rc = migrate_validate(cli->db, err);
    if (rc == RC_OK) {
        /* The metrics of the console are of this server: after a promotion elsewhere they must not
         * mix. */
        options->server = db_server(cli->db);
        cli_log_database(cli);
    }
    return rc;
}

/* The numbers of the default database; each one's are at /clusters/NAME/metrics, too. */
static enum rc open_metrics(const struct cli *cli, const struct console_options *options,
                            struct metrics_port **ret_port, struct err *err)
{
    bool many = options->cluster_count > 0;
    return metrics_port_open(cli, many ? options->clusters[0].conninfo : options->conninfo,
                             options->server, NULL, ret_port, err);
}

enum rc command_console_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    FREE_AUTO struct console_cluster *clusters = NULL;
    struct console *console = NULL;
    struct metrics_port *port = NULL;
    config_conninfo(cli->config, &conninfo);
    str_text(&conninfo, "");
    struct console_options options = {.conninfo = conninfo.data,
                                      .config = cli->config,
                                      .kafka = &cli->kafka,
                                      .listen = cli_text(cli, "listen"),
                                      .assets = cli_text(cli, "assets")};
    find_clusters(cli->config, &options, &clusters);
    enum rc rc = check_database(cli, &options, err);
    stop_catch();
    stop_outlives_hang_up();
    if (rc == RC_OK)
        rc = open_metrics(cli, &options, &port, err);
    if (rc == RC_OK)
        rc = start_beside(cli, &options, &console, err);
    cli_disconnect(cli); /* the daemon has sessions of its own */
    if (rc == RC_OK)
        service_ready();
    while (rc == RC_OK && !stop_requested())
        stop_wait(WAIT_MS);
    service_stopping();
    metrics_port_close(port);
    console_stop(console);
    if (rc == RC_OK)
        log_event(LOG_INFO, "console_stopped", NULL);
    return rc;
}

/* The console first: a fault of its configuration is reported before an executor begins. It stays
 * until the executor has drained, so that people can watch the drain. */
enum rc command_all_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    FREE_AUTO struct console_cluster *clusters = NULL;
    struct console *console = NULL;
    config_conninfo(cli->config, &conninfo);
    struct console_options options = {.conninfo = conninfo.data,
                                      .config = cli->config,
                                      .kafka = &cli->kafka,
                                      .server = db_server(cli->db),
                                      .listen = cli_text(cli, "listen"),
                                      .assets = cli_text(cli, "assets")};
    find_clusters(cli->config, &options, &clusters);
    enum rc rc = start_beside(cli, &options, &console, err);
    if (rc == RC_OK)
        rc = command_executor_run(cli, err);
    console_stop(console);
    return rc;
}

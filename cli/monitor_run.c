/* monitor run: the monitor of jobs as a daemon, in the foreground: it looks, opens and closes
 * alerts, and sends them.
 *
 * Several monitors may run, on several hosts: they share the work by rows of the database. The
 * sections [alert:NAME] of this process decide to which receivers it sends. The configuration is
 * read once: a change needs a restart. */
#include "cli/commands.h"
#include "cli/metrics_port.h"
#include "cli/stop.h"

#include "action/action.h"
#include "base/log.h"
#include "base/service.h"
#include "config/conninfo.h"
#include "scheduler/monitor.h"

#include <stdio.h>
#include <unistd.h>

/* A signal ends the wait; the time only bounds it. */
#define WAIT_MS 60000

static enum rc run(struct cli *cli, const struct monitor_options *options, struct err *err)
{
    struct monitor *monitor = NULL;
    struct metrics_port *port = NULL;
    enum rc rc = metrics_port_open(cli, options->conninfo, options->server, NULL, &port, err);
    if (rc == RC_OK)
        rc = monitor_start(options, &monitor, err);
    cli_log_database(cli);
    cli_disconnect(cli); /* the daemon has sessions of its own */
    if (rc == RC_OK) {
        log_event(LOG_INFO, "monitor_started", "receivers", LOG_INT(options->receiver_count), NULL);
        service_ready();
    }
    /* Allowed: alerts can be read in the console, and another monitor may send. */
    if (rc == RC_OK && options->receiver_count == 0)
        log_event(LOG_WARN, "no_receivers", "detail",
                  "no section [alert:NAME]: alerts are kept, and sent to no one", NULL);
    while (rc == RC_OK && !stop_requested())
        stop_wait(WAIT_MS);
    service_stopping();
    metrics_port_close(port);
    monitor_stop(monitor);
    if (rc == RC_OK)
        log_event(LOG_INFO, "monitor_stopped", NULL);
    return rc;
}

enum rc command_monitor_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    char host[256] = "", who[400];
    struct action_settings *settings = NULL;
    struct receiver *receivers = NULL;
    int count = 0;
    enum rc rc = rights_check(cli, "monitor_seen", err);
    if (rc == RC_OK)
        rc = action_settings_load(cli->config, cli_config_wrong, cli, &settings, err);
    if (rc == RC_OK)
        rc = receivers_load(cli->config, settings, cli_config_wrong, cli, &receivers, &count, err);
    if (rc == RC_OK) {
        (void)gethostname(host, sizeof host - 1);
        (void)snprintf(who, sizeof who, "monitor on %s, pid %d", host, (int)getpid());
        config_conninfo(cli->config, &conninfo);
        stop_catch();
        stop_outlives_hang_up();
        /* Before the threads of scheduler/monitor.c (action/action.h). */
        action_start();
        struct monitor_options options = {
            .conninfo = conninfo.data ? conninfo.data : "",
            .host = host,
            .who = who,
            .server = db_server(cli->db),
            .every_ms = (int)config_get_duration_ms(cli->config, "monitor", "every"),
            .receivers = receivers,
            .receiver_count = count,
            .settings = settings};
        rc = run(cli, &options, err);
    }
    receivers_free(receivers, count);
    action_settings_free(settings);
    return rc;
}

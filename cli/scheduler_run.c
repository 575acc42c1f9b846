/* scheduler run: the dispatcher as a process of its own, in the foreground
 * (scheduler/dispatcher.c), or one round of it with --once (scheduler/once.c).
 *
 * Any number of dispatchers may run; one at a time has the lock and works. --once is for hosts
 * whose own cron calls it: it fires all due schedules and ends. */
#include "cli/commands.h"
#include "cli/job_sql.h"
#include "cli/metrics_port.h"
#include "cli/monitor.h"
#include "cli/stop.h"

#include "base/log.h"
#include "base/service.h"
#include "metrics/tally.h"
#include "scheduler/dispatcher.h"
#include "scheduler/once.h"

#include <stdio.h>
#include <unistd.h>

/* A signal ends the wait; the time only bounds it. */
#define CHECK_MS 60000

enum rc command_scheduler_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    char host[256] = "", who[400];
    struct dispatcher *dispatcher = NULL;
    bool held = false;
    int64_t keep_log_ms = config_get_duration_ms(cli->config, "scheduler", "keep_log");
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(who, sizeof who, "scheduler on %s, pid %d", host, (int)getpid());
    const char *task_conninfo = job_tasks_login(cli, &conninfo);
    struct metrics_port *port = NULL;
    struct dispatcher_options options = {.conninfo = conninfo.data ? conninfo.data : "",
                                         .task_conninfo = task_conninfo,
                                         .server = db_server(cli->db),
                                         .who = who,
                                         .keep_log_ms = keep_log_ms};
    if (cli_has(cli, "once")) {
        enum rc once = dispatch_once(cli->db, &options, &held, err);
        if (once != RC_OK || !held)
            return once;
        /* Another session has the lock. If it is no dispatcher, no job fires at all, which must not
         * look like success. */
        once = monitor_check_held(cli, "scheduler", err);
        if (once == RC_OK)
            cli_say(cli, "lockstep: another dispatcher is at work: nothing was to be done here\n");
        return once;
    }
    enum rc rc = rights_check(cli, "dispatch_lock", err);
    if (rc != RC_OK)
        return rc;
    stop_catch();
    stop_outlives_hang_up();
    cli_log_database(cli);
    options.tally = metrics_port_configured(cli) ? tally_new(NULL, 0) : NULL;
    rc = metrics_port_open(cli, options.conninfo, options.server, options.tally, &port, err);
    if (rc == RC_OK)
        rc = dispatcher_start(&options, &dispatcher, err);
    cli_disconnect(cli); /* the daemon has a session of its own */
    if (rc == RC_OK) {
        log_event(LOG_INFO, "scheduler_started", NULL);
        service_ready();
    }
    while (rc == RC_OK && !stop_requested())
        stop_wait(CHECK_MS);
    service_stopping();
    dispatcher_stop(dispatcher);
    metrics_port_close(port);
    tally_free(options.tally);
    if (rc == RC_OK)
        log_event(LOG_INFO, "scheduler_stopped", NULL);
    return rc;
}

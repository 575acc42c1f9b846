/* console run: the console as a daemon, in the foreground. all run: an executor, with its dispatcher of jobs, and the console in one process. */
#include "cli/commands.h"
#include "cli/metrics_port.h"
#include "cli/stop.h"

#include "base/log.h"
#include "config/conninfo.h"
#include "console/console.h"

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

enum rc command_console_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    struct console *console = NULL;
    struct metrics_port *port = NULL;
    config_conninfo(cli->config, &conninfo);
    const struct console_options options = {.conninfo = conninfo.data,
                                            .config = cli->config,
                                            .kafka = &cli->kafka,
                                            .server = db_server(cli->db),
                                            .listen = cli_text(cli, "listen"),
                                            .assets = cli_text(cli, "assets")};
    stop_catch();
    enum rc rc = metrics_port_open(cli, conninfo.data != NULL ? conninfo.data : "",
                                   db_server(cli->db), NULL, &port, err);
    if (rc == RC_OK)
        rc = start_beside(cli, &options, &console, err);
    db_close(cli->db); /* the daemon has sessions of its own */
    cli->db = NULL;
    while (rc == RC_OK && !stop_requested())
        stop_wait(WAIT_MS);
    metrics_port_close(port);
    console_stop(console);
    if (rc == RC_OK)
        log_event(LOG_INFO, "console_stopped", NULL);
    return rc;
}

/* The console first: what is wrong with its configuration is said before an executor begins; and it stays until the executor has drained, so that one sees it. */
enum rc command_all_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    struct console *console = NULL;
    config_conninfo(cli->config, &conninfo);
    const struct console_options options = {.conninfo = conninfo.data,
                                            .config = cli->config,
                                            .kafka = &cli->kafka,
                                            .server = db_server(cli->db),
                                            .listen = cli_text(cli, "listen"),
                                            .assets = cli_text(cli, "assets")};
    enum rc rc = start_beside(cli, &options, &console, err);
    if (rc == RC_OK)
        rc = command_executor_run(cli, err);
    console_stop(console);
    return rc;
}

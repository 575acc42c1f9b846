/* console run: the console as a daemon, in the foreground. */
#include "cli/commands.h"
#include "cli/metrics_port.h"
#include "cli/stop.h"

#include "base/log.h"
#include "config/conninfo.h"
#include "console/console.h"

#define WAIT_MS 60000

enum rc command_console_run(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    STR_AUTO url = {0};
    struct console *console = NULL;
    struct metrics_port *port = NULL;
    config_conninfo(cli->config, &conninfo);
    const struct console_options options = {.conninfo = conninfo.data,
                                            .config = cli->config,
                                            .listen = cli_text(cli, "listen"),
                                            .assets = cli_text(cli, "assets")};
    stop_catch();
    enum rc rc = metrics_port_open(cli, conninfo.data != NULL ? conninfo.data : "",
                                   db_server(cli->db), NULL, &port, err);
    if (rc == RC_OK)
        rc = console_start(&options, &console, err);
    db_close(cli->db); /* the daemon has sessions of its own */
    cli->db = NULL;
    if (rc == RC_OK) {
        console_url(console, &url);
        log_event(LOG_INFO, "console_started", "url", url.data, NULL);
        cli_say(cli, "The console is at %s\n", url.data);
    }
    while (rc == RC_OK && !stop_requested())
        stop_wait(WAIT_MS);
    metrics_port_close(port);
    console_stop(console);
    if (rc == RC_OK)
        log_event(LOG_INFO, "console_stopped", NULL);
    return rc;
}

/**
 * What: the [metrics] port of a daemon: /metrics, /livez and /readyz over HTTP.
 * Invariants: nothing is opened while [metrics] listen is off. It changes nothing and shows no
 *   payloads.
 * Threads: metrics_port_open and metrics_port_close: the command's.
 * Ownership: borrows conninfo and the tally until it is closed.
 * Failure: as console/http.h: an address that cannot be used ends the start.
 */
#ifndef CLI_METRICS_PORT_H
#define CLI_METRICS_PORT_H

#include "cli/cli.h"
#include "db/db.h"

struct metrics_port;
struct tally;

/** Whether there is to be one; then the daemon counts. */
bool metrics_port_configured(const struct cli *cli);
/** *ret_port: NULL if there is to be none. server: that of the daemon's sessions; copied. */
MUST_CHECK enum rc metrics_port_open(const struct cli *cli, const char *conninfo,
                                     const struct db_server *server, const struct tally *tally,
                                     struct metrics_port **ret_port, struct err *err);
void metrics_port_close(struct metrics_port *port); /* NULL is fine */

#endif

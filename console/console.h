/**
 * What: the console: a server with the HTTP API, the page and the event stream of one or many
 *   databases.
 * Invariants: every request is checked in one order (guard.h): its Host, its Origin, its visitor,
 *   the visitor's level, its parameters; only then a statement runs. GET changes nothing.
 * Threads: console_start and console_stop: one.
 * Ownership: options are borrowed while it runs.
 * Failure: as http.h, and RC_FATAL + ERR_CONFIG for options that contradict each other; the hint
 *   names the key to set.
 */
#ifndef CONSOLE_CONSOLE_H
#define CONSOLE_CONSOLE_H

#include "base/err.h"
#include "config/config.h"

struct console;
struct console_cluster; /* clusters.h */
struct db_server;
struct kafka_properties;

struct console_options {
    const char *conninfo; /* of the console's own login; not used when clusters are named */
    const struct console_cluster *clusters; /* by name; the first is the default */
    int cluster_count;
    const struct config *config;          /* [console] */
    const struct kafka_properties *kafka; /* of replays; NULL: there are none */
    const struct db_server *server; /* of conninfo: no other one is asked for metrics; NULL: any */
    const char *listen;             /* instead of the configuration's; NULL */
    const char *assets;             /* a directory instead of the embedded files; NULL */
};

MUST_CHECK enum rc console_start(const struct console_options *options,
                                 struct console **ret_console, struct err *err);
void console_stop(struct console *console); /* NULL is fine */
/** Where it is, for people. */
void console_url(const struct console *console, struct str *url);

#endif

/**
 * What: one run of the program: the command, its options, and the configuration and sessions that
 *   were prepared for it.
 * Invariants: a command's function runs only when everything its row in cli/commands.c needs is
 *   there. Results go to stdout, talk to stderr.
 * Threads: the main thread.
 * Ownership: struct cli owns configuration, session, Kafka properties and option values.
 * Failure: a command returns its rc and fills err; cli/exit.c turns err->kind into the exit code.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "db/db.h"
#include "kafka/kafka.h"

#include <stdbool.h>

struct cli {
    const struct command *command;
    const char *noun; /* as typed, when no command was found */
    struct option_use {
        const struct option_spec *spec;
        char *value; /* a word as its list spells it, else as typed */
    } * uses;
    int use_count;
    char **arguments;
    int argument_count;
    struct config *config;
    struct kafka_properties kafka;
    struct db *db;
    enum output output;
    bool help, quiet, color, wide, reported; /* reported: the error is already on stderr */
    int verbose;
};

/** A config_report_fn whose context is the struct cli: reports the error at once. */
void cli_config_wrong(void *cli, const struct err *err);

/** The configuration that this call of the program has: file, environment, options, as they are
 * now. Each fault goes to report. */
MUST_CHECK enum rc cli_config_load(struct cli *cli, config_report_fn *report, void *context,
                                   struct config **ret_config, struct err *err);
/** Whether the error that comes is on stderr already. */
void cli_reported(struct cli *cli, bool reported);
void cli_configure_log(const struct cli *cli, const struct config *config);

/** Everything from argv to the exit code. */
int cli_main(int argc, char **argv);

/** Opens the session, with the zone of --time-zone and the schema that the command needs: for a
 * command that reports itself why it has none. cli->db may be open after a failure. */
MUST_CHECK enum rc cli_connect(struct cli *cli, struct err *err);
/** For a daemon, which has sessions of its own. */
void cli_disconnect(struct cli *cli);
/** Logs which database the session reaches, and as whom: a daemon's first line. */
void cli_log_database(const struct cli *cli);
/** A new session instead of one that is lost. RC_LOST, RC_RETRY: not now. cli->db is NULL then. */
MUST_CHECK enum rc cli_reconnect(struct cli *cli, struct err *err);
/** The same again and again, for so long, or until a signal (cli/stop.h). */
MUST_CHECK enum rc cli_reconnect_within(struct cli *cli, int patience_ms, int every_ms,
                                        struct err *err);

#endif

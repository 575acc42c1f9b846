/**
 * What: one run of the program: the command, its options, and what the dispatcher made ready for it.
 * Invariants: a command's function runs only when everything its row in cli/commands.c needs is there. Results go to
 *   stdout, talk to stderr.
 * Threads: the main thread.
 * Ownership: struct cli owns configuration, session, Kafka properties and option values.
 * Failure: a command returns its rc and fills err; cli/exit.c turns err->kind into the exit code.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"
#include "base/number.h"
#include "cli/table.h"
#include "config/config.h"
#include "db/db.h"
#include "kafka/kafka.h"
#include <stdbool.h>
#include <stdint.h>

struct cli;
typedef enum rc command_fn(struct cli *cli, struct err *err);

enum needs {
    NEEDS_NOTHING = 0,
    NEEDS_CONFIG = 1,
    NEEDS_DB = 2 | NEEDS_CONFIG,
    NEEDS_SCHEMA = 4 | NEEDS_DB,
    NEEDS_PRIMARY = 8, /* a session for migrations */
    NEEDS_KAFKA = 16 | NEEDS_CONFIG,
    NEEDS_PATIENCE = 32 /* a daemon: a server that takes nobody now is waited for */
};

/** argument NULL: a flag; "N:LEAST:MOST": a number, "N" alone: 0 or more; "N|...": or one of these words; "TIME:LEAST:MOST": a
 * duration, the range in ms; with '|': one of these words, in any case; else any text. */
struct option_spec {
    const char *name, *argument, *help;
    char letter;
};

struct command {
    const char *noun, *verb; /* verb "" for commands of one word */
    const char *arguments; /* "NAME": one, "[FILE]": one or none, "[ID...]": any number, "" none */
    unsigned needs;
    command_fn *run;
    const char *summary;
    const struct option_spec *options; /* NULL, or ended by a row without name */
    const char *example;               /* NULL: none */
};
extern const struct command commands[]; /* ended by a row without noun */
bool is_noun(const char *word);
/** Of the rows with its noun it is the first. */
bool first_of_noun(const struct command *row);
extern const struct option_spec global_options[];

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
    bool help, quiet, color, wide, told; /* told: the error is already on stderr */
    int verbose;
};

/** A config_report_fn whose context is the struct cli: tells it at once. */
void cli_config_wrong(void *cli, const struct err *err);

/** The configuration that this call of the program has: file, environment, options, as they are now. What is wrong goes to report. */
MUST_CHECK enum rc cli_config_load(struct cli *cli, config_report_fn *report, void *context,
                                   struct config **ret_config, struct err *err);
void cli_configure_log(const struct cli *cli, const struct config *config);

/** Everything from argv to the exit code. */
int cli_main(int argc, char **argv);

/** Finds command, options and arguments in argv. RC_REJECT + ERR_USAGE. */
MUST_CHECK enum rc options_parse(struct cli *cli, int argc, char **argv, struct err *err);

/** A copy of value if it fits its option, a word in its list's spelling; freed with the options. RC_REJECT + ERR_USAGE with what
 * would have been right. */
MUST_CHECK enum rc option_value(const struct cli *cli, const struct option_spec *spec,
                                const char *value, char **ret_value, struct err *err);
void options_free(struct cli *cli);
/** An option's argument as help names it: "N", "WORD", "FILE". */
const char *option_argument(const struct option_spec *spec, char buffer[40]);
/** The words of an option as help lists them, "a|b|c", in buffer; "" if it takes none, or too many to list. */
const char *option_words(const struct option_spec *spec, char buffer[200]);

/** The last value of an option, NULL if not given. */
const char *cli_text(const struct cli *cli, const char *name);
bool cli_has(const struct cli *cli, const char *name);
/** The value of an option with argument N or TIME (in ms), fallback if not given. */
int64_t cli_int(const struct cli *cli, const char *name, int64_t fallback);
/** The index-th value of a repeated option, NULL at the end. */
const char *cli_repeated(const struct cli *cli, const char *name, int index);

/** "queue create" for messages, in buffer. */
const char *cli_command_name(const struct cli *cli, char buffer[64]);

void help_program(FILE *out);
void help_noun(FILE *out, const char *noun);
void help_command(FILE *out, const struct command *command);

/** A new session instead of one that is lost. RC_LOST, RC_RETRY: not now. cli->db is NULL then. */
MUST_CHECK enum rc cli_reconnect(struct cli *cli, struct err *err);

/** Talk on stderr, not with -q. */
void cli_say(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Prints a result as the command's answer. */
MUST_CHECK enum rc cli_print(struct cli *cli, const struct db_result *result, struct err *err);

/** The same of a list, which people get with the columns `shorts` ("a,b,c") alone, unless they say --wide. */
MUST_CHECK enum rc cli_print_list(struct cli *cli, const struct db_result *result,
                                  const char *shorts, struct err *err);

/** As the options say. */
struct table_style cli_style(const struct cli *cli);

#endif

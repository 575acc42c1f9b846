/**
 * What: the table of commands: the form of its rows and options, and the help that is made from it.
 * Invariants: the parser, `--help`, the man pages and the completions read this table.
 * Threads: the main thread.
 * Ownership: the table is static; texts go into the caller's buffer.
 * Failure: none.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct cli;
typedef enum rc command_fn(struct cli *cli, struct err *err);

enum needs {
    NEEDS_NOTHING = 0,
    NEEDS_CONFIG = 1,
    NEEDS_DB = 2 | NEEDS_CONFIG,
    NEEDS_SCHEMA = 4 | NEEDS_DB,
    NEEDS_PRIMARY = 8, /* a session for migrations */
    NEEDS_KAFKA = 16 | NEEDS_CONFIG,
    NEEDS_PATIENCE = 32 /* a daemon: it waits for a server that takes no sessions now */
};

/** argument NULL: a flag; "N:LEAST:MOST": a number, "N" alone: 0 or more; "N|...": or one of these
 * words; "TIME:LEAST:MOST": a duration, the range in ms; with '|': one of these words, in any case;
 * else any text. */
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

/** An option's argument as help names it: "N", "WORD", "FILE". */
const char *option_argument(const struct option_spec *spec, char buffer[40]);
/** The words of an option as help lists them, "a|b|c", in buffer; "" if it takes none, or too many
 * to list. */
const char *option_words(const struct option_spec *spec, char buffer[200]);

void help_program(FILE *out);
void help_noun(FILE *out, const char *noun);
void help_command(FILE *out, const struct command *command);

#endif

/**
 * What: command, options and arguments of one call, found in argv and checked against the table.
 * Invariants: the value of an option fits what its row says; a word has its list's spelling.
 * Threads: the main thread.
 * Ownership: struct cli owns the values until options_free.
 * Failure: RC_REJECT + ERR_USAGE, with a right form as the hint.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/err.h"
#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct option_spec;

/** Finds command, options and arguments in argv. RC_REJECT + ERR_USAGE. */
MUST_CHECK enum rc options_parse(struct cli *cli, int argc, char **argv, struct err *err);

/** A copy of value if it fits its option, a word in its list's spelling; freed with the options.
 * RC_REJECT + ERR_USAGE with a right form. */
MUST_CHECK enum rc option_value(const struct cli *cli, const struct option_spec *spec,
                                const char *value, char **ret_value, struct err *err);
void options_free(struct cli *cli);

/** The last value of an option, NULL if not given. */
const char *cli_text(const struct cli *cli, const char *name);
bool cli_has(const struct cli *cli, const char *name);
/** The value of an option with argument N or TIME (in ms), fallback if not given. */
int64_t cli_int(const struct cli *cli, const char *name, int64_t fallback);
/** The index-th value of a repeated option, NULL at the end. */
const char *cli_repeated(const struct cli *cli, const char *name, int index);

/** "queue create" for messages, in buffer. */
const char *cli_command_name(const struct cli *cli, char buffer[64]);

#endif

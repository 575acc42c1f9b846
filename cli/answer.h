/**
 * What: the output of a command: talk on stderr, its answer as a table on stdout.
 * Invariants: results go to stdout, in the form that -o asks for; -q silences the talk alone.
 * Threads: the main thread.
 * Ownership: results are borrowed.
 * Failure: the rc of the write to stdout.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "base/err.h"
#include "cli/table.h"

struct cli;
struct db_result;

/** Talk on stderr, not with -q. */
void cli_say(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Prints a result as the command's answer. */
MUST_CHECK enum rc cli_print(struct cli *cli, const struct db_result *result, struct err *err);

/** The same of a list, which people get with the columns `shorts` (cli/table.h) alone, unless they
 * say --wide. */
MUST_CHECK enum rc cli_print_list(struct cli *cli, const struct db_result *result,
                                  const char *shorts, struct err *err);

/** The same; the last of these columns is never cut: it continues in the next line. */
MUST_CHECK enum rc cli_print_wrapped(struct cli *cli, const struct db_result *result,
                                     const char *shorts, struct err *err);

/** As the options say. */
struct table_style cli_style(const struct cli *cli);

#endif

/**
 * What: the options of migrate, check and bench: a part of the table in cli/commands.c.
 * Invariants: as cli/command.h.
 * Threads: constants.
 * Ownership: static.
 * Failure: none.
 */
#ifndef CLI_SETUP_OPTIONS_H
#define CLI_SETUP_OPTIONS_H

#include "cli/command.h"

extern const struct option_spec migrate_up_options[], migrate_roles_options[], check_options[],
    bench_options[];

#endif

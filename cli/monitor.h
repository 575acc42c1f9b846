/**
 * What: the common part of the commands about jobs and those of the monitor.
 * Invariants: none.
 * Threads: the command's.
 * Ownership: borrows.
 * Failure: RC_FATAL + ERR_FAILED, or the database's.
 */
#ifndef CLI_MONITOR_H
#define CLI_MONITOR_H

#include "cli/cli.h"

/** A session that is no dispatcher keeps dispatchers from work: an error of object, which names
 * it. */
MUST_CHECK enum rc monitor_check_held(struct cli *cli, const char *object, struct err *err);

#endif

/**
 * What: the options of `queue create` and `queue set` for the retention of a queue (--keep-...).
 * Invariants: the retention that `queue set` has set wins over [queue:NAME] of the executors'
 *   configuration files, until --keep-from-file.
 * Threads: the command's own.
 * Ownership: nothing.
 * Failure: ERR_USAGE: options that contradict each other.
 */
#ifndef CLI_QUEUE_KEEP_H
#define CLI_QUEUE_KEEP_H

#include "cli/cli.h"

/** Is one of the options given? */
bool queue_keep_given(const struct cli *cli);
MUST_CHECK enum rc queue_keep_check(const struct cli *cli, struct err *err);
/** Writes what is given. */
MUST_CHECK enum rc queue_keep_set(struct cli *cli, const char *name, struct err *err);

#endif

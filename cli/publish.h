/**
 * What: publishes as `lockstep publish` does, for commands that have work of their own to publish:
 *   talk, progress, and the answer on stdout.
 * Invariants: the run's id is alone on stdout, unless a format for programs is asked for.
 * Threads: the main thread.
 * Ownership: borrows all.
 * Failure: as producer/publish.h.
 */
#ifndef CLI_PUBLISH_H
#define CLI_PUBLISH_H

#include "cli/cli.h"
#include "producer/publish.h"

/** options: all but the connection, the options that all these commands have (dry-run, wait,
 * timeout), and the callbacks. */
MUST_CHECK enum rc publish_and_report(struct cli *cli, struct publish_options *options,
                                      struct err *err);

#endif

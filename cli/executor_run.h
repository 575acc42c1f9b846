/**
 * What: the options of an executor by the configuration and the command line.
 * Invariants: what the caller does not change afterwards is what executor run has.
 * Threads: the main thread.
 * Ownership: the options borrow conninfo, the queues and the configuration.
 * Failure: none.
 */
#ifndef CLI_EXECUTOR_RUN_H
#define CLI_EXECUTOR_RUN_H

#include "base/str.h"
#include "cli/cli.h"
#include "executor/executor.h"

/** conninfo: empty, and the caller's until the executor has ended. */
struct executor_options executor_configured(struct cli *cli, const char *const *queues, int count,
                                            struct str *conninfo);

#endif

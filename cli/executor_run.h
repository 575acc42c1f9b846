/**
 * What: the options of an executor by the configuration and the command line.
 * Invariants: the options are those of executor run, until the caller changes some.
 * Threads: the main thread.
 * Ownership: the options borrow conninfo, the queues and the configuration.
 * Failure: none.
 */
#ifndef CLI_EXECUTOR_RUN_H
#define CLI_EXECUTOR_RUN_H

#include "base/str.h"
#include "cli/cli.h"
#include "executor/executor.h"

struct action_shelf;

/** conninfo: empty, and the caller's until the executor has ended. */
struct executor_options executor_configured(struct cli *cli, const char *const *queues, int count,
                                            struct action_shelf *actions, struct str *conninfo);

#endif

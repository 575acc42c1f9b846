/**
 * What: how the runner starts the command itself: own session and group, clean environment, limits,
 *   user.
 * Invariants: the command inherits nothing but standard input, output and error.
 * Threads: the runner's one.
 * Ownership: the three pipe ends are the caller's; they do not block.
 * Failure: false: error is the errno of step.
 */
#ifndef ACTION_RUNNER_CHILD_H
#define ACTION_RUNNER_CHILD_H

#include "action/wire.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int in, out, err; /* -1: closed */
    int error;
    char step[40];
};

bool child_start(const struct wire_spec *spec, const char *texts, struct child *child);

#endif

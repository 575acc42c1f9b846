/**
 * What: what the commands of jobs share.
 * Invariants: the database checks; what it refuses is told as a usage error.
 * Threads: the main thread.
 * Ownership: borrows.
 * Failure: as cli/cli.h.
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "base/err.h"

/** What a function of jobs has refused, as the command's error. */
enum rc job_said(enum rc rc, struct err *err);

#endif

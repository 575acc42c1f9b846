/**
 * What: the common part of the commands of jobs.
 * Invariants: the database checks; its refusal is reported as a usage error.
 * Threads: the main thread.
 * Ownership: borrows.
 * Failure: as cli/cli.h.
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "base/err.h"
#include "base/str.h"

/** Turns the refusal of a function of jobs into the command's error. */
enum rc job_refused(enum rc rc, struct err *err);
/** Names the option --to or --from in an error that a function of the database reports of its
 * parameter until or from. */
void job_name_option(struct err *err);

/** A whole file, at most 64 MiB, without a NUL byte; "-": standard input. RC_REJECT + ERR_USAGE. */
MUST_CHECK enum rc job_read_file(const char *path, struct str *text, struct err *err);

#endif

/**
 * What: `run show --svg FILE --html FILE`.
 * Invariants: a file is there whole, or as it was. The file - is standard output.
 * Threads: the main thread. Ownership: borrows.
 * Failure: as db_run; RC_REJECT where a file cannot be written.
 */
#ifndef CLI_RUN_PICTURE_H
#define CLI_RUN_PICTURE_H

#include "cli/cli.h"

/** Writes the files that the options name. */
MUST_CHECK enum rc run_picture(struct cli *cli, int64_t run_no, struct err *err);

#endif

/**
 * What: follows a run until it has ended: `run watch`, and commands that wait for the run that they
 *   have started.
 * Threads: one.
 * Ownership: nothing is kept.
 * Failure: ERR_FAILED: the run ended otherwise than completed; ERR_CANCELLED: watching was
 *   interrupted, and the run continues. A lost session is opened again.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "cli/find.h"

MUST_CHECK enum rc watch_run(struct cli *cli, const struct run_row *run, struct err *err);

#endif

/**
 * What: a run as a picture: a bar a phase over the run's time; the darker, the more of its tasks
 *   ran at that time.
 * Invariants: one line a phase, at most as wide as the terminal; of many phases the first and the
 *   last are drawn.
 * Threads: the main thread.
 * Ownership: borrows.
 * Failure: as db_run.
 */
#ifndef CLI_GANTT_H
#define CLI_GANTT_H

#include "cli/cli.h"

/** phases: the result of run_phases, its order in column 0 and its tasks in column 2. */
MUST_CHECK enum rc gantt_print(struct cli *cli, int64_t run_no, const struct db_result *phases,
                               struct err *err);

/** Whether the terminal takes the block characters: UTF-8, and not asked otherwise with --ascii. */
bool gantt_blocks(const struct cli *cli);

#endif

/**
 * What: the options of the commands of jobs and schedules: a part of the table in cli/commands.c.
 * Invariants: as cli/command.h.
 * Threads: constants.
 * Ownership: static.
 * Failure: none.
 */
#ifndef CLI_JOB_OPTIONS_H
#define CLI_JOB_OPTIONS_H

#include "cli/command.h"

extern const struct option_spec schedule_next_options[], schedule_explain_options[],
    schedule_forecast_options[], schedule_change_options[], job_apply_options[],
    job_import_options[], job_test_options[], job_run_options[], job_backfill_options[],
    job_change_options[], job_set_options[];

#endif

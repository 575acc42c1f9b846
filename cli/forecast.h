/**
 * What: times that are to come as a drawing for people: a line for each job, and a column for each
 *   minute, hour or day, whichever lets all of them fit the terminal.
 * Invariants: no line is wider than the terminal; in a cell is how many times fall into it.
 * Threads: the command's.
 * Ownership: borrows.
 * Failure: the database's, which says into which column a time falls.
 */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H

#include "cli/cli.h"
#include "db/result.h"

/** times: of the statement job_forecast. */
MUST_CHECK enum rc forecast_draw(struct cli *cli, const struct db_result *times, struct err *err);

#endif

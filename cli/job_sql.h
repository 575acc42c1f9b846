/**
 * What: SQL of users in jobs, as commands run it: in a session of the tasks' login.
 * Invariants: nothing of it runs in the command's own session. The statements of a test or a check
 *   cannot write.
 * Threads: the main thread.
 * Ownership: struct job_found owns its rows; job_found_done.
 * Failure: as cli/cli.h. Without task_conninfo the command's own login is the tasks', as for
 *   executors.
 */
#ifndef CLI_JOB_SQL_H
#define CLI_JOB_SQL_H

#include "cli/cli.h"
#include "db/result.h"

#include "base/str.h"
#include "scheduler/ask.h"

/** Whose login runs SQL of users. *conninfo has the command's own one then, too; the text lives as
 * long as it and the configuration. */
const char *job_tasks_login(struct cli *cli, struct str *conninfo);

/** Fires a job that has SQL of its own, for the token of *ask, which is freed. run: of the firing;
 * "": the job's query has returned no task. At least 40 bytes. */
MUST_CHECK enum rc job_sql_fire(struct cli *cli, struct ask *ask, char *run, struct err *err);

/** The SQL was refused because no login of tasks is configured, and the command's own is none. */
bool job_sql_lacks_login(struct cli *cli, const struct err *err);

/** Texts that are NULL: there is none of it. */
struct job_found {
    struct db_result *row;
    const char *rows, *oldest, *newest; /* what a look at the trigger has found; parts of row */
    char *queried;                      /* by schedule the rows of the query: a JSON object */
};
/** What a test of the job needs to know of it, as if it were the time at (NULL: now). */
MUST_CHECK enum rc job_sql_find(struct cli *cli, const char *job, const char *at,
                                struct job_found *ret_found, struct err *err);
void job_found_done(struct job_found *found);

/** Refuses the jobs of a file if one of their statements would be refused when it runs. Nothing,
 * without task_conninfo. */
MUST_CHECK enum rc job_sql_check(struct cli *cli, const char *jobs, struct err *err);

#endif

/* From control to the dispatcher (scheduler/dispatcher.h), which has a thread and a session of its
 * own. Every executor listens; the lock of dispatch decides which one of them dispatches. The other
 * dispatchers wait, and the heartbeat asks for them whether the lock is free. */
#include "executor/jobs.h"

#include "executor/alive.h"
#include "executor/executor.h"
#include "executor/lane.h"

#include "base/log.h"
#include "base/memory.h"
#include "db/db.h"
#include "scheduler/dispatcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct jobs {
    struct dispatcher *dispatcher; /* NULL: not needed yet */
    char who[400];                 /* as which the occurrences name it */
};

static void stands_by(void *context, bool stands_by)
{
    alive_stand_by(context, stands_by);
}

void jobs_free(struct jobs *jobs)
{
    if (jobs != NULL && jobs->dispatcher != NULL)
        dispatcher_try(jobs->dispatcher);
}

/* Started at the first job and never stopped while the incarnation lives: a queue of jobs that
 * becomes empty is filled again. */
void jobs_notified(struct executor *ex)
{
    struct jobs *jobs = ex->services.jobs;
    char host[256] = "";
    struct err err;
    if (jobs == NULL || jobs->dispatcher != NULL)
        return;
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(jobs->who, sizeof jobs->who, "executor %s on %s, pid %d", ex->incarnation.id,
                   host, (int)getpid());
    const char *conninfo = ex->options->conninfo, *task_conninfo = ex->options->task_conninfo;
    const struct dispatcher_options options = {.conninfo = conninfo,
                                               .task_conninfo =
                                                   task_conninfo != NULL ? task_conninfo : conninfo,
                                               .server = db_server(ex->control.db),
                                               .executor_no = ex->incarnation.executor_no,
                                               .who = jobs->who,
                                               .keep_log_ms = ex->options->keep_log_ms,
                                               .stands_by = stands_by,
                                               .context = ex->services.alive,
                                               .tally = ex->options->tally};
    if (dispatcher_start(&options, &jobs->dispatcher, &err) != RC_OK)
        log_err(LOG_WARN, "dispatcher_not_started", NULL, &err);
}

/* LISTEN before the question: a job that is made in between is in the answer or is notified. */
enum rc jobs_begin(struct executor *ex, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    if (!ex->options->dispatches)
        return RC_OK;
    ex->services.jobs = xcalloc(1, sizeof *ex->services.jobs);
    enum rc rc = db_script(ex->control.db, "LISTEN " DISPATCHER_CHANNEL, NULL, err);
    if (rc == RC_OK)
        rc = db_run(ex->control.db, &sql_job_exist, NULL, &row, err);
    if (rc == RC_OK && db_bool(row, 0, JOB_EXIST_ANY))
        jobs_notified(ex);
    return rc;
}

void jobs_end(struct executor *ex)
{
    if (ex->services.jobs == NULL)
        return;
    dispatcher_stop(ex->services.jobs->dispatcher);
    free(ex->services.jobs);
    ex->services.jobs = NULL;
}

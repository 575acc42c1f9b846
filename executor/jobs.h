/**
 * What: the dispatcher of jobs in this executor. It is started when there is a job for the first
 *   time, so who has none pays nothing.
 * Invariants: a notification only says that it may be needed.
 * Threads: control.
 * Ownership: jobs_end frees it.
 * Failure: a thread that cannot be started is logged; other executors dispatch.
 */
#ifndef EXECUTOR_JOBS_H
#define EXECUTOR_JOBS_H

#include "base/err.h"

struct executor;
struct jobs;

/** Listens, and checks whether there are jobs. */
MUST_CHECK enum rc jobs_begin(struct executor *ex, struct err *err);
/** Jobs were changed, as a notification reports. */
void jobs_notified(struct executor *ex);
/** The lock of dispatch may be free. */
void jobs_free(struct jobs *jobs);
void jobs_end(struct executor *ex);

#endif

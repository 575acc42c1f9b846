/**
 * What: carries out the requests of operators: to stop tasks, to pause runs, to use fewer readers,
 *   to end.
 * Invariants: rows have the requests; a notification only says when to read them.
 * Threads: control.
 * Ownership: the lane owns the list of paused runs.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_REQUESTS_H
#define EXECUTOR_REQUESTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct buffered;
struct lane;
struct readers;

/** A run that an operator holds: nothing of it is adopted or started. */
struct paused_run {
    int64_t run_no;
    char run_id[37]; /* "": the implicit run */
    bool stops;      /* nothing of it is claimed, so the records behind it wait, too */
};

/** Those of a lane. */
struct paused_runs {
    struct paused_run *runs;
    int count;
};

/** Asks which tasks in hand are cancelled. Those that are not started are dropped, and the others
 * are stopped. */
MUST_CHECK enum rc requests_check_stops(struct lane *lane, struct err *err);
/** Cancels the tasks that are to be stopped, again and again until they end. */
void requests_interrupt(struct readers *readers, int64_t now_us);
/** What the readers run now is to be stopped, too. */
void requests_stop_running(struct readers *readers, int64_t now_us);
int64_t requests_due_us(const struct executor *ex); /* 0: nothing is being stopped */
/** Reads which runs are paused, how many readers to use, and whether to end. */
MUST_CHECK enum rc requests_read(struct lane *lane, struct err *err);
/** Nothing of the run of this record is to be claimed. */
bool run_is_paused(const struct paused_runs *paused, const struct buffered *head);

#endif

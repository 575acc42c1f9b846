/**
 * What: carries out the requests of operators: to stop tasks, to hold runs, to use fewer readers,
 *   to end.
 * Invariants: rows have the requests; a notification only says when to read them.
 * Threads: control.
 * Ownership: the lane owns the list of held runs.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_OBEY_H
#define EXECUTOR_OBEY_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct held;
struct lane;
struct readers;

/** A run that an operator holds: nothing of it is adopted or started. */
struct held_run {
    int64_t run_no;
    char run_id[37]; /* "": the implicit run */
    bool stops;      /* nothing of it is claimed, so what lies behind it waits, too */
};

/** Those of a lane. */
struct holds {
    struct held_run *runs;
    int count;
};

/* Which tasks in our hands are cancelled: those that are not started are dropped, the others
 * stopped. */
MUST_CHECK enum rc obey_stops(struct lane *lane, struct err *err);
void obey_interrupt(struct readers *readers, int64_t now_us);
int64_t obey_due_us(const struct executor *ex); /* 0: nothing is being stopped */
/* What is held, how many readers to use, whether to end. */
MUST_CHECK enum rc obey_control(struct lane *lane, struct err *err);
bool obey_holds(const struct holds *holds, const struct held *head);

#endif

/**
 * What: an assignment: a work, with the notes of the executor. A reader sees the work alone.
 * Invariants: every work in executor/ is the one of an assignment. lane and phase do not change;
 *   each other field is written by the file that its comment names.
 * Threads: control.
 * Ownership: work_free(&assignment->work) frees it.
 * Failure: -
 */
#ifndef EXECUTOR_ASSIGNMENT_H
#define EXECUTOR_ASSIGNMENT_H

#include "reader/work.h"

struct assignment {
    struct work work; /* first */
    struct lane *lane;
    struct phase *phase;
    int64_t place;             /* phases.c: its place among all that came to the lane */
    int64_t arrived_us;        /* phases.c: when it came to the lane */
    struct assignment *behind; /* readers.c: the reader runs it next */
    int64_t head_since_us;     /* readers.c: when the reader came to it, 0 = not yet */
    bool marked;               /* execute.c: shown as Processing */
    int late; /* execute.c: 1 its statement was cancelled for its time-out, 2 its session cut off */
    int64_t stop_us;       /* requests.c: since when it is to be stopped, 0 = not */
    int64_t stop_again_us; /* requests.c: the next cancel is sent then */
    bool severed;          /* requests.c: its session was cut off for that */
    bool stopped;          /* requests.c: an operator has asked for it */
};

/** Of the row of a task, which was claimed or adopted for this phase of the lane. */
struct work *assignment_new(struct lane *lane, struct phase *phase, const struct work_row *row);

/** The assignment of a work, to read and to write. */
static inline const struct assignment *assignment_of(const struct work *work)
{
    return (const struct assignment *)work;
}

static inline struct assignment *assignment_own(struct work *work)
{
    return (struct assignment *)work;
}

#endif

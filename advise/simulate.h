/**
 * What: a finished run, replayed with another number of readers: its measured task times through
 *   the rules of phases. Tasks in their order onto the reader that is free first (list scheduling,
 *   Graham 1966), one phase after the other, with the run's own barriers and times between two
 *   tasks. Pure arithmetic.
 * Invariants: with the number of readers that it had, a run takes as long as it took. Effects of
 *   the number of readers other than waiting (a database that is busy makes tasks slower) are not
 *   known here.
 * Threads: any; no state.
 * Ownership: simulate_done frees what a run has; it may be called twice.
 * Failure: none.
 */
#ifndef ADVISE_SIMULATE_H
#define ADVISE_SIMULATE_H

#include <stdint.h>

/** An attempt that took a reader; times in microseconds since the run began. */
struct simulate_item {
    int64_t task_id, start_us, busy_us;
};

struct simulate_phase {
    int64_t order;
    struct simulate_item *items; /* owned; in the order in which they are given to readers */
    int count;
    int64_t first_us, last_us; /* its first start and last end, also of tasks that take no reader */
    int64_t floor_us; /* it takes as long with any number: external tasks, waits between attempts */
};

struct simulate_run {
    char run_id[40];
    struct simulate_phase *phases; /* owned; in order */
    int count;
    /* What simulate_measure finds. */
    int readers;        /* the most that were busy at once */
    double handover_us; /* of one reader, from a task's end to the next start; a mean */
    double ramp_us;     /* of a phase, from the first reader's start to the last one's; a mean */
    double barrier_us;  /* between phases, all of them together */
    double work_us;     /* of all readers */
    double makespan_us; /* as it was */
};

/** A phase whose longest task alone takes as long as all of it does with `readers` or more. */
struct simulate_straggler {
    int64_t order, task_id;
    double busy_us;
    int readers;
};

/** Computes the fields above of each run from its items. A pause of an operator, or a producer that
 * was slow, counts for at most 20 times the median of all these runs, or 1 s if that is more; for
 * 1 s if there are too few times for a median (fewer than 3 barriers, or than 2 handovers for each
 * reader). */
void simulate_measure(struct simulate_run *runs, int count);

/** How long the phase, and the run, would take. */
double simulate_phase(const struct simulate_run *run, const struct simulate_phase *phase,
                      int readers);
double simulate_makespan(const struct simulate_run *run, int readers);

/** readers 0: with no number up to most, or its longest task is less than twice the median. */
struct simulate_straggler simulate_straggler(const struct simulate_run *run,
                                             const struct simulate_phase *phase, int most);

/** The least number from which up to most no other is faster by a tenth; makespans[0] is of one
 * reader. */
int simulate_knee(const double *makespans, int most);

void simulate_done(struct simulate_run *run);

#endif

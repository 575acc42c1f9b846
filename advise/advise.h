/**
 * What: the effect of more or fewer readers on a queue: its newest finished runs, replayed with 1
 *   to `most` readers (advise/simulate.h).
 * Invariants: one document for `queue advise -o json` and for the console. All times are means of
 *   one run.
 * Threads: that of the session.
 * Ownership: the caller frees with advice_free.
 * Failure: as db_run. RC_NONE: no run of the queue has finished with tasks that still have their
 *   times.
 */
#ifndef ADVISE_ADVISE_H
#define ADVISE_ADVISE_H

#include "advise/simulate.h"
#include "base/err.h"
#include "base/str.h"
#include "db/db.h"

#define ADVISE_READERS    64
#define ADVISE_RUNS       10
#define ADVISE_TASKS      300000
#define ADVISE_STRAGGLERS 10

/** What is replayed: the newest runs, fewer if they have more tasks, with 1 to `readers` readers,
 * at most ADVISE_READERS. */
struct advice_bounds {
    int runs, readers;
    int64_t tasks;
};

struct advice_straggler {
    char run_id[40];
    struct simulate_straggler phase;
};

struct advice {
    int runs;
    int64_t tasks; /* attempts, of all runs */
    double phases; /* from here on of one run, times in microseconds */
    double makespan_us, replayed_us, work_us, barrier_us, handover_us;
    int readers; /* the most that were busy at once in any of them */
    int most, knee;
    double makespans_us[ADVISE_READERS]; /* [0]: of one reader */
    struct advice_straggler
        stragglers[ADVISE_STRAGGLERS]; /* the longest first, one of each order */
    int straggler_count;
};

MUST_CHECK enum rc advise_queue(struct db *db, int64_t queue_id, const struct advice_bounds *bounds,
                                struct advice **ret_advice, struct err *err);
void advice_free(struct advice *advice); /* NULL is fine */

/** Of the readers' time, the share in which they would do nothing. */
double advice_idle(const struct advice *advice, int readers);

/** Appends all of it as one JSON document, for a queue by its name. RC_NONE: there is no such
 * queue; a queue without a finished run has a document. */
MUST_CHECK enum rc advise_document(struct db *db, const char *queue,
                                   const struct advice_bounds *bounds, struct str *out,
                                   struct err *err);

#endif

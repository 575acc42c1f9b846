/**
 * What: which tasks are risky to run behind others on a session: their texts do not show all that
 *   they may do (reader/risks.h).
 * Invariants: only judging.c writes the fields. A task that was not judged counts as a risk.
 * Threads: control.
 * Ownership: embedded in the executor; owns one reference to the risks.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_JUDGING_H
#define EXECUTOR_JUDGING_H

#include "base/err.h"

#include <stdint.h>

struct executor;
struct phase;
struct risks;

struct judging {
    struct risks *risks; /* reader/risks.h; NULL: not read yet */
    int64_t until_us;    /* they are too old then */
    int64_t after_us;    /* not to be read again before */
    int unjudged;        /* tasks that were started since then without knowing */
};

/** Reads the risks if the tasks of the phase that is next are worth it; NULL: none is. */
MUST_CHECK enum rc judge(struct executor *ex, const struct phase *next, struct err *err);
/** The risks for a task of the phase that starts now: a reference; NULL: not known. */
struct risks *judging_risks(struct judging *judging, const struct phase *phase, int64_t now_us);
void judging_done(struct judging *judging);

#endif

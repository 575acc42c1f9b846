/**
 * What: the wait between claim and start: one thread and session per active run waits for IX of the phase before.
 * Invariants: as long as this executor has S of that phase, no gate waits: the executor that gives the last S back opens the next phase.
 * Threads: control, which tells a gate by mail.
 * Ownership: a gate belongs to its lane; gates_stop ends all.
 * Failure: RC_LOST: a gate has lost its session.
 */
#ifndef EXECUTOR_GATE_H
#define EXECUTOR_GATE_H

#include "base/err.h"
#include "base/mailbox.h"

#include <stdbool.h>
#include <stdint.h>

struct db_result;
struct lane;
struct phase;

/** Phases that control has opened and for which lockstep.opened is to be called: of short tasks for several at once. */
#define UNTOLD_MOST 8
struct untold {
    int64_t phase_ids[UNTOLD_MOST];
    int count;
    int64_t since_us; /* the first of them */
};

MUST_CHECK enum rc gate(struct lane *lane,
                        struct err *err); /* asks the gates for what is not open */
MUST_CHECK enum rc gate_report(struct mail *mail, struct err *err);
void gates_wake(struct lane *lane);
void gate_release(struct phase *phase); /* gives IX of the phase before back, if a gate has it */
/* The phase that may open when S of this one is given back and that no gate waits for; NULL: none. */
struct phase *gate_behind(const struct lane *lane, const struct phase *phase);
/* What release.sql says of the next phase. */
MUST_CHECK enum rc gate_passed(struct lane *lane, const struct db_result *row, struct err *err);
/* Of phases that were opened so: by a gate that waits for nothing, so that no task waits for it, and not before it is time; all, at once. */
MUST_CHECK enum rc openings_tell(struct lane *lane, struct err *err);
MUST_CHECK enum rc openings_told(struct lane *lane, struct err *err);
int64_t openings_due_us(const struct lane *lane);
void gates_stop(struct lane *lane, bool clean);

#endif

/**
 * What: the wait between claim and start: one thread and session per active run waits for IX of the
 *   phase before.
 * Invariants: an executor that has tasks of the next phase opens it. If this executor releases the
 *   last S, that statement opens the phase (release.h); if another one does, the gate opens it.
 *   While this executor has S of the phase before, its gate does not wait.
 * Guarantee: no task starts while a task of an earlier phase of its run is unfinished.
 * Mechanism: the transaction that opens a phase locks the row of the phase before, checks then, in
 *   a statement of its own, that no task of that phase is unfinished, and writes opened_at.
 *   IX only wakes: tasks in hand hold S, so IX is granted when the last of them is done or its
 *   executor is dead.
 * Not its concern: the order inside a phase (there is none), and which executor runs a task.
 * Example: a run has the phases 1 (a, b), 2 (c) and 3 (d). X runs a, Y runs b and owns c and d. X
 *   is done first and releases its S; Y releases the last S of phase 1 and opens phase 2 in the
 *   same round trip. If X owned c instead, X's gate would wait for IX of phase 1, get it from the
 *   server when Y releases S, and open phase 2. Phase 3 waits for phase 2 in the same way.
 * Threads: control, which sends a gate its orders by mail.
 * Ownership: a gate belongs to its lane; gates_stop ends all.
 * Failure: RC_LOST: a gate has lost its session. RC_REJECT: the server refuses a statement of a
 *   gate, and the gate's session is well.
 */
#ifndef EXECUTOR_GATE_H
#define EXECUTOR_GATE_H

#include "base/err.h"
#include "base/mailbox.h"
#include "executor/openings.h"

#include <stdbool.h>
#include <stdint.h>

struct db_result;
struct lane;
struct phase;

/** The gates of a lane, and the openings that are to be recorded. Only gate.c writes first. */
struct gates {
    struct gate *first;
    struct openings openings;
};

/** Orders the gates to open the phases that are not open, and starts a gate where none is free. */
MUST_CHECK enum rc gate(struct lane *lane, struct err *err);
/** The answer of a gate: frees the mail. RC_REJECT is the trouble of this lane alone. */
MUST_CHECK enum rc gate_report(struct mail *mail, struct lane **ret_lane, struct err *err);
void gates_wake(struct lane *lane);
void gate_release(struct phase *phase); /* IX of the phase before, if a gate has it */
/* The phase that may open when S of this one is released and that no gate waits for; NULL: none. */
struct phase *gate_behind(const struct lane *lane, const struct phase *phase);
/* The answer of release.sql about the next phase. */
MUST_CHECK enum rc gate_passed(struct lane *lane, const struct db_result *row, struct err *err);
/* Has the openings recorded when they are due: by a gate that waits for nothing, so that no task
 * waits for the statement. */
MUST_CHECK enum rc gate_record(struct lane *lane, struct err *err);
int64_t gate_record_due_us(const struct lane *lane);
void gates_stop(struct lane *lane, bool clean);

#endif

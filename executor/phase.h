/**
 * What: a phase of which this executor has, or just had, tasks: its waiting and running tasks, and
 *   the known state of its locks.
 * Invariants: each field has one writer. claim.c writes run, previous_order and claimed, gate.c
 *   writes gate and previous_phase_id, late.c late, phases.c next, and phase.c all other fields.
 * Threads: control.
 * Ownership: the lane owns its phases, a phase owns its waiting tasks.
 * Failure: -
 */
#ifndef EXECUTOR_PHASE_H
#define EXECUTOR_PHASE_H

#include "base/err.h"
#include "reader/work.h"
#include "reader/works.h"

#include <stdbool.h>
#include <stdint.h>

struct gate;
struct buffered;
struct phases;

/** A phase of which this executor has, or just had, tasks. */
struct phase {
    struct phase *next;
    int64_t phase_id, run_no, order;
    int64_t previous_order;    /* 0: its first, or not known */
    char run[37];              /* as its messages name it, if a claim of ours has seen one */
    int64_t previous_phase_id; /* IX on it is held by the session of gate, 0: none */
    struct gate *gate;         /* which holds that IX; NULL: control's session does */
    bool open, shared;         /* seen open; S is held */
    int64_t opened_us;         /* when it was seen open, and */
    int64_t back_us;           /* when a task of it returned last; 0: not yet */
    int64_t definitions;       /* lockstep.definitions, read when it was open; 0: not known */
    /* its orphans were passed over, or (less by one for each phase since then) may have been: the
     * lane asks for them when it opens */
    int passed_over;
    bool unowned; /* this executor owns no task of it, and is to open it all the same */
    bool claimed; /* by a claim of ours, not only adopted: the buffer's head may be of it */
    struct works waiting;
    int running;
    int late; /* tasks of it that are in lane->late */
};

void phase_forget_waiting(struct phase *phase);
/* Takes waiting works for the caller: those of which leaves is true; all but the first `keep`. */
struct works phase_take(struct phase *phase,
                        bool (*leaves)(const struct work *work, const void *context),
                        const void *context);
struct works phase_cut(struct phase *phase, int keep);
/* Its first waiting work goes to a reader; one has come back. */
struct work *phase_start(struct phase *phase);
void phase_back(struct phase *phase, int64_t now_us);
/* The database has reported whether it is open. */
void phase_seen(struct phases *phases, struct phase *phase, bool open, int64_t definitions,
                int64_t now_us);
/* It has opened. */
void phase_open(struct phase *phase, int64_t definitions, int64_t now_us);
/* What tasks may do is known under this count of definitions. */
void phase_known(struct phase *phase, int64_t definitions);
/* Whether S of it is held from now on. */
void phase_share(struct phase *phase, bool shared);
/* Whether we are to open it without a task of it. */
void phase_unowned(struct phase *phase, bool unowned);
/* Orphans of it are passed over until it opens: phase->passed_over. */
void phase_pass_over(struct phase *phase, int passed_over);
/* It is not open, as far as we have seen, and we are to open it. */
static inline bool phase_gates(const struct phase *phase)
{
    return !phase->open && (phase->waiting.count > 0 || phase->unowned);
}
/* The head of the buffer belongs to it, as far as we know. */
bool phase_is_of(const struct phase *phase, const struct buffered *head);

#endif

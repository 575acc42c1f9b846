/* The end of a phase in this executor, and in the same round trip the beginning of the next one, or
 * the end of the run. release() looks for phases that are done here; lockstep.release decides what
 * follows. S is released only when this executor can bring no further task of the phase: not while
 * a task waits, runs, is late (late.c), or the buffer's head is of the phase (claims_more). If it
 * were released earlier, a gate of another executor would be granted IX, find the phase unfinished,
 * and have waited in vain. */
#include "executor/release.h"

#include "executor/claim.h"
#include "executor/counts.h"
#include "executor/gate.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/run_id.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "task/message.h"

#include <stdlib.h>
#include <string.h>

/* This executor has tasks of a later phase of the run, so a later release ends the run. */
static bool followed(const struct phase *phase)
{
    const struct phase *later = phase->next;
    while (later != NULL &&
           (later->run_no != phase->run_no || (later->waiting.count == 0 && later->running == 0)))
        later = later->next;
    return later != NULL;
}

/* Openings are recorded in the log of events before the end of their run. The run cannot end while
 * the buffer's head belongs to it. */
static enum rc openings_before_end(struct lane *lane, const struct phase *phase, struct err *err)
{
    const struct buffered *head =
        lane->stream.buffer_count > 0 ? stream_head(&lane->stream, 0) : NULL;
    bool goes_on = head != NULL && strcmp(head->run, phase->run) == 0 &&
                   (head->msg == NULL || head->msg->type != MESSAGE_END);
    return goes_on ? RC_OK
                   : openings_flush(&lane->gates.openings, lane->ex->control.db,
                                    lane->ex->incarnation.executor_no, err);
}

/* *ret_kept: nothing was released, because another session holds a row that the end of the run, or
 * the opening of the next phase, needs. */
static enum rc release_one(struct lane *lane, struct phase *phase, bool *ret_kept, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    char id[37];
    const struct phase *next = lane->ex->drain.draining ? NULL : gate_behind(lane, phase);
    bool last = next == NULL && !followed(phase); /* as far as this executor knows */
    /* IX of the phase before is released here only if control's own session has it; a gate that has
     * it gets an order (gate_release). */
    int64_t intent = phase->gate == NULL ? phase->previous_phase_id : 0;
    enum rc rc = last ? openings_before_end(lane, phase, err) : RC_OK;
    if (rc != RC_OK) {
        *ret_kept = lane_put_off(rc, err);
        if (!*ret_kept)
            gate_release(phase);
        return rc;
    }
    probe("release.send");
    int64_t from_us = clock_boot_us();
    rc = db_run(lane->ex->control.db, &sql_executor_release,
                (const char *const[]){DB_INT(phase->phase_id), phase->shared ? "true" : "false",
                                      last ? "false" : "true", intent != 0 ? DB_INT(intent) : NULL,
                                      next != NULL ? DB_INT(next->phase_id) : NULL},
                &row, err);
    control_round_trip(&lane->ex->control, clock_boot_us() - from_us);
    probe("release.done");
    /* The statement was undone: the phase goes back into the list and is released in a later turn
     * (tests/e2e/row_held.sh). Its effect on locks was not undone: lane_confine settles them. */
    *ret_kept = lane_put_off(rc, err);
    if (*ret_kept)
        return rc;
    gate_release(phase);
    /* pg_advisory_unlock_shared returns false, and no error, if the lock is not held. That would
     * mean that memory and session disagree about locks, so the incarnation does not continue. */
    if (rc == RC_OK && !db_bool(row, 0, EXECUTOR_RELEASE_UNLOCKED))
        rc = err_set(err, RC_FATAL, ERR_INTERNAL, lane->queue.name, "Please report this.",
                     "the shared lock of phase %lld was not held", (long long)phase->phase_id);
    if (rc == RC_OK && !db_null(row, 0, EXECUTOR_RELEASE_ENDED))
        log_event(LOG_INFO, "run_ended", "queue", lane->queue.name, "run",
                  run_id(lane->ex->control.db, phase, id), "status",
                  db_text(row, 0, EXECUTOR_RELEASE_ENDED), NULL);
    if (rc == RC_OK && db_word(row, 0, EXECUTOR_RELEASE_VERDICT) == EXECUTOR_RELEASE_IS_OPENED)
        counts_barrier(lane, phase);
    return rc == RC_OK ? gate_passed(lane, row, err) : rc;
}

enum rc release(struct lane *lane, struct err *err)
{
    for (struct phase *phase = lane->phases.first, *next; phase != NULL; phase = next) {
        bool kept = false;
        next = phase->next;
        if (phase->waiting.count > 0 || phase->running > 0 || phase->late > 0 ||
            phase_gates(phase) || claims_more(lane, phase))
            continue;
        phases_unlink(&lane->phases, phase); /* gate_behind must not find it */
        enum rc rc = release_one(lane, phase, &kept, err);
        if (kept)
            phases_link(&lane->phases, phase);
        else
            free(phase);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

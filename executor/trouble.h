/**
 * What: a queue whose own statements fail is set aside for a while, and one that was deleted is
 *   left; the executor's other queues continue.
 * Invariants: only while control's session is clean: a lock that no lane knows ends the
 *   incarnation.
 * Threads: control.
 * Ownership: -
 * Failure: rc as it came: the incarnation ends.
 */
#ifndef EXECUTOR_TROUBLE_H
#define EXECUTOR_TROUBLE_H

#include "base/err.h"
#include "base/str.h"
#include "executor/lane.h"
#include "executor/server.h"

#include <stdbool.h>
#include <stdint.h>

/** The queue's row of the process's memory, which outlives the lane: a lane ends with its
 * incarnation. */
static inline struct trouble *lane_trouble(const struct lane *lane)
{
    return &lane->ex->memory->troubles[lane - lane->ex->lanes];
}

/** What becomes of an error of a lane's own statements: RC_OK when the executor's other queues can
 * continue, and rc if not. */
MUST_CHECK enum rc lane_confine(struct lane *lane, enum rc rc, struct err *err);
/** How explain names it: object, of a lack of the server's the SQLSTATE, message. */
void trouble_text(struct str *text, const struct err *err);
/** For explain: claims wait so long because of another session, and the queue's other work
 * continues. lane_is_well ends it. */
void lane_note_locked(struct lane *lane, int wait_ms, const struct err *err);
/* Nothing is done for it now. */
bool lane_aside(const struct lane *lane);
/** When it is no longer set aside, then when it is well if nothing fails; 0: no such time is to
 * come. */
int64_t lane_trouble_due_us(const struct lane *lane);
MUST_CHECK enum rc lane_is_well(struct lane *lane, struct err *err);

#endif

/**
 * What: tasks that are not in hand any more and that the database still calls this executor's,
 *   because another session has locked their rows, the server lacks disk space, or the statement
 *   that was to return them failed.
 * Invariants: the phase that they are of keeps its S until they are returned.
 * Threads: control.
 * Ownership: the lane owns them.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_LATE_H
#define EXECUTOR_LATE_H

#include "base/err.h"
#include "reader/works.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct lane;
struct spared;
struct work;

/** Tasks that could not be returned: the statement is sent again after a pause. */
struct late {
    struct works works;
    int wait_ms; /* 0: there are none */
    int64_t at_us;
};

/** A statement gave up because another session holds a row that it needs: see lock_timeout in
 * db/packet.c. */
bool lane_row_locked(enum rc rc, const struct err *err);
/** A row is locked, the server lacks disk or another resource, or it refused the commit of
 * a statement that it had accepted. The statement is undone, and the same statement is sent again
 * later. */
bool lane_put_off(enum rc rc, const struct err *err);
/** Gives unstarted works back: takes the list. */
MUST_CHECK enum rc late_return(struct lane *lane, struct works *works, struct err *err);
/** Behind a statement that was to return works, has done so for `done` of them and has answered rc:
 * takes the list. It keeps the works that it cannot show to be returned, with each error. */
MUST_CHECK enum rc late_settle(struct lane *lane, struct works *works, int64_t done, enum rc rc,
                               struct err *err);
MUST_CHECK enum rc late_send(struct lane *lane, struct err *err);
bool late_any(const struct executor *ex);
int64_t late_due_us(const struct lane *lane); /* 0: there are none */
/** spared: the incarnation is lost, and its attempts are noted there (spare.h); NULL: it is not
 * lost. */
void late_drop(struct late *late, struct spared *spared);

#endif

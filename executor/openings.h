/**
 * What: the phases that control, or a gate, has opened and that are not in the log of events yet:
 *   of short tasks several are recorded at once (lockstep.opened).
 * Invariants: only openings.c writes the fields. Tasks of a phase start before its opening is
 *   recorded (bench/notes/barrier.md), and openings are recorded before the end of their run.
 * Threads: control; a gate has those of its own, and copies that it got with an order.
 * Ownership: embedded in struct gates and struct gate.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_OPENINGS_H
#define EXECUTOR_OPENINGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct db;

#define OPENINGS_MOST 8
struct openings {
    int64_t phase_ids[OPENINGS_MOST];
    int count;
    int64_t since_us; /* the first of them */
};

/** One more; nothing when they are full. */
void openings_add(struct openings *openings, int64_t phase_id, int64_t now_us);
static inline bool openings_full(const struct openings *openings)
{
    return openings->count == OPENINGS_MOST;
}
/** Another thread records them. */
void openings_clear(struct openings *openings);
/** Adds others; those for which there is no room stay without a line in the log. */
void openings_join(struct openings *openings, const struct openings *others);
/** Records them in the log of events; a statement that another session delays, or for which the
 * server has no room, leaves them for later. */
MUST_CHECK enum rc openings_flush(struct openings *openings, struct db *db, int executor_no,
                                  struct err *err);

#endif

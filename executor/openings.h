/**
 * What: the phases that control, or a gate, has opened and that are not in the log of events yet:
 *   of short tasks several are recorded at once (lockstep.opened).
 * Invariants: only openings.c writes the fields. Tasks of a phase start before its opening is
 *   recorded (bench/notes/barrier.md), and openings are recorded before the end of their run. None
 *   is left out: they are kept for as long as the log of events does not take them.
 * Threads: control; a gate has those of its own, and copies that it got with an order.
 * Ownership: embedded in struct gates and struct gate; openings_done frees the ids.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_OPENINGS_H
#define EXECUTOR_OPENINGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct db;
struct mail;

#define OPENINGS_ENOUGH 8
struct openings {
    int64_t *phase_ids;
    int count, room;
    int64_t since_us; /* the first of them */
};

/** One more. */
void openings_add(struct openings *openings, int64_t phase_id, int64_t now_us);
/** So many wait that they are recorded at once. */
static inline bool openings_enough(const struct openings *openings)
{
    return openings->count >= OPENINGS_ENOUGH;
}
/** Another thread records them: they are in the mail, which free() frees, and none is left here. */
struct mail *openings_mail(struct openings *openings, int kind);
/** Adds those of such a mail. */
void openings_join(struct openings *openings, const struct mail *mail);
void openings_done(struct openings *openings);
/** Records them in the log of events; a statement that another session delays, or for which the
 * server has no room, leaves them for later. */
MUST_CHECK enum rc openings_flush(struct openings *openings, struct db *db, int executor_no,
                                  struct err *err);

#endif

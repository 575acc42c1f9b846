/**
 * What: claims: the head of the buffer becomes tasks of this executor, in the transaction that moves the cursor.
 * Invariants: what follows from a verdict is a table. Nothing is claimed before the topic was looked at.
 * Threads: control.
 * Ownership: what is claimed belongs to its phase.
 * Failure: as db.h; a claim that is refused for its data is halved (refusal.h).
 */
#ifndef EXECUTOR_CLAIM_H
#define EXECUTOR_CLAIM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lane;
struct phase;

MUST_CHECK enum rc claim(struct lane *lane, bool *ret_progress, struct err *err);
/** The cursor in the database went back: the topic is read again from there. */
MUST_CHECK enum rc claim_went_back(struct lane *lane, int64_t next_offset, struct err *err);
/* The buffer's head would be claimed now. */
bool claim_waits(struct lane *lane);
/* The buffer's head is of this phase, and will be claimed. */
bool claims_more(struct lane *lane, const struct phase *phase);

#endif

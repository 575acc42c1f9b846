/**
 * What: asks for work that nobody owns, and adopts it: given back, due for another attempt, or of an executor that died.
 * Invariants: when to ask is orphans.h's; how many are asked for is measured as for a claim.
 * Threads: control.
 * Ownership: what is adopted belongs to its phase.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_RECOVER_H
#define EXECUTOR_RECOVER_H

#include "base/err.h"

struct lane;

MUST_CHECK enum rc recover(struct lane *lane, struct err *err);

#endif

/**
 * What: attempts that end with a lost incarnation, between spare_start and spare_end; the next
 *   incarnation reports them to the database.
 * Invariants: an attempt that the server or this executor ended does not count as lost.
 * Threads: control.
 * Ownership: server_memory, which outlives the incarnation.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_SPARE_H
#define EXECUTOR_SPARE_H

#include "base/err.h"

struct db;
struct executor;
struct spared;
struct work;

void spare_start(struct executor *ex, const struct err *why);
void spare_note(struct spared *spared, const struct work *work);
void spare_end(struct spared *spared);
MUST_CHECK enum rc spare_report(struct spared *spared, struct db *db, struct err *err);

#endif

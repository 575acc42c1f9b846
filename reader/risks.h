/**
 * What: whether a task may leave something in its session that its text does not show: a function
 *   of the user's that it calls, or a trigger, view or default of a relation that it names
 *   (sql/functions/session/session_risks.sql). Then the session is cleaned behind it.
 * Invariants: an unknown name is a risk. Names are compared without schema and, in ASCII, without
 *   regard to case: rather once too often.
 * Threads: read by control; shared by all that have it, and never changed.
 * Ownership: counted: risks_keep and risks_release.
 * Failure: as db.h.
 */
#ifndef READER_RISKS_H
#define READER_RISKS_H

#include "db/db.h"

struct plan;
struct risks;

MUST_CHECK enum rc risks_read(struct db *db, struct risks **ret_risks, struct err *err);
/** The count of changes (lockstep.definitions) that they belong to; NULL: 0, which is none. */
int64_t risks_definitions(const struct risks *risks);
struct risks *risks_keep(struct risks *risks);
void risks_release(struct risks *risks); /* NULL is fine */

/** risks NULL: not known. */
bool risks_meet(const struct risks *risks, const struct plan *plan);

#endif

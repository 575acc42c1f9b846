/**
 * What: records at the head of the buffer that are no messages and name no run are rejected many at
 *   once.
 * Invariants: a record that is alone at the head, names a run, or was refused before is rejected
 *   by a claim of its own.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_REJECTS_H
#define EXECUTOR_REJECTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct db_result;
struct lane;
struct stream;

/** In the log and the metrics the reason of a message whose tags do not fit what came before: the
 * database knows which of them, and the executor does not. */
#define REJECTS_TAGS "tags"

/** How many records at the head, which is no message, are to be rejected at once; 1: by a claim. */
int rejects_segment(const struct stream *stream, int most);
MUST_CHECK enum rc rejects_ask(struct lane *lane, int count, struct db_result **ret_row,
                               struct err *err);
/** Carries out the answer. Returns whether another claim makes sense. */
bool rejects_follow(struct lane *lane, const struct db_result *row, int count);
/** Logs the rejection of those from an offset on: another executor has rejected the others. */
void rejects_log(struct lane *lane, int count, int64_t from);

#endif

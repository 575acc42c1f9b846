/**
 * What: the steps from the lock to the end of a run that touch the topic.
 * Invariants: after sending_start only failed_publish or sending_finish may end the run.
 * Threads: the caller's own.
 * Ownership: works on the parts of struct publishing.
 * Failure: as kafka/producer.h and db/db.h; ERR_HELD; ERR_CANCELLED.
 */
#ifndef PRODUCER_SENDING_H
#define PRODUCER_SENDING_H

#include "producer/publishing.h"

/** Takes the transactional id, and reports to the caller that sending begins. */
MUST_CHECK enum rc sending_open(struct publishing *p, struct err *err);
/** Notes where the partition ends: no record of a new run lies below. Reports an open transaction
 * of another producer. */
MUST_CHECK enum rc sending_mark(struct publishing *p, struct err *err);
/** Lock, sending_open and sending_mark: no producer before us adds anything, and no run is changed.
 */
MUST_CHECK enum rc sending_fence(struct publishing *p, struct err *err);
/** From the lock to where the first record may be sent: sending_fence, takeover, resume_settle. */
MUST_CHECK enum rc sending_prepare(struct publishing *p, struct err *err);
/** Writes the run's row, flushed. */
MUST_CHECK enum rc sending_start(struct publishing *p, struct err *err);
/** Tags one task and sends it; it may wait in the outbox until the commit. A task that a resumed
 * run has already is only compared. */
MUST_CHECK enum rc sending_task(struct publishing *p, const struct staged_task *task,
                                struct err *err);
/** Commits what is open, and counts it as committed. */
MUST_CHECK enum rc sending_commit(struct publishing *p, struct err *err);
/** The end message, and the last commit. */
MUST_CHECK enum rc sending_end(struct publishing *p, bool aborted, struct err *err);
/** Notes in PostgreSQL that all is published. */
void sending_finish(struct publishing *p);

#endif

/**
 * What: a publisher at work: the parts of its state, each of which only its own file writes, and
 *   its steps, in the order target -> (read) -> lock -> take over -> (resume) -> send -> settle or
 *   wait. Private to this folder.
 *
 *     part          what it is                               its timer (due_us)
 *     target        the queue and its partition              -
 *     session       PostgreSQL, and the producers' lock      -
 *     origin        where the tasks come from                -
 *     run           id, policy, how far it is published      the next note in its row
 *     records       position and chain of the next record    -
 *     transaction   the Kafka producer, its open transaction when it must be committed
 *     resume        the run that is continued                -
 *     progress      the reports to the caller                the next report
 *
 * Invariants: the row of the run exists before the first record is sent. Of a run that is resumed
 *   the records that the topic has are made again and not sent; until they are found to be the same
 *   nothing is sent and nothing of the run is changed.
 * Threads: the caller's own. While its session answers, the one that has the lock is the queue's
 *   only producer.
 * Ownership: publish_run owns all of it and ends it itself.
 * Failure: each step fills err; failed_publish (settle.c) then makes good what the step left
 *   behind.
 */
#ifndef PRODUCER_PUBLISHING_H
#define PRODUCER_PUBLISHING_H

#include "producer/resume.h"
#include "producer/transaction.h"

struct publishing {
    const struct publish_options *options;
    struct target target;
    struct session session;
    struct origin origin;
    struct run run;
    struct records records;
    struct transaction transaction;
    struct resume resume;
    struct progress progress;
};

/** finite.c, stream.c: the two ways through the source; both end with all of the run committed. */
MUST_CHECK enum rc publish_finite(struct publishing *p, struct err *err);
MUST_CHECK enum rc publish_stream(struct publishing *p, struct err *err);

/** takeover.c: ends the runs that a predecessor left unfinished: aborted, or Cancelled if nothing
 * of them came onto the topic. ERR_HELD instead with options->refuse_unfinished. The run that is to
 * be resumed is left alone, unless without_exception. */
MUST_CHECK enum rc publishing_takeover(struct publishing *p, bool without_exception,
                                       struct err *err);

/** resume.c: called under the lock. Finds how much of the run is on the topic; all of it sets
 * RUN_ENDED. */
MUST_CHECK enum rc resume_settle(struct publishing *p, struct err *err);
/** Called when the source has given the records that are on the topic again, or has come to its
 * end. */
MUST_CHECK enum rc resume_verify(struct publishing *p, struct err *err);
/** For a source that cannot be read again: notes the end of a run that is on the topic whole;
 * refuses any other run, and changes nothing. */
MUST_CHECK enum rc resume_without_source(struct publishing *p, struct err *err);

/** settle.c: after a failure: nothing, or a part and an end that says aborted, is left of the run.
 * err is the failure and stays so. Returns rc, or RC_OK when the run turned out to be wholly
 * published. */
MUST_CHECK enum rc failed_publish(struct publishing *p, enum rc rc, struct err *err);

/** wait.c: until the run has ended. ret_status is filled as far as it goes, on failure, too. */
MUST_CHECK enum rc publishing_wait(struct publishing *p, char ret_status[32], struct err *err);

/** publishing.c: starts the reports of progress, which read the other parts. */
void publishing_reports(struct publishing *p, const struct publish_options *options);
/** What is due of progress and of the run's row. Costs nothing otherwise. */
MUST_CHECK enum rc publishing_tick(struct publishing *p, struct err *err);
/** When the next of the parts wants something, on the clock of clock_boot_us. */
int64_t publishing_due_us(const struct publishing *p);

#endif

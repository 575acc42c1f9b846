/**
 * What: the state of one publish_run, and its steps: one file a step, in the order queue ->
 *   topic -> (read) -> lock -> take over -> send -> settle or wait. Private to this folder.
 * Invariants: seq, order and previous_order are what the next record continues; committed
 *   counts the records of the run that are certainly on the partition. The row of the run
 *   exists before the first record is sent.
 * Threads: the caller's own. db holds the advisory lock, so while it answers, this is the
 *   queue's only producer.
 * Ownership: publish_run owns all of it and ends it itself.
 * Failure: each step fills err; failed_publish (settle.c) then makes good what the step left
 *   behind.
 */
#ifndef PRODUCER_PUBLISHING_H
#define PRODUCER_PUBLISHING_H

#include "base/str.h"
#include "db/db.h"
#include "kafka/producer.h"
#include "producer/publish.h"
#include "producer/staged.h"

#define KAFKA_WAIT_MS 60000 /* for the coordinator, and for a commit */

struct publishing {
    const struct publish_options *options;
    struct publish_result *result;

    /* The queue and its topic. */
    int queue_id, partition;
    char topic[256], on_failure[16], cluster_id[64];
    size_t limit; /* bytes that a staged task may have */

    struct db *db; /* settings, the lock, the run's row */
    bool locked, row_written;
    struct db *query_db; /* the session of --query, NULL otherwise */
    struct staged *staged;
    char digest[33]; /* "" = the source is not repeatable */

    struct kafka_producer *producer;
    char run[37];
    int64_t seq;                   /* of the next record */
    int64_t order, previous_order; /* of the last record; 0 = none yet */
    int64_t phases;
    int64_t high;         /* the partition's end when the producer was opened */
    int64_t acked_before; /* records acknowledged that are not of this run */
    bool in_transaction;  /* records are sent and not committed */
    bool in_doubt;        /* a commit or an abort gave no clear answer */
    bool ending, ended;   /* the end message is sent; it is committed */
    int64_t committed, committed_phases;
    int64_t begun_us;          /* when the transaction began */
    size_t transaction_bytes;  /* in it */
    int64_t transaction_tasks; /* in it */
    struct str record;

    enum publish_stage stage;
    int64_t read, total; /* for progress */
    int64_t told_us, noted_us;
};

/* queue.c */
/** Opens db and finds the queue. */
MUST_CHECK enum rc publishing_queue(struct publishing *p, struct err *err);

/* topic.c */
/** The topic is fit for the queue; sets limit. */
MUST_CHECK enum rc publishing_topic(struct publishing *p, struct err *err);

/* lock.c */
/** The binary semaphore of the queue's producers; waits options->lock_wait_ms in the client. */
MUST_CHECK enum rc publishing_lock(struct publishing *p, struct err *err);
/** Gives it back, so that the next producer need not wait for our wait. */
void publishing_unlock(struct publishing *p);

/* finite.c, stream.c: the two ways through the source; both end with all of the run committed. */
MUST_CHECK enum rc publish_finite(struct publishing *p, struct err *err);
MUST_CHECK enum rc publish_stream(struct publishing *p, struct err *err);

/* takeover.c */
/** Ends the runs that a predecessor left unfinished: aborted, or Cancelled if nothing of them came onto the topic. */
MUST_CHECK enum rc publishing_takeover(struct publishing *p, struct err *err);

/* sending.c */
/** Sets high to the partition's high watermark. */
MUST_CHECK enum rc sending_high(struct publishing *p, struct err *err);
/** Fences and settles a predecessor, and notes where the partition ends. */
MUST_CHECK enum rc sending_open(struct publishing *p, struct err *err);
/** Writes the run's row, flushed. After this only failed_publish or sending_finish may end it. */
MUST_CHECK enum rc sending_start(struct publishing *p, struct err *err);
/** Refuses a run id that the queue has already. */
enum rc sending_exists(const struct publishing *p, struct err *err);
/** Tags and sends one task, beginning a transaction if none is open. */
MUST_CHECK enum rc sending_task(struct publishing *p, const struct staged_task *task,
                                struct err *err);
/** Commits what is open, and counts it as committed. */
MUST_CHECK enum rc sending_commit(struct publishing *p, struct err *err);
/** The end message, and the last commit. */
MUST_CHECK enum rc sending_end(struct publishing *p, bool aborted, struct err *err);
/** Tells PostgreSQL that all is published. */
void sending_finish(struct publishing *p);

/* settle.c */
/** After a failure: nothing, or a part and an end that says aborted, is left of the run. err is the
 * failure and stays so. Returns rc, or RC_OK when the run turned out to be wholly published. */
MUST_CHECK enum rc failed_publish(struct publishing *p, enum rc rc, struct err *err);

/* tick.c */
/** About once a second: notes what is committed, which also asks whether the lock's session lives;
 * tells of progress; asks whether to give up. Costs nothing in between. */
MUST_CHECK enum rc tick(struct publishing *p, struct err *err);
/** Only the question whether to give up. */
MUST_CHECK enum rc tick_cancelled(const struct publishing *p, struct err *err);
void tick_stage(struct publishing *p, enum publish_stage stage);
void tick_progress(struct publishing *p, const char *run_status);

/* wait.c */
MUST_CHECK enum rc publishing_wait(struct publishing *p, struct err *err);

#endif

/**
 * What: the state of one publish_run, and its steps: one file a step, in the order queue ->
 *   topic -> (read) -> lock -> take over -> (resume) -> send -> settle or wait. Private to this folder.
 * Invariants: seq, order and previous_order are what the next record continues; committed
 *   counts the records of the run that are certainly on the partition, and committed_chain is
 *   their digest. The row of the run exists before the first record is sent. Of a run that is
 *   resumed the records before resume.seq are made again and not sent; until their digest is found
 *   to be that of the topic's nothing is sent and nothing of the run is changed.
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
#include "kafka/stable.h"
#include "producer/chain.h"
#include "producer/publish.h"
#include "producer/staged.h"

#define KAFKA_WAIT_MS 60000 /* for the coordinator, and for a commit */

struct publishing {
    const struct publish_options *options;
    struct publish_result *result;

    /* The queue and its topic. */
    int queue_id, partition;
    int partitions; /* of the topic, as the queue knows it; 0: not yet */
    char topic[256], on_failure[16], cluster_id[64];
    size_t limit; /* bytes that a staged task may have */

    struct db *db; /* settings, the lock, the run's row */
    bool locked, row_written;
    struct db *query_db; /* the session of --query, NULL otherwise */

    /* The source: as the options name it, or as the run that is resumed was begun. */
    const char *path, *query; /* both NULL: a pipe that nobody can read again */
    enum publish_format format;
    bool stream;
    struct staged *staged;
    char digest[33];      /* of a regular file; "" = the source is none */
    int64_t digest_bytes; /* of so many bytes of it */
    struct resume {
        bool wanted, verified;
        int64_t seq;        /* of the first record that is not on the topic */
        struct chain chain; /* of those that are */
        int64_t noted_seq, noted_offset;
        struct chain noted_chain;
        char digest[33]; /* of the file that the run was begun from, or "" */
        int64_t digest_bytes;
        int state;     /* enum publish_resumable_state */
        char why[256]; /* it was closed */
        char *source;  /* owned: the path or the query of the row */
        bool from_file, from_query;
        bool own;           /* published by this login */
        char publisher[64]; /* else by that one */
        char *name;         /* owned: the run's, NULL: none */
    } resume;

    struct kafka_producer *producer;
    char run[37];
    const char *name;              /* the run's, NULL: none; of a resumed one resume.name */
    int64_t seq;                   /* of the next record */
    int64_t order, previous_order; /* of the last record; 0 = none yet */
    int64_t phases;
    int64_t high;         /* the partition's end when the producer was opened */
    int64_t acked_before; /* records acknowledged that are not of this run */
    bool in_transaction;  /* begun and not committed; its records may all be in the outbox still */
    bool
        in_doubt; /* a call about it failed: only a new producer settles it, and the topic tells how */
    bool fenced;        /* somebody else has the transactional id */
    bool ending, ended; /* the end message is sent; it is committed */
    int64_t committed, committed_phases;
    struct chain chain, committed_chain; /* of the records before seq; before committed */
    int64_t settled_offset;              /* what is committed of the run lies at or before it */
    int64_t begun_us;                    /* when the transaction began */
    size_t transaction_bytes;            /* in it */
    int64_t transaction_tasks;           /* in it */
    /* Records that are tagged and counted above, and that librdkafka has not taken yet: one behind the other. */
    struct str outbox;
    size_t outbox_ends[KAFKA_MOST_VALUES];
    int outbox_count;

    enum publish_stage stage;
    int64_t read, total; /* for progress */
    int64_t told_us, noted_us;
};

/* queue.c */
/** Opens db and finds the queue. */
MUST_CHECK enum rc publishing_queue(struct publishing *p, struct err *err);
/** Notices of what keeps the run that was published from being run, each with what helps. */
void publishing_hindrances(struct publishing *p);

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
/** Ends the runs that a predecessor left unfinished: aborted, or Cancelled if nothing of them came onto the topic. ERR_HELD
 * instead with options->refuse_unfinished. The run that is to be resumed is left alone, unless without_exception. */
MUST_CHECK enum rc publishing_takeover(struct publishing *p, bool without_exception,
                                       struct err *err);

/* resume.c */
/** Reads the row of the run that is to be resumed and takes from it what the options leave open; refuses one that cannot be. */
MUST_CHECK enum rc resume_find(struct publishing *p, struct err *err);
/** The file is the one that the run was begun from: its digest over so many bytes. */
MUST_CHECK enum rc resume_check_digest(const struct publishing *p, const char *digest,
                                       int64_t bytes, struct err *err);
/** Under the lock: what of the run is on the topic. With p->ended all of it is. */
MUST_CHECK enum rc resume_settle(struct publishing *p, struct err *err);
/** Called when the source has given the records before resume.seq again, or has come to its end. */
MUST_CHECK enum rc resume_verify(struct publishing *p, struct err *err);
/** Of a source that nobody can read again: closes the run, and says so. */
MUST_CHECK enum rc resume_close(struct publishing *p, struct err *err);

/* blocked.c: an open transaction of somebody else */
/** RC_NONE: there is none. */
MUST_CHECK enum rc blocked_look(const struct publishing *p, struct kafka_open_transaction *ret_open,
                                struct err *err);
void blocked_tell(struct publishing *p, const struct kafka_open_transaction *open);
/** Not of one that has only just begun. */
void blocked_tell_old(struct publishing *p, const struct kafka_open_transaction *open);
enum rc blocked_err(const struct publishing *p, const struct kafka_open_transaction *open,
                    struct err *err);

/* sending.c */
/** The partition's high watermark. */
MUST_CHECK enum rc sending_high(const struct publishing *p, int64_t *ret_high, struct err *err);
/** Fences and settles a predecessor. */
MUST_CHECK enum rc sending_open(struct publishing *p, struct err *err);
/** Notes where the partition ends: no record of a new run lies below. Tells of an open transaction there. */
MUST_CHECK enum rc sending_mark(struct publishing *p, struct err *err);
/** From the lock to where the first record may be sent: sending_open, sending_mark, takeover, resume_settle. */
MUST_CHECK enum rc sending_prepare(struct publishing *p, struct err *err);
/** Writes the run's row, flushed. After this only failed_publish or sending_finish may end it. */
MUST_CHECK enum rc sending_start(struct publishing *p, struct err *err);
/** Refuses a run id that the queue has already. */
enum rc sending_exists(const struct publishing *p, struct err *err);
/** Tags one task and sends it, beginning a transaction if none is open; it may wait in the outbox until the commit. */
MUST_CHECK enum rc sending_task(struct publishing *p, const struct staged_task *task,
                                struct err *err);
/** Hands librdkafka what stands in the outbox, and empties it. */
MUST_CHECK enum rc sending_outbox(struct publishing *p, struct err *err);
/** Empties it. */
void sending_forget(struct publishing *p);
/** Commits what is open, and counts it as committed. */
MUST_CHECK enum rc sending_commit(struct publishing *p, struct err *err);
/** The end message, and the last commit. */
MUST_CHECK enum rc sending_end(struct publishing *p, bool aborted, struct err *err);
/** Tells PostgreSQL that all is published. */
void sending_finish(struct publishing *p);
/** "file", "pipe" or "query", and the file's absolute path or the query (NULL: a pipe) as the row has them. */
const char *sending_source(const struct publishing *p, char ret_path[4096],
                           const char **ret_source);

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
/** What the user must see, though it ends nothing. */
void publish_notice(struct publishing *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** What is wrong with a task of the source; err->object is where in the task. */
void publish_tell_fault(const struct publishing *p, int64_t line, const struct err *err);
/** Refuses a source without a task. */
enum rc publish_empty(const struct publishing *p, struct err *err);

/* wait.c */
MUST_CHECK enum rc publishing_wait(struct publishing *p, struct err *err);

#endif

/**
 * What: the state of the relay's thread, and its steps. For the files of relay/ only.
 * Invariants: all of it can be lost at any moment. A queue that is locked has this session's
 *   advisory lock; a kind is settled when, since this producer was opened, the end of its topic was
 *   read.
 * Threads: the relay's own.
 * Ownership: struct relay owns session and queues, a queue its producer.
 * Failure: each step fills err. After a failed step the producer is closed: the outcome of its
 *   records is unknown until the next producer has settled.
 */
#ifndef RELAY_RELAYING_H
#define RELAY_RELAYING_H

#include "base/str.h"
#include "base/thread.h"
#include "db/db.h"
#include "kafka/consumer.h"
#include "kafka/producer.h"
#include "kafka/source.h"
#include "relay/kind.h"
#include "relay/relay.h"

#define RELAY_KINDS 8

#define RELAY_ENQUEUE "enqueue" /* the kind that goes to the queue's own topic */

struct relay_queue {
    struct relay_queue *next;
    int queue_id;
    char name[64];
    bool wanted; /* something may be there */
    bool fresh;  /* and an order about it came since the last check */
    bool news;   /* and this executor notifies the relay of it */
    bool locked;
    int64_t
        again_us;   /* not locked, wanted: another is the relay; when to see whether it still is */
    int backoff_ms; /* of that */
    int64_t release_us; /* locked, nothing there: when lock and producer are released */
    struct kafka_producer *producer;
    /* enqueue: has the transactional id of the queue's producers */
    struct kafka_producer *publisher;
    struct kafka_closing *closing[2]; /* of both, at the end */
    struct relay_kind kinds[RELAY_KINDS];
    int kind_count;
};

struct relay {
    const char *conninfo;
    struct db_server server;
    const struct kafka_properties *kafka;
    int executor_no;
    struct thread thread;
    struct db *db;       /* NULL: none is needed now */
    int64_t db_after_us; /* it failed: not before */
    int db_backoff_ms;
    struct relay_queue *queues;
    bool stopping;
    /* stopping: it serves its queues once more, and notifies others of the rows that it leaves */
    bool finishes;
    /* set by relay_stop(): no wait lasts longer than this; 0: not yet */
    _Atomic int64_t until_us;
};

/* patience.c */
/** The relay is to stop, and the time that it may still wait is over. */
bool relay_out_of_time(const struct relay *relay);
/** How long a call to Kafka may wait: most_ms, or the time that is left. */
int relay_patience_ms(const struct relay *relay, int most_ms);
/** One of a queue's producers, closed. When time is over it is kept until relay_main closes all of
 * them at once. */
void relay_close(const struct relay *relay, struct kafka_producer **producer);

/* topic.c: the topic is there, the producer open, and the kind settled. */
MUST_CHECK enum rc relay_prepare(struct relay *relay, struct relay_queue *queue,
                                 struct relay_kind *kind, struct err *err);
/* A producer that refuses by itself what the topic would not take. */
MUST_CHECK enum rc relay_producer_open(const struct relay *relay, const char *id,
                                       const struct kafka_topic_info *info,
                                       struct kafka_producer **ret_producer, struct err *err);

/* flush.c: makes the committed rows durable, and gives the records that follow the server's time:
 * this host's clock may be so wrong that the broker refuses them. */
MUST_CHECK enum rc relay_flush(const struct relay *relay, struct kafka_producer *producer,
                               struct err *err);

/* settle.c: finds the rows of the kind that are on its topic already, between next_offset and high.
 */
MUST_CHECK enum rc relay_settle(struct relay *relay, struct relay_queue *queue,
                                struct relay_kind *kind, int64_t low, int64_t high,
                                struct err *err);

typedef void relay_see_fn(void *context, const struct kafka_record *record);
/* Everything committed that lies in [from, high). */
MUST_CHECK enum rc relay_read(const struct relay *relay, const struct relay_kind *kind,
                              int64_t from, int64_t high, relay_see_fn *see, void *context,
                              struct err *err);

/* enqueue.c: sends the runs that SQL has enqueued, under the lock of the queue's producers, for a
 * second at most. RC_NONE: there is nothing more, or a publisher has the queue. */
MUST_CHECK enum rc relay_enqueue(struct relay *relay, struct relay_queue *queue,
                                 struct relay_kind *kind, struct err *err);

/* batch.c: the next rows, sent. RC_NONE: there are none. */
MUST_CHECK enum rc relay_batch(struct relay *relay, struct relay_queue *queue,
                               struct relay_kind *kind, struct err *err);

#endif

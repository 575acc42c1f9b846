/**
 * What: ends the runs that a publisher left unfinished, as publish_run does before it sends. It is
 *   for every other publisher to a queue: relay/ sends the runs that SQL has enqueued.
 * Invariants: db holds the lock of the queue's producers, and producer has its transactional id, so
 *   no transaction of a predecessor is open. A run with records on the topic is closed as aborted;
 *   a run without any is Cancelled.
 * Threads: the caller's own.
 * Ownership: borrows everything.
 * Failure: as kafka/consumer.h and kafka/producer.h; ERR_HELD: a foreign transaction hides the
 *   topic's end.
 */
#ifndef PRODUCER_TAKEOVER_H
#define PRODUCER_TAKEOVER_H

#include "db/db.h"
#include "kafka/producer.h"

struct producer_place {
    struct db *db;
    const struct kafka_properties *kafka;
    const char *queue;
    int queue_id;
    const char *topic;
    int partition;
    struct kafka_producer *producer;
};

MUST_CHECK enum rc producer_takeover(const struct producer_place *place, struct err *err);

#endif

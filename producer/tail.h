/**
 * What: what a partition holds of a run from some offset on: the answer to "what did the predecessor, or the commit that was
 *   never answered, leave behind?". Private to this folder.
 * Invariants: reads committed records only, up to the end that the partition has while it is read. Right only while nobody
 *   else publishes and no transaction of a producer of the queue is open: under the lock, after kafka_producer_open.
 * Threads: the caller's own.
 * Ownership: plain data.
 * Failure: as kafka/consumer.h; RC_RETRY when the end is not reached in time.
 */
#ifndef PRODUCER_TAIL_H
#define PRODUCER_TAIL_H

#include "kafka/kafka.h"

struct tail {
    int64_t next_seq;    /* behind the last record of the run; as it was given, if there is none */
    int64_t last_offset; /* of that record; -1: none */
    bool ended;          /* it is an end, aborted or not */
};

/** ret_tail->next_seq is given by the caller: what is known already. */
MUST_CHECK enum rc tail_read(const struct kafka_properties *kafka, const char *topic, int partition,
                             int64_t from_offset, const char *run, struct tail *ret_tail,
                             struct err *err);

#endif

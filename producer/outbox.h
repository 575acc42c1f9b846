/**
 * What: records of a transaction that are made and counted, and that librdkafka has not taken yet:
 *   one behind the other.
 * Invariants: only outbox.c writes the fields, but for text, to which the next record is appended
 *   before outbox_keep.
 * Threads: the caller's own.
 * Ownership: owns the text; outbox_done frees it.
 * Failure: as kafka/producer.h.
 */
#ifndef PRODUCER_OUTBOX_H
#define PRODUCER_OUTBOX_H

#include "base/str.h"
#include "kafka/producer.h"
#include "producer/target.h"

struct outbox {
    struct str text;
    size_t ends[KAFKA_MOST_VALUES];
    int count;
};

/** What was appended behind the last record is a record. */
void outbox_keep(struct outbox *outbox);
bool outbox_is_full(const struct outbox *outbox);
/** Hands all to librdkafka, and is empty. */
MUST_CHECK enum rc outbox_send(struct outbox *outbox, struct kafka_producer *producer,
                               const struct target *target, struct err *err);
void outbox_clear(struct outbox *outbox);
void outbox_done(struct outbox *outbox);

#endif

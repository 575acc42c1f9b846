/**
 * What: closing several producers at a time: each is closed in two halves, and the slow part
 *   continues in between.
 * Invariants: each kafka_producer_close_start is followed by one kafka_producer_close_end.
 * Threads: as kafka/producer.h.
 * Ownership: close_start takes the producer; close_end takes what close_start returned.
 * Failure: close_end gives up after some seconds, and says so in the log.
 */
#ifndef KAFKA_CLOSING_H
#define KAFKA_CLOSING_H

struct kafka_closing;
struct kafka_producer;

/** The first half: the open transaction is aborted, the rest continues while the caller does other
 * work. NULL is fine. */
struct kafka_closing *kafka_producer_close_start(struct kafka_producer *producer);
/** The second half: waits for the rest. NULL is fine. */
void kafka_producer_close_end(struct kafka_closing *closing);

#endif

/**
 * What: the birthmark of a topic (executor/identity.c), written when a queue is made over it, by
 *   command or by request.
 * Invariants: the mark is durable in PostgreSQL before Kafka has it.
 * Threads: any.
 * Ownership: borrows everything.
 * Failure: as Kafka's and the database's; the first executor writes it then, if need be.
 */
#ifndef CONTROL_BIRTHMARK_H
#define CONTROL_BIRTHMARK_H

#include "db/db.h"
#include "kafka/kafka.h"

MUST_CHECK enum rc birthmark_make(struct db *db, const struct kafka_properties *kafka,
                                  const char *name, const char *topic, int partition,
                                  struct err *err);

#endif

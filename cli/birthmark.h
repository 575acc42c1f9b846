/**
 * What: the birthmark of a topic (executor/identity.c), written when a queue is made over it.
 * Invariants: the mark is durable in PostgreSQL before Kafka has it.
 * Threads: the caller's own.
 * Ownership: borrows everything.
 * Failure: said, and left to the first executor.
 */
#ifndef CLI_BIRTHMARK_H
#define CLI_BIRTHMARK_H

#include "cli/cli.h"
#include "kafka/kafka.h"

void birthmark_make(struct cli *cli, const struct kafka_properties *kafka, const char *name,
                    const char *topic, int partition);

#endif

/**
 * What: the readers of a tally: its metrics as text, and the values that the installation's numbers
 *   need of it.
 * Invariants: reading changes nothing and waits for no thread that counts.
 * Threads: any.
 * Ownership: appends to the caller's text.
 * Failure: none.
 */
#ifndef METRICS_TALLY_TEXT_H
#define METRICS_TALLY_TEXT_H

#include "base/str.h"
#include "metrics/tally.h"

/** All its families. */
void tally_text(const struct tally *tally, struct str *text);
/** librdkafka's families from its statistics, a JSON document; nothing if they cannot be read. */
void tally_kafka_text(const char *json, struct str *text);

int tally_queue_count(const struct tally *tally);
const char *tally_queue_name(const struct tally *tally, int i);
/** Why no work can be done on it now; NULL: it can. */
const char *tally_queue_trouble(const struct tally *tally, int i);
/** The end of this queue's log; -1: it is not known, or the queue is none of this executor's. */
int64_t tally_queue_high(const struct tally *tally, const char *queue);

#endif

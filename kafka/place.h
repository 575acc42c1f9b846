/**
 * What: a place in the log of a partition as a person types it: an offset, or one of its ends by
 *   Kafka's own words, earliest and latest.
 * Invariants: the one reader of these words, for commands and for requests alike.
 * Threads: any.
 * Ownership: borrows.
 * Failure: false: it is no such place; the outputs are then untouched.
 */
#ifndef KAFKA_PLACE_H
#define KAFKA_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum kafka_place { KAFKA_EARLIEST, KAFKA_LATEST, KAFKA_OFFSET };

/** *ret_offset: of KAFKA_OFFSET, 0 or more; untouched for an end, whose offset only a broker
 * knows. */
bool kafka_place_parse(const char *text, enum kafka_place *ret_place, int64_t *ret_offset);

#endif

/**
 * What: whether a transaction that is still open holds back the readers of committed records, from
 *   which offset on and since when.
 * Invariants: the check changes nothing. A transaction under way is no trouble by itself: the
 *   caller judges its age.
 * Threads: the caller's; two clients are opened for it and closed again, so ask seldom.
 * Ownership: plain data.
 * Failure: as kafka_watermarks.
 */
#ifndef KAFKA_STABLE_H
#define KAFKA_STABLE_H

#include "kafka/kafka.h"

struct kafka_open_transaction {
    /* of its first record here: nothing is delivered from there on. No transaction: end */
    int64_t offset;
    int64_t end;      /* the high watermark */
    int64_t since_ms; /* the first record's time stamp, Unix time; -1: not known */
};

/** RC_NONE: all records are readable; ret_open then has the end. timeout_ms is for each of three
 * requests. */
MUST_CHECK enum rc kafka_open_transaction(const struct kafka_properties *props, const char *topic,
                                          int partition, int timeout_ms,
                                          struct kafka_open_transaction *ret_open, struct err *err);

#endif

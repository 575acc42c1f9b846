/**
 * What: reports an open transaction of another producer on the partition, with the remedy. A reader
 *   of committed records reads nothing behind the first record of that transaction, even records
 *   that are committed: neither an executor, nor a publisher that must know the end of the topic.
 * Invariants: the check changes nothing.
 * Threads: the caller's own.
 * Ownership: borrows everything.
 * Failure: as kafka/stable.h.
 */
#ifndef PRODUCER_BLOCKED_H
#define PRODUCER_BLOCKED_H

#include "kafka/stable.h"
#include "producer/progress.h"
#include "producer/target.h"

/** RC_NONE: there is none. */
MUST_CHECK enum rc blocked_check(const struct target *target,
                                 struct kafka_open_transaction *ret_open, struct err *err);
void blocked_report(const struct target *target, const struct progress *progress,
                    const struct kafka_open_transaction *open);
/** Only one that is some seconds old: a younger one may be any producer at its work. */
void blocked_report_old(const struct target *target, const struct progress *progress,
                        const struct kafka_open_transaction *open);
/** ERR_HELD, with the remedy. */
enum rc blocked_err(const struct target *target, const struct kafka_open_transaction *open,
                    struct err *err);

#endif

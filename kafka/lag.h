/**
 * What: commits offsets to consumer groups that no consumer joins, so that people's lag tools see a
 *   queue. Internal to this folder.
 * Invariants: at most one request per group and partition is under way; a newer offset replaces
 *   one that waits.
 * Threads: the consumer's.
 * Ownership: owned by the consumer; has clients of its own, one for each group to which something
 *   was committed in the last seconds. None of its functions but close waits for one to be closed.
 * Failure: never the caller's business: a failure is logged when it starts, not each time.
 */
#ifndef KAFKA_LAG_H
#define KAFKA_LAG_H

#include "kafka/handle.h"

struct kafka_lag;

struct kafka_lag *kafka_lag_open(const struct kafka_properties *props);
void kafka_lag_close(struct kafka_lag *lag);
void kafka_lag_publish(struct kafka_lag *lag, const char *group, const char *topic, int partition,
                       int64_t offset);
/** Takes the answers that came, sends what waited for them, closes what is not used. */
void kafka_lag_serve(struct kafka_lag *lag);

#endif

/**
 * What: how the lanes of an executor begin and end: the consumer that all of them read through,
 *   then each lane.
 * Invariants: all lanes are opened before the first one starts to read: a request to a broker
 *   waits behind the fetches there.
 * Threads: control.
 * Ownership: lane_close frees what lane_open made; the executor closes the consumer.
 * Failure: as db.h and kafka/consumer.h.
 */
#ifndef EXECUTOR_LANE_OPEN_H
#define EXECUTOR_LANE_OPEN_H

#include "base/err.h"

struct executor;
struct lane;

MUST_CHECK enum rc consumer_open(struct executor *ex, struct err *err);
MUST_CHECK enum rc lane_open(struct lane *lane, struct err *err);
MUST_CHECK enum rc lane_start(struct lane *lane, struct err *err);
/* Its records are void. The next turn follows at once and reads its queue and its topic again
 * (queue.stale). */
void lane_restart(struct lane *lane);
MUST_CHECK enum rc lane_renew(struct lane *lane, struct err *err);
void lane_close(struct lane *lane);

#endif

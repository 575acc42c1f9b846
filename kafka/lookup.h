/**
 * What: one ListOffsets request: the offset of a partition at a time stamp, or at an end of its
 *   log. Internal to this folder.
 * Invariants: the call returns within timeout_ms. librdkafka waits for an answer by the wall clock
 *   (cnd_timedwait), so a clock that is set back would prolong its own time-out.
 * Threads: any.
 * Ownership: borrows handle; a request that is abandoned holds the handle until it ends.
 * Failure: librdkafka's code. RD_KAFKA_RESP_ERR__TIMED_OUT also for a request that is abandoned.
 */
#ifndef KAFKA_LOOKUP_H
#define KAFKA_LOOKUP_H

#include "kafka/handle.h"

/** timestamp_ms: since the epoch, or RD_KAFKA_OFFSET_BEGINNING or _END, the values that ListOffsets
 * has for the ends. *ret_offset is written on success only; RD_KAFKA_OFFSET_END: no record is that
 * young. */
MUST_CHECK rd_kafka_resp_err_t kafka_lookup(struct kafka_handle *handle, const char *topic,
                                            int partition, int64_t timestamp_ms, int timeout_ms,
                                            int64_t *ret_offset);

#endif

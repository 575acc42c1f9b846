/**
 * What: rd_kafka_metadata, waited for by a clock that cannot be set: librdkafka counts its time-out
 *   on the wall clock, and a caller would wait longer by the time that the clock is set back
 *   meanwhile. Internal to this folder.
 * Threads: any that may use the handle.
 * Ownership: the caller ends what it gets with rd_kafka_metadata_destroy.
 * Failure: librdkafka's code; RD_KAFKA_RESP_ERR__TIMED_OUT also when the call was left behind.
 */
#ifndef KAFKA_METADATA_H
#define KAFKA_METADATA_H

#include "kafka/handle.h"

#include <stdbool.h>

/** Of one topic; of all of them; of those that the handle knows (topic NULL, not all). */
rd_kafka_resp_err_t kafka_metadata(struct kafka_handle *handle, bool all, const char *topic,
                                   int timeout_ms, const struct rd_kafka_metadata **ret_metadata);

#endif

/**
 * What: one partition, read through a consumer from an offset that the caller names.
 * Invariants: records come in the order of their offsets; gaps are normal; an offset never comes
 *   twice between two calls of kafka_source_assign. The buffer of records read ahead is bounded
 *   (kafka/consumer.h).
 * Threads: the consumer's thread.
 * Ownership: the caller owns the records that it got (kafka/record.h) and closes a source before
 *   its consumer.
 * Failure: kafka_source_poll returns RC_FATAL when the position is out of range or the data is
 *   corrupt, and returns it again: the source does not move until it is assigned again. Outages and
 *   missing topics: see kafka/consumer.h.
 */
#ifndef KAFKA_SOURCE_H
#define KAFKA_SOURCE_H

#include "kafka/kafka.h"
#include "kafka/record.h"

#include <stdint.h>

struct kafka_consumer;
struct kafka_source;

MUST_CHECK enum rc kafka_source_open(struct kafka_consumer *consumer, const char *topic,
                                     int partition, struct kafka_source **ret_source,
                                     struct err *err);
void kafka_source_close(struct kafka_source *source);

/** Starts, or starts again, at offset; buffered records are dropped. */
MUST_CHECK enum rc kafka_source_assign(struct kafka_source *source, int64_t offset,
                                       struct err *err);

/**
 * The next record without waiting. RC_NONE: nothing now. RC_FATAL (ERR_KAFKA): offset out of range,
 * bad CRC, topic gone: err says which; err->code is librdkafka's name of it.
 */
MUST_CHECK enum rc kafka_source_poll(struct kafka_source *source, struct kafka_record *ret_record,
                                     struct err *err);

/**
 * Since the last assign a broker was connected again, or the record that was returned last came
 * from another broker than those before it: the log may have been cut and filled again meanwhile.
 * True before kafka_source_poll has returned the first record that was fetched behind that.
 */
bool kafka_source_cut(const struct kafka_source *source);

/** The offset at which the end of the partition was last reported, -1 while it is not known to be
 * at the end. */
int64_t kafka_source_end(const struct kafka_source *source);

/**
 * Low and high watermark as last seen by the consumer, without asking the broker; -1 if not known.
 * high is as of the last fetch, low is renewed in the background every statistics.interval.ms (10 s
 * at least).
 */
void kafka_source_watermarks(const struct kafka_source *source, int64_t *ret_low,
                             int64_t *ret_high);

/**
 * Commits next_offset to group for people's lag tools; asynchronous (kafka_consumer_serve takes the
 * answer), failures are only logged. One request per group is under way at a time; a newer offset
 * replaces one that waits.
 */
void kafka_source_publish_lag(struct kafka_source *source, const char *group, int64_t next_offset);

#endif

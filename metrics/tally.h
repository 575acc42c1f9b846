/**
 * What: the counts of a daemon since it started, in memory: tasks, barriers, firings. Each thread
 *   that does such work counts it here, and nothing else of it is written down for the metrics: no
 *   statement and no lock is added to any task.
 * Invariants: a number only grows while the process lives, also when retention deletes rows or an
 *   incarnation is lost. It begins at 0 again with the process, as Prometheus expects of counters.
 * Threads: a queue's part is written by one thread (the executor's control), the schedules' by the
 *   dispatcher's, Kafka's statistics by control; any thread may read (metrics/tally_text.h).
 * Ownership: tally_new gives it to the caller. The caller frees it behind all threads that count.
 *   Queues' names are borrowed.
 * Failure: none. A NULL tally, or a NULL queue, counts nothing.
 */
#ifndef METRICS_TALLY_H
#define METRICS_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally;
struct tally_queue;

struct tally *tally_new(const char *const *queues, int count);
void tally_free(struct tally *tally);
/** Of the i-th queue. */
struct tally_queue *tally_queue_at(struct tally *tally, int i);

enum tally_outcome { TALLY_COMPLETED, TALLY_FAILED, TALLY_ERROR, TALLY_STALE, TALLY_OUTCOMES };

/** An attempt has ended. type: a static text. waited_us: from when it could start until a reader
 * came to it; -1: unknown. */
void tally_task(struct tally_queue *queue, const char *type, enum tally_outcome outcome,
                int64_t ran_us, int64_t waited_us);
void tally_lost(struct tally_queue *queue);
void tally_barrier(struct tally_queue *queue, int64_t us);
/** A message may be rejected for this reason: its counter begins at 0 here and not with the first
 * rejection, because increase() of Prometheus sees only a change between two scrapes. */
void tally_reason(struct tally_queue *queue, const char *reason);
void tally_rejected(struct tally_queue *queue, const char *reason);
/** The end of the queue's log, as last seen. */
void tally_high(struct tally_queue *queue, int64_t offset);
/** Why no work can be done on it now, a static text; NULL: it can. */
void tally_trouble(struct tally_queue *queue, const char *why);

enum tally_decision { TALLY_FIRED, TALLY_SKIPPED, TALLY_MISSED, TALLY_NOT_FIRED, TALLY_DECISIONS };
/** Of one time of a job; late_us: of a firing, -1: unknown; else not read. */
void tally_decided(struct tally *tally, enum tally_decision decision, int64_t late_us);
/** librdkafka's newest statistics: a JSON document, copied. */
void tally_kafka(struct tally *tally, const char *json, size_t len);

#endif

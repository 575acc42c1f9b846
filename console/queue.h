/**
 * What: actions of an operator on a queue by request that a statement alone cannot do, because it
 *   needs Kafka or a look first: as the commands `queue create`, `queue delete` and `queue resume`
 *   do it.
 * Invariants: control/ asks Kafka and refuses, for commands and requests alike.
 * Threads: that of the handler.
 * Ownership: appended to the caller's text.
 * Failure: as control/queue_create.h; RC_REJECT + ERR_CONFIG: the console knows no broker;
 *   ERR_FAILED: the queue is not in such a state. RC_NONE: there is no such queue.
 */
#ifndef CONSOLE_QUEUE_H
#define CONSOLE_QUEUE_H

#include "console/route.h"

/** Refuses what needs Kafka if the console's configuration names no broker. */
MUST_CHECK enum rc queue_needs_kafka(const struct route_context *context, struct err *err);

/** params: name, topic, partition, from_offset, from_end, create_topic, replication, max_readers,
 * on_failure, runs, max_attempts, lookahead, dead_letters, external_lease, retry_intervals,
 * retry_on, reason. */
MUST_CHECK enum rc queue_create_make(const struct route_context *context, struct db *db,
                                     const char *const *params, struct str *document,
                                     struct err *err);
/** The birthmark, when the queue is committed. */
MUST_CHECK enum rc queue_create_mark(const struct route_context *context, struct db *db,
                                     const char *const *params, struct err *err);
/** params: queue, from_offset, reason. */
MUST_CHECK enum rc queue_accept_make(const struct route_context *context, struct db *db,
                                     const char *const *params, struct str *document,
                                     struct err *err);
/* Whether these may be done. params: queue. */
MUST_CHECK enum rc queue_may_delete(const struct route_context *context, struct db *db,
                                    const char *const *params, struct err *err);
MUST_CHECK enum rc queue_may_accept(const struct route_context *context, struct db *db,
                                    const char *const *params, struct err *err);
MUST_CHECK enum rc queue_may_accept_server(const struct route_context *context, struct db *db,
                                           const char *const *params, struct err *err);

#endif

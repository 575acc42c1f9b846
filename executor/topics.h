/**
 * What: the reports of an executor's heartbeat about the topics of its queues: where each one ends,
 *   and why one cannot be read.
 * Invariants: a topic is named by the place of its queue in the executor's options.
 * Threads: control writes, the liveness thread reads.
 * Ownership: alive's.
 * Failure: none.
 */
#ifndef EXECUTOR_TOPICS_H
#define EXECUTOR_TOPICS_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct topics;

struct topics *topics_new(int count);
void topics_free(struct topics *topics);
/** -1: not known. */
void topics_set_end(struct topics *topics, int topic, int64_t end);
/** "": it can be read. Whether it could be read before, and cannot now, or the other way round. */
bool topics_set_trouble(struct topics *topics, int topic, const char *trouble);
/** An array for SQL: the ends, NULL: not known. */
void topics_ends(const struct topics *topics, struct str *array);
/** An array for SQL: the troubles, NULL: none. False: no topic has any. */
bool topics_troubles(struct topics *topics, struct str *array);

#endif

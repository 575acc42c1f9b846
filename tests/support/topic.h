/**
 * What: shared by tests with a broker: the broker's address, a topic of their own, names.
 * Invariants: no topic or name is given twice.
 * Threads: the test's own thread only.
 * Ownership: strings live until the process ends.
 * Failure: the test fails with the error's text; nothing is returned.
 */
#ifndef TESTS_SUPPORT_TOPIC_H
#define TESTS_SUPPORT_TOPIC_H

#include "kafka/kafka.h"

#include <stdbool.h>
#include <stdint.h>

/** bootstrap.servers of the test broker (LOCKSTEP_TEST_BROKERS). */
const char *support_brokers(void);
/** Properties that hold bootstrap.servers; the caller ends them with kafka_properties_done. */
void support_properties(struct kafka_properties *ret_props);
/** A new topic with one partition. */
const char *support_topic(void);
/** A name that nothing else on these servers has: for queues, groups, topics. */
const char *support_name(const char *prefix);

/**
 * For loops that wait for a broker, which does in the background what it has answered: false once
 * 30 s have passed since the first call, with *until_us 0. Waits a moment from the second call on.
 */
bool support_again(int64_t *until_us);

#endif

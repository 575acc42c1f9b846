/**
 * What: one Kafka cluster as librdkafka properties; the description of a topic. Only this folder
 *   includes librdkafka.
 * Invariants: every error code is translated in kafka/error.c and nowhere else. Properties are
 *   passed to librdkafka as they are; an unknown one is an error with librdkafka's own text.
 *   Those that a promise rests on ("kept" in the table of handle.c) cannot be given another
 *   value. Secrets are masked in logs and error texts.
 * Threads: any, an admin from one at a time; struct kafka_properties is read-only once filled.
 * Ownership: kafka_properties owns copies of its strings.
 * Failure: RC_LOST + ERR_KAFKA_DOWN: not reachable. RC_RETRY: may pass by itself. RC_FATAL: a
 *   person must act.
 */
#ifndef KAFKA_KAFKA_H
#define KAFKA_KAFKA_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kafka_properties {
    struct kafka_property {
        char *key, *value;
    } * items;
    int count;
};

/** Sets or replaces. The value is checked by librdkafka at once: RC_FATAL + ERR_CONFIG with its own
 * words. */
MUST_CHECK enum rc kafka_properties_set(struct kafka_properties *props, const char *key,
                                        const char *value, struct err *err);
const char *kafka_properties_get(const struct kafka_properties *props,
                                 const char *key); /* NULL if not set */
void kafka_properties_copy(struct kafka_properties *to, const struct kafka_properties *from);
void kafka_properties_done(struct kafka_properties *props);

/** A topic as the cluster describes it. Configuration values are -1 / "" where the broker does not
 * report them (mock, ACL). */
struct kafka_topic_info {
    char cluster_id[64];
    int partitions; /* 0: no such topic */
    char cleanup_policy[64];
    int64_t max_message_bytes, retention_ms, retention_bytes, min_insync_replicas;
    int replication;
    char unclean_leader_election[8];
};

/** One header of a record. The name is never NULL in one, has no NUL in it, and may come twice. */
struct kafka_header {
    const char *name;
    const char *value; /* NULL: null, which is not the same as empty */
    size_t value_len;
};

struct kafka_admin; /* a short-lived client for describing and creating */
MUST_CHECK enum rc kafka_admin_open(const struct kafka_properties *props,
                                    struct kafka_admin **ret_admin, struct err *err);
void kafka_admin_close(struct kafka_admin *admin);
/** Whether a broker answers. It names no topic, so it needs no right on any. */
MUST_CHECK enum rc kafka_admin_meet(struct kafka_admin *admin, int timeout_ms, struct err *err);
/** RC_NONE: the topic does not exist. Waits at most timeout_ms; a question about an unknown topic
 * never creates it. */
MUST_CHECK enum rc kafka_topic_describe(struct kafka_admin *admin, const char *topic,
                                        int timeout_ms, struct kafka_topic_info *ret_info,
                                        struct err *err);
/**
 * Creates with cleanup.policy=delete, retention.ms=-1 and waits until it can be used; replication <
 * 1: the cluster's default. RC_NONE: it exists already.
 */
MUST_CHECK enum rc kafka_topic_create(struct kafka_admin *admin, const char *topic, int partitions,
                                      int replication, int timeout_ms, struct err *err);
/** Deletes and waits until it is gone. RC_NONE: no such topic. */
MUST_CHECK enum rc kafka_topic_delete(struct kafka_admin *admin, const char *topic, int timeout_ms,
                                      struct err *err);
/** Earliest offset and high watermark. */
MUST_CHECK enum rc kafka_watermarks(struct kafka_admin *admin, const char *topic, int partition,
                                    int timeout_ms, int64_t *ret_low, int64_t *ret_high,
                                    struct err *err);

/** The offset of the first record whose timestamp is timestamp_ms or later. RC_NONE: there is
 * none. */
MUST_CHECK enum rc kafka_offset_at(struct kafka_admin *admin, const char *topic, int partition,
                                   int64_t timestamp_ms, int timeout_ms, int64_t *ret_offset,
                                   struct err *err);

#endif

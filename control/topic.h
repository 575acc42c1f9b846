/**
 * What: whether a topic is fit to be a queue's log, for `queue create`, by command and by request,
 *   and `check`.
 * Invariants: a setting that the broker does not report (a mock, missing rights) is not judged.
 * Threads: any.
 * Ownership: findings are plain data.
 * Failure: none.
 */
#ifndef CONTROL_TOPIC_H
#define CONTROL_TOPIC_H

#include "kafka/kafka.h"

#define TOPIC_FINDINGS 8

enum topic_grade { TOPIC_OK, TOPIC_WARN, TOPIC_FAIL };

struct topic_finding {
    enum topic_grade grade;
    char text[200], hint[600];
};

/** The ends of a queue's log. */
struct topic_ends {
    int64_t low;          /* where it begins now */
    int64_t stable, high; /* last stable offset; high watermark */
    /* Unix time of the open transaction's first record; -1: none, or not known */
    int64_t open_since_ms;
};
MUST_CHECK enum rc topic_ends(const struct kafka_properties *kafka, const char *topic,
                              int partition, int timeout_ms, struct topic_ends *ret_ends,
                              struct err *err);

/** What commands of Kafka's need to know. */
struct topic_place {
    const char *topic;
    int partition;
    const char *brokers;
};
/** whole: the queue is the whole topic, so it must have exactly one partition. The number of
 * findings that are not OK. */
int topic_judge(const struct kafka_topic_info *info, const struct topic_place *where, bool whole,
                struct topic_finding ret_findings[TOPIC_FINDINGS]);

#endif

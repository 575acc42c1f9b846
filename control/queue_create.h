/**
 * What: a queue is made over a topic, by command and by request: its settings are collected, the
 *   topic is judged, and made if that is asked for, the row is written, and the topic gets its
 *   birthmark.
 * Invariants: a setting that is not given is that of [queue:NAME] in the configuration, else the
 *   default of its table. The steps come in the order of their functions; the birthmark comes after
 *   the row is committed. A topic that was made stays if a later step fails: plan->topic_made.
 * Threads: any; one at a time.
 * Ownership: borrows the texts of a wish, and the configuration, while the plan lives.
 * Failure: RC_REJECT: ERR_USAGE: a setting is wrong; ERR_CONFIG: the topic does not fit;
 *   ERR_FAILED: the name is taken.
 */
#ifndef CONTROL_QUEUE_CREATE_H
#define CONTROL_QUEUE_CREATE_H

#include "control/topic.h"
#include "db/db.h"

struct config;

/** What the command's options, or the request's members, say; NULL: nothing. Those up to retry_on
 * have the names of [queue:NAME]. */
struct queue_wish {
    const char *name, *topic, *partition, *max_readers, *on_failure, *runs, *max_attempts,
        *lookahead, *dead_letters, *external_lease, *retry_intervals, *retry_on;
    const char *from_offset; /* a number, earliest or latest */
    bool from_end;
    bool create_topic;
    int replication; /* of a topic that is made; -1: the cluster's default */
    const char *reason;
};

struct queue_plan {
    struct queue_wish wish; /* with the configuration's settings */
    bool whole;             /* no partition is named: the topic has one */
    int partition;
    struct kafka_topic_info info;
    bool topic_made;
    int64_t offset, there; /* there: offsets of the log from there on */
    struct topic_finding warnings[TOPIC_FINDINGS];
    int warning_count;
};

/** The settings, checked. */
MUST_CHECK enum rc queue_plan(const struct config *config, const struct queue_wish *wish,
                              struct queue_plan *ret_plan, struct err *err);
/** Refused if there is a queue of this name, before a topic is made for it; queue_make decides. */
MUST_CHECK enum rc queue_is_new(struct db *db, const struct queue_plan *plan, struct err *err);
/** The topic, and where the queue begins in it. timeout_ms: of each question to Kafka. */
MUST_CHECK enum rc queue_place(const struct kafka_properties *kafka, int timeout_ms,
                               struct queue_plan *plan, struct err *err);
/** The row. */
MUST_CHECK enum rc queue_make(struct db *db, const struct queue_plan *plan, struct err *err);

#endif

/**
 * What: checks a topic on a client of its own: its number of partitions, the begin and end of its
 *   log, its leader, and whether its birthmark is there: a text committed as metadata of the
 *   topic's partition to a consumer group, which the broker deletes together with the topic.
 *   librdkafka 2.0.2 knows no topic id, and reads a topic that was made again from the old offset
 *   without an error.
 * Invariants: a check changes nothing. No consumer joins the group, so only kafka_watch_sign writes
 *   to it.
 * Threads: one thread per watch, a thread that may wait: each call blocks for up to its time-outs.
 * Ownership: a watch has a client of its own, with the group's name as group.id. Plain commits and
 *   reads: the admin requests that name any group end the process in 2.0.2 when the broker dies
 *   under them.
 * Failure: RC_LOST + ERR_KAFKA_DOWN: no answer. A birthmark that cannot be read (an ACL) does not
 *   spoil the rest of a check.
 */
#ifndef KAFKA_WATCH_H
#define KAFKA_WATCH_H

#include "kafka/kafka.h"

#define KAFKA_MARK_SIZE 64
/* One for all topics, so that one client reads all marks. No queue can have it for its lag: those
 * are lockstep.QUEUE. */
#define KAFKA_MARK_GROUP "lockstep-birthmarks"

struct kafka_watch;

struct kafka_check {
    char cluster_id[64]; /* "": not known */
    /* 0: there is no such topic; the fields below, but for the mark, are unknown then */
    int partitions;
    int leader;                 /* broker id, -1: none now */
    int64_t low, high;          /* the log's beginning and its high watermark */
    bool mark_known;            /* else mark_err says why not */
    char mark[KAFKA_MARK_SIZE]; /* "": none */
    struct err mark_err;
};

MUST_CHECK enum rc kafka_watch_open(const struct kafka_properties *props, const char *group,
                                    struct kafka_watch **ret_watch, struct err *err);
void kafka_watch_close(struct kafka_watch *watch);

/** timeout_ms is for each of four requests; the first one without an answer ends it. */
MUST_CHECK enum rc kafka_watch_check(struct kafka_watch *watch, const char *topic, int partition,
                                     int timeout_ms, struct kafka_check *ret_check,
                                     struct err *err);

/** Commits mark to the group and waits for the answer. RC_LOST: it may still be written later. */
MUST_CHECK enum rc kafka_watch_sign(struct kafka_watch *watch, const char *topic, int partition,
                                    int64_t offset, const char *mark, int timeout_ms,
                                    struct err *err);

#endif

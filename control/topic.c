/* Judges whether a topic is fit for a queue. One set of judgements for `queue create`, the console
 * and `lockstep check`, and each finding has the command that repairs it. TOPIC_FAIL stands for a
 * setting that loses tasks or order, TOPIC_WARN for one that may lose them later. A setting that
 * the broker does not report is not judged. */
#include "control/topic.h"

#include "kafka/stable.h"

#include "base/remedies.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* LEAST_MESSAGE_BYTES is librdkafka's message.max.bytes, and so the size that a task may have.
 * WEEK_MS: a queue that waits for a person over a weekend must not lose messages. */
#define LEAST_MESSAGE_BYTES 1000000
#define WEEK_MS             (7LL * 24 * 3600 * 1000)

static void find(struct topic_finding *findings, int *count, enum topic_grade grade,
                 const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static void find(struct topic_finding *findings, int *count, enum topic_grade grade,
                 const char *hint, const char *fmt, ...)
{
    /* There is room for all findings of one topic; this only guards the array. */
    if (*count == TOPIC_FINDINGS)
        return;
    struct topic_finding *finding = &findings[(*count)++];
    finding->grade = grade;
    (void)snprintf(finding->hint, sizeof finding->hint, "%s", hint);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(finding->text, sizeof finding->text, fmt, ap);
    va_end(ap);
}

/* With the command that sets it. */
static const char *set(const struct topic_place *where, const char *setting, char hint[600])
{
    (void)snprintf(hint, 600, REMEDY_KAFKA_CONFIG, where->brokers, where->topic, setting);
    return hint;
}

static void judge_shape(const struct kafka_topic_info *info, const struct topic_place *where,
                        bool whole, struct topic_finding *findings, int *count)
{
    char hint[600];
    if (where->partition >= info->partitions)
        find(findings, count, TOPIC_FAIL, "Name a partition that is there.",
             "there is no partition %d, the topic has %d", where->partition, info->partitions);
    else if (whole && info->partitions != 1)
        find(findings, count, TOPIC_FAIL,
             "Order holds within one partition only. Name another topic with --topic, which "
             "--create-topic makes if it is not there; or name the partition of this queue with "
             "--partition and let its producers write to that one.",
             "the topic has %d partitions, a queue needs exactly one", info->partitions);
    if (strstr(info->cleanup_policy, "compact") != NULL)
        find(findings, count, TOPIC_FAIL, set(where, "cleanup.policy=delete", hint),
             "cleanup.policy is %s: compaction deletes messages that were not run",
             info->cleanup_policy);
    if (info->max_message_bytes >= 0 && info->max_message_bytes < LEAST_MESSAGE_BYTES)
        find(findings, count, TOPIC_FAIL, set(where, "max.message.bytes=1048588", hint),
             "max.message.bytes is %" PRId64 ", tasks may be up to %d bytes",
             info->max_message_bytes, LEAST_MESSAGE_BYTES);
}

int topic_judge(const struct kafka_topic_info *info, const struct topic_place *where, bool whole,
                struct topic_finding ret_findings[TOPIC_FINDINGS])
{
    int count = 0;
    char hint[600];
    judge_shape(info, where, whole, ret_findings, &count);
    if (info->retention_ms > 0 && info->retention_ms < WEEK_MS)
        find(ret_findings, &count, TOPIC_WARN, set(where, "retention.ms=-1", hint),
             "retention.ms is %" PRId64
             ", less than a week: what is not run before it is deleted is lost",
             info->retention_ms);
    if (info->retention_bytes > 0)
        find(ret_findings, &count, TOPIC_WARN, set(where, "retention.bytes=-1", hint),
             "retention.bytes is %" PRId64 ": a large run may push itself out",
             info->retention_bytes);
    if (strcmp(info->unclean_leader_election, "true") == 0)
        find(ret_findings, &count, TOPIC_WARN,
             set(where, "unclean.leader.election.enable=false", hint),
             "unclean leader election may lose acknowledged messages");
    /* With fewer replicas min.insync.replicas=2 would stop producers at the loss of one broker. */
    if (info->replication >= 3 && info->min_insync_replicas == 1)
        find(ret_findings, &count, TOPIC_WARN, set(where, "min.insync.replicas=2", hint),
             "min.insync.replicas is 1 of %d replicas: one broker's loss may lose acknowledged "
             "messages",
             info->replication);
    return count;
}

/* librdkafka reports a topic that does not exist as an unknown partition, which may also be a
 * hiccup; so the topic is described before this error replaces the other. */
static enum rc gone(const struct kafka_properties *kafka, const char *topic, struct err *err)
{
    char hint[600];
    (void)snprintf(hint, sizeof hint, REMEDY_KAFKA_TOPIC_ANEW,
                   kafka_properties_get(kafka, "bootstrap.servers"), topic);
    return err_set(err, RC_REJECT, ERR_CONFIG, topic, hint, "the topic does not exist");
}

enum rc topic_ends(const struct kafka_properties *kafka, const char *topic, int partition,
                   int timeout_ms, struct topic_ends *ret_ends, struct err *err)
{
    struct kafka_admin *admin = NULL;
    struct kafka_open_transaction open;
    struct topic_ends ends = {.open_since_ms = -1};
    struct kafka_topic_info info;
    struct err ignored;
    int64_t high;
    enum rc rc = kafka_admin_open(kafka, &admin, err);
    if (rc == RC_OK)
        rc = kafka_watermarks(admin, topic, partition, timeout_ms, &ends.low, &high, err);
    if (rc == RC_RETRY && err->kind == ERR_KAFKA &&
        kafka_topic_describe(admin, topic, timeout_ms, &info, &ignored) == RC_NONE)
        rc = gone(kafka, topic, err);
    kafka_admin_close(admin);
    if (rc == RC_OK)
        /* Its two offsets are of one moment, so the watermark from before is not used. */
        rc = kafka_open_transaction(kafka, topic, partition, timeout_ms, &open, err);
    if (rc != RC_OK && rc != RC_NONE)
        return rc;
    ends.stable = open.offset;
    ends.high = open.end;
    if (rc == RC_OK)
        ends.open_since_ms = open.since_ms;
    *ret_ends = ends;
    return RC_OK;
}

#include "cli/topic.h"

#include "kafka/stable.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEAST_MESSAGE_BYTES 1000000
#define WEEK_MS             (7LL * 24 * 3600 * 1000)

static void find(struct topic_finding *findings, int *count, enum topic_grade grade,
                 const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static void find(struct topic_finding *findings, int *count, enum topic_grade grade,
                 const char *hint, const char *fmt, ...)
{
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

static void judge_shape(const struct kafka_topic_info *info, int partition, bool whole,
                        struct topic_finding *findings, int *count)
{
    if (partition >= info->partitions)
        find(findings, count, TOPIC_FAIL, "Name a partition that is there.",
             "there is no partition %d, the topic has %d", partition, info->partitions);
    else if (whole && info->partitions != 1)
        find(
            findings, count, TOPIC_FAIL,
            "Order holds within one partition only. Use a topic with one partition (--create-topic "
            "makes it), or name "
            "the partition of this queue with --partition and let its producers write to that one.",
            "the topic has %d partitions, a queue needs exactly one", info->partitions);
    if (strstr(info->cleanup_policy, "compact") != NULL)
        find(findings, count, TOPIC_FAIL,
             "Compaction deletes messages that were not run: kafka-configs.sh --alter --add-config "
             "cleanup.policy=delete",
             "cleanup.policy is %s", info->cleanup_policy);
    if (info->max_message_bytes >= 0 && info->max_message_bytes < LEAST_MESSAGE_BYTES)
        find(findings, count, TOPIC_FAIL,
             "kafka-configs.sh --alter --add-config max.message.bytes=1048588",
             "max.message.bytes is %" PRId64 ", tasks may be up to %d bytes",
             info->max_message_bytes, LEAST_MESSAGE_BYTES);
}

int topic_judge(const struct kafka_topic_info *info, int partition, bool whole,
                struct topic_finding ret_findings[TOPIC_FINDINGS])
{
    int count = 0;
    judge_shape(info, partition, whole, ret_findings, &count);
    if (info->retention_ms > 0 && info->retention_ms < WEEK_MS)
        find(ret_findings, &count, TOPIC_WARN,
             "What is not run before it is deleted is lost: retention.ms=-1",
             "retention.ms is %" PRId64 ", less than a week", info->retention_ms);
    if (info->retention_bytes > 0)
        find(ret_findings, &count, TOPIC_WARN,
             "A large run may push itself out: retention.bytes=-1", "retention.bytes is %" PRId64,
             info->retention_bytes);
    if (strcmp(info->unclean_leader_election, "true") == 0)
        find(ret_findings, &count, TOPIC_WARN, "unclean.leader.election.enable=false",
             "unclean leader election may lose acknowledged messages");
    if (info->replication >= 3 && info->min_insync_replicas == 1)
        find(ret_findings, &count, TOPIC_WARN, "min.insync.replicas=2",
             "min.insync.replicas is 1 of %d replicas: one broker's loss may lose acknowledged "
             "messages",
             info->replication);
    return count;
}

enum rc topic_ends(const struct kafka_properties *kafka, const char *topic, int partition,
                   int timeout_ms, struct topic_ends *ret_ends, struct err *err)
{
    struct kafka_admin *admin = NULL;
    struct kafka_open_transaction open;
    struct topic_ends ends = {.open_since_ms = -1};
    int64_t high;
    enum rc rc = kafka_admin_open(kafka, &admin, err);
    if (rc == RC_OK)
        rc = kafka_watermarks(admin, topic, partition, timeout_ms, &ends.low, &high, err);
    kafka_admin_close(admin);
    if (rc == RC_OK)
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

void topic_advise_open(const char *topic, int partition, int64_t offset, char *ret_text,
                       size_t size)
{
    (void)snprintf(ret_text, size,
                   "End that producer, or wait until Kafka aborts its transaction (its "
                   "transaction.timeout.ms). If it hangs: kafka-transactions.sh --bootstrap-server "
                   "BROKER abort --topic %s --partition %d --start-offset %" PRId64,
                   topic, partition, offset);
}

#include "producer/publishing.h"

#include "base/remedies.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIBE_WAIT_MS 15000
/* A batch is up to message.max.bytes long, and a record in it has a header (Kafka's record batch
 * format, version 2). */
#define BATCH_BYTES        128
#define DEFAULT_BATCH_SIZE 1000000 /* librdkafka's message.max.bytes */

static enum rc check_partitions(const struct publishing *p, const struct kafka_topic_info *info,
                                struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, REMEDY_TOPIC_SHAPE, p->options->queue);
    /* What is not known was accepted as it is: the next executor learns it. */
    if (p->partition == 0 && p->partitions == 1 && info->partitions != 1)
        return err_set(err, RC_FATAL, ERR_CONFIG, p->topic, hint,
                       "The topic has %d partitions now, it had 1.", info->partitions);
    if (p->partition >= info->partitions)
        return err_set(err, RC_FATAL, ERR_CONFIG, p->topic,
                       "give the queue a partition that exists",
                       "The topic has %d partitions; partition %d of the queue is not among them.",
                       info->partitions, p->partition);
    return RC_OK;
}

static int64_t batch_size(const struct publishing *p)
{
    const char *text = kafka_properties_get(p->options->kafka, "message.max.bytes");
    return text != NULL ? strtoll(text, NULL, 10) : DEFAULT_BATCH_SIZE;
}

static const char *hint_of(const struct publishing *p, const char *setting, char hint[500])
{
    const char *brokers = kafka_properties_get(p->options->kafka, "bootstrap.servers");
    (void)snprintf(hint, 500, REMEDY_KAFKA_CONFIG, brokers != NULL ? brokers : "BROKER", p->topic,
                   setting);
    return hint;
}

static enum rc check_settings(const struct publishing *p, const struct kafka_topic_info *info,
                              struct err *err)
{
    char hint[500];
    if (strstr(info->cleanup_policy, "compact") != NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, p->topic,
                       hint_of(p, "cleanup.policy=delete", hint),
                       "The topic is compacted (cleanup.policy=%s): Kafka would delete tasks.",
                       info->cleanup_policy);
    if (info->max_message_bytes >= 0 && info->max_message_bytes < batch_size(p))
        return err_set(err, RC_FATAL, ERR_CONFIG, p->topic,
                       hint_of(p, "max.message.bytes=1048588", hint),
                       "The topic's max.message.bytes is %" PRId64
                       ", less than the producer's message.max.bytes, %" PRId64 ".",
                       info->max_message_bytes, batch_size(p));
    if (p->cluster_id[0] != '\0' && info->cluster_id[0] != '\0' &&
        strcmp(p->cluster_id, info->cluster_id) != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, p->topic,
                       "check --brokers: the queue's executors read from another cluster",
                       "This is Kafka cluster %s, the queue belongs to cluster %s.",
                       info->cluster_id, p->cluster_id);
    return RC_OK;
}

static enum rc gone(const struct publishing *p, struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, REMEDY_TOPIC_GONE, p->options->queue);
    return err_set(err, RC_FATAL, ERR_CONFIG, p->topic, hint, "The queue's topic does not exist.");
}

enum rc publishing_topic(struct publishing *p, struct err *err)
{
    struct kafka_admin *admin;
    enum rc rc = kafka_admin_open(p->options->kafka, &admin, err);
    if (rc != RC_OK)
        return rc;
    struct kafka_topic_info info = {0};
    rc = kafka_topic_describe(admin, p->topic, DESCRIBE_WAIT_MS, &info, err);
    kafka_admin_close(admin);
    if (rc == RC_NONE)
        return gone(p, err);
    if (rc == RC_OK)
        rc = check_partitions(p, &info, err);
    if (rc == RC_OK)
        rc = check_settings(p, &info, err);
    if (rc != RC_OK)
        return rc;
    int64_t most = batch_size(p) - BATCH_BYTES;
    if (most > MESSAGE_MAX_BYTES)
        most = MESSAGE_MAX_BYTES;
    if (most < 2 * MESSAGE_TAG_BYTES)
        return err_set(err, RC_FATAL, ERR_CONFIG, "message.max.bytes", "the default is 1000000",
                       "message.max.bytes of %" PRId64 " leaves no room for a task.",
                       batch_size(p));
    p->limit = (size_t)most - MESSAGE_TAG_BYTES;
    return RC_OK;
}

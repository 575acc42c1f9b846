/* The queue's row and its topic: found, and judged fit. Begin with target_check(); nothing is sent
 * before it has passed. The check is of one moment: a topic that changes later is found by the
 * executor (executor/identity.c). */
#include "producer/target.h"

#include "base/remedies.h"
#include "kafka/admin.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_RELAY ".relay"
/* librdkafka connects and retries within these; a cluster that is longer silent is down. */
#define DESCRIBE_WAIT_MS  15000
#define WATERMARK_WAIT_MS 15000
/* A batch is up to message.max.bytes long, and a record in it has a header (Kafka's record batch
 * format, version 2). */
#define BATCH_BYTES        128
#define DEFAULT_BATCH_SIZE 1000000            /* librdkafka's message.max.bytes */
#define KAFKA_MAX_BYTES    ((int64_t)1048588) /* Kafka's max.message.bytes */
#define TRANSACTION_MS     60000              /* librdkafka's transaction.timeout.ms */

struct target target_known(const char *queue, const struct kafka_properties *kafka, int queue_id,
                           const char *topic, int partition)
{
    struct target target = {
        .queue = queue, .kafka = kafka, .queue_id = queue_id, .partition = partition};
    (void)snprintf(target.topic, sizeof target.topic, "%s", topic);
    return target;
}

int64_t target_timeout_ms(const struct target *target)
{
    const char *text = kafka_properties_get(target->kafka, "transaction.timeout.ms");
    return text != NULL ? strtoll(text, NULL, 10) : TRANSACTION_MS;
}

/* Before the lock and the producer: its transactional id would fence the publisher of the other
 * database, and its takeover would end that one's run on the topic. */
static enum rc refuse_copy(const struct target *target, struct err *err)
{
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_COPY, target->queue);
    return err_set(err, RC_FATAL, ERR_CONFIG, target->queue, hint,
                   "the queue was worked on by another server or in another database: this is a "
                   "copy, nothing is published to its topic");
}

enum rc target_find(struct target *target, struct db *db, struct err *err)
{
    const char *queue = target->queue;
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_publish_queue, &queue, &row, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, queue);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_USAGE, queue, hint, "there is no queue of this name");
    if (rc != RC_OK)
        return rc;
    if (db_bool(row, 0, PUBLISH_QUEUE_IS_COPY))
        return refuse_copy(target, err);
    target->queue_id = (int)db_int(row, 0, PUBLISH_QUEUE_QUEUE_ID);
    target->partition = (int)db_int(row, 0, PUBLISH_QUEUE_PARTITION);
    target->partitions = (int)db_int(row, 0, PUBLISH_QUEUE_PARTITIONS);
    (void)snprintf(target->topic, sizeof target->topic, "%s", db_text(row, 0, PUBLISH_QUEUE_TOPIC));
    (void)snprintf(target->on_failure, sizeof target->on_failure, "%s",
                   db_text(row, 0, PUBLISH_QUEUE_ON_FAILURE));
    (void)snprintf(target->cluster_id, sizeof target->cluster_id, "%s",
                   db_text(row, 0, PUBLISH_QUEUE_CLUSTER_ID));
    return RC_OK;
}

static enum rc check_partitions(const struct target *target, const struct kafka_topic_info *info,
                                struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, REMEDY_TOPIC_SHAPE, target->queue);
    /* What is not known was accepted as it is: the next executor learns it. */
    if (target->partition == 0 && target->partitions == 1 && info->partitions != 1)
        return err_set(err, RC_FATAL, ERR_CONFIG, target->topic, hint,
                       "the topic has %d partitions now, it had 1", info->partitions);
    if (target->partition >= info->partitions)
        return err_set(err, RC_FATAL, ERR_CONFIG, target->topic,
                       "Give the queue a partition that exists.",
                       "the topic has %d partitions; partition %d of the queue is not among them",
                       info->partitions, target->partition);
    return RC_OK;
}

static int64_t batch_size(const struct target *target)
{
    /* The user's -X message.max.bytes, which librdkafka also uses as the bound of a batch. */
    const char *text = kafka_properties_get(target->kafka, "message.max.bytes");
    return text != NULL ? strtoll(text, NULL, 10) : DEFAULT_BATCH_SIZE;
}

static const char *hint_of(const struct target *target, const char *setting, char hint[500])
{
    const char *brokers = kafka_properties_get(target->kafka, "bootstrap.servers");
    (void)snprintf(hint, 500, REMEDY_KAFKA_CONFIG, brokers != NULL ? brokers : "BROKER",
                   target->topic, setting);
    return hint;
}

static enum rc check_settings(const struct target *target, const struct kafka_topic_info *info,
                              struct err *err)
{
    char hint[500];
    if (strstr(info->cleanup_policy, "compact") != NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, target->topic,
                       hint_of(target, "cleanup.policy=delete", hint),
                       "the topic is compacted (cleanup.policy=%s): Kafka would delete tasks",
                       info->cleanup_policy);
    /* -1: the broker does not let this client describe the topic, and only the sending shows
     * whether it is large enough. */
    int64_t sends = batch_size(target);
    if (info->max_message_bytes >= 0 && info->max_message_bytes < sends) {
        char setting[64];
        (void)snprintf(setting, sizeof setting, "max.message.bytes=%" PRId64,
                       sends > KAFKA_MAX_BYTES ? sends : KAFKA_MAX_BYTES);
        return err_set(err, RC_FATAL, ERR_CONFIG, target->topic, hint_of(target, setting, hint),
                       "the topic's max.message.bytes is %" PRId64
                       ", less than the producer's message.max.bytes, %" PRId64,
                       info->max_message_bytes, sends);
    }
    /* The row has no cluster if the broker reported none and no executor has met it yet. */
    if (target->cluster_id[0] != '\0' && info->cluster_id[0] != '\0' &&
        strcmp(target->cluster_id, info->cluster_id) != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, target->topic,
                       "Check --brokers: the queue's executors read from another cluster.",
                       "this is Kafka cluster %s, the queue belongs to cluster %s",
                       info->cluster_id, target->cluster_id);
    return RC_OK;
}

static enum rc gone(const struct target *target, struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, REMEDY_TOPIC_GONE, target->queue);
    return err_set(err, RC_FATAL, ERR_CONFIG, target->topic, hint,
                   "the queue's topic does not exist");
}

/* All that would fail later, or lose tasks silently, is refused before anything is sent: compaction
 * deletes records, a smaller max.message.bytes refuses them, another cluster is not the one that
 * the executors read. */
enum rc target_check(struct target *target, struct err *err)
{
    struct kafka_admin *admin;
    enum rc rc = kafka_admin_open(target->kafka, &admin, err);
    if (rc != RC_OK)
        return rc;
    struct kafka_topic_info info = {0};
    rc = kafka_topic_describe(admin, target->topic, DESCRIBE_WAIT_MS, &info, err);
    kafka_admin_close(admin);
    if (rc == RC_NONE)
        return gone(target, err);
    if (rc == RC_OK)
        rc = check_partitions(target, &info, err);
    if (rc == RC_OK)
        rc = check_settings(target, &info, err);
    if (rc != RC_OK)
        return rc;
    int64_t most = batch_size(target) - BATCH_BYTES;
    if (most > MESSAGE_MAX_BYTES)
        most = MESSAGE_MAX_BYTES;
    /* The tags of a record are added behind the check of its task, so a task may not use their
     * room. */
    if (most < 2 * MESSAGE_TAG_BYTES)
        return err_set(
            err, RC_FATAL, ERR_CONFIG, "message.max.bytes", "Raise it; the default is 1000000.",
            "message.max.bytes of %" PRId64 " leaves no room for a task", batch_size(target));
    target->limit = (size_t)most - MESSAGE_TAG_BYTES;
    return RC_OK;
}

enum rc target_ends(const struct target *target, int64_t *ret_low, int64_t *ret_high,
                    struct err *err)
{
    struct kafka_admin *admin;
    enum rc rc = kafka_admin_open(target->kafka, &admin, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_watermarks(admin, target->topic, target->partition, WATERMARK_WAIT_MS, ret_low,
                          ret_high, err);
    kafka_admin_close(admin);
    return rc;
}

/* lockstep.QUEUE.relay is the transactional id of the relay. A queue whose own name ends with
 * .relay gets a colon, which no name of a queue has, or the two would fence each other
 * (tests/e2e/own_trouble.sh). */
void producer_id(const char *queue, char *ret_id, size_t size)
{
    size_t len = strlen(queue), end = strlen(OF_RELAY);
    bool meets = len >= end && strcmp(queue + len - end, OF_RELAY) == 0;
    (void)snprintf(ret_id, size, "lockstep.%s%s", queue, meets ? ":" : "");
}

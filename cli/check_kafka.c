#include "cli/check.h"

#include "cli/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KAFKA_MS 5000

static void check_cursor(struct check *check, struct kafka_admin *admin,
                         const struct queue_row *queue, const char *subject)
{
    struct err err;
    int64_t low, high;
    if (kafka_watermarks(admin, queue->topic, queue->partition, KAFKA_MS, &low, &high, &err) !=
        RC_OK)
        check_failed(check, subject, &err);
    else if (queue->next_offset < low)
        check_tell(check, TOPIC_FAIL, subject,
                   "Retention deleted messages before they were claimed; they are lost.",
                   "the cursor %" PRId64 " is below the log's beginning %" PRId64,
                   queue->next_offset, low);
    else if (queue->next_offset > high)
        check_tell(check, TOPIC_FAIL, subject, "The topic was made anew, or the log lost its tail.",
                   "the cursor %" PRId64 " is behind the log's end %" PRId64, queue->next_offset,
                   high);
    else
        check_tell(check, TOPIC_OK, subject, NULL, "cursor %" PRId64 " of %" PRId64,
                   queue->next_offset, high);
}

static void check_topic(struct check *check, struct kafka_admin *admin,
                        const struct queue_row *queue, const char *subject)
{
    struct err err;
    struct kafka_topic_info info;
    struct topic_finding findings[TOPIC_FINDINGS];
    enum rc rc = kafka_topic_describe(admin, queue->topic, KAFKA_MS, &info, &err);
    if (rc == RC_NONE)
        check_tell(check, TOPIC_FAIL, subject, "Was the topic deleted, or is this another cluster?",
                   "topic %s does not exist", queue->topic);
    else if (rc != RC_OK)
        check_failed(check, subject, &err);
    if (rc != RC_OK)
        return;
    if (*queue->cluster_id != '\0' && strcmp(queue->cluster_id, info.cluster_id) != 0)
        check_tell(check, TOPIC_FAIL, subject,
                   "Does --brokers name the cluster that the queue was made on?",
                   "the cluster is %s, the queue was made on %s", info.cluster_id,
                   queue->cluster_id);
    /* A queue may be one partition of a larger topic: create asked for that in so many words. */
    int count = topic_judge(&info, queue->partition, false, findings);
    for (int i = 0; i < count; i++)
        check_tell(check, findings[i].grade, subject, findings[i].hint, "topic %s: %s",
                   queue->topic, findings[i].text);
    if (count == 0)
        check_tell(check, TOPIC_OK, subject, NULL, "topic %s, partition %d of %d", queue->topic,
                   queue->partition, info.partitions);
    check_cursor(check, admin, queue, subject);
}

static void check_queues(struct check *check, struct kafka_admin *admin)
{
    struct err err;
    DB_RESULT_AUTO *names = NULL;
    if (db_run(check->cli->db, &sql_queue_names, NULL, &names, &err) != RC_OK) {
        check_failed(check, "queues", &err);
        return;
    }
    for (int row = 0; row < db_rows(names); row++) {
        struct queue_row queue;
        char subject[100];
        (void)snprintf(subject, sizeof subject, "queue %s", db_text(names, row, 0));
        if (find_queue(check->cli, db_text(names, row, 0), &queue, &err) == RC_OK)
            check_topic(check, admin, &queue, subject);
        else
            check_failed(check, subject, &err);
    }
    if (db_rows(names) == 0)
        check_tell(check, TOPIC_WARN, "queues", "lockstep queue create NAME --create-topic",
                   "there is no queue yet");
}

void check_kafka(struct check *check)
{
    struct err err;
    struct kafka_admin *admin = NULL;
    struct kafka_topic_info info;
    const char *brokers = kafka_properties_get(&check->cli->kafka, "bootstrap.servers");
    if (brokers == NULL) {
        check_tell(check, TOPIC_FAIL, "Kafka", "--brokers HOST:PORT, or [kafka] bootstrap.servers",
                   "no broker is configured");
        return;
    }
    enum rc rc = kafka_admin_open(&check->cli->kafka, &admin, &err);
    if (rc == RC_OK)
        rc = kafka_topic_describe(admin, "lockstep-check", KAFKA_MS, &info,
                                  &err); /* any name: it is the answer that counts */
    if (rc != RC_OK && rc != RC_NONE) {
        check_failed(check, "Kafka", &err);
    } else {
        check_tell(check, TOPIC_OK, "Kafka", NULL, "%s answers", brokers);
        if (check->schema)
            check_queues(check, admin);
    }
    kafka_admin_close(admin);
}

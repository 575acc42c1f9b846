/* topic: before the first batch of a kind, its topic must exist, the predecessor's producer be
 * fenced, and the predecessor's records be settled. */
#include "relay/relaying.h"

#include "base/log.h"
#include "base/probe.h"

#include <stdio.h>

/* COORDINATOR_MS: initialising a transactional producer waits for the transaction coordinator, and
 * for the end of a predecessor's open transaction. */
#define ADMIN_MS       5000
#define COORDINATOR_MS 5000
/* Of a batch of one record, with a margin: librdkafka must refuse a record that is too large. */
#define BATCH_OVERHEAD 512

static enum rc topic_ensure(const struct relay *relay, struct relay_queue *queue,
                            struct relay_kind *kind, struct kafka_admin *admin,
                            struct kafka_topic_info *ret_info, struct err *err)
{
    enum rc rc =
        kafka_topic_describe(admin, kind->topic, relay_patience_ms(relay, ADMIN_MS), ret_info, err);
    if (rc != RC_NONE)
        return rc;
    rc = kafka_topic_create(admin, kind->topic, 1, -1, relay_patience_ms(relay, ADMIN_MS), err);
    if (rc == RC_OK)
        log_event(LOG_INFO, "topic_created", "queue", queue->name, "topic", kind->topic, NULL);
    if (rc == RC_OK || rc == RC_NONE) /* another executor created it first */
        rc = kafka_topic_describe(admin, kind->topic, relay_patience_ms(relay, ADMIN_MS), ret_info,
                                  err);
    if (rc == RC_NONE)
        rc = err_set(err, RC_RETRY, ERR_KAFKA, kind->topic, NULL,
                     "the topic was made but the cluster does not show it yet");
    return rc;
}

/* The limit is the topic's and not the one for tasks: a dead letter is a little larger than the
 * record it is about, and a topic may take less than a task may have. A record that is too large is
 * refused here, alone; the broker would fail the whole transaction. */
enum rc relay_producer_open(const struct relay *relay, const char *id,
                            const struct kafka_topic_info *info,
                            struct kafka_producer **ret_producer, struct err *err)
{
    struct kafka_properties props = {0};
    enum rc rc = RC_OK;
    kafka_properties_copy(&props, relay->kafka);
    if (info->max_message_bytes > 2 * BATCH_OVERHEAD)
        rc = kafka_properties_set(&props, "message.max.bytes",
                                  DB_INT(info->max_message_bytes - BATCH_OVERHEAD), err);
    if (rc == RC_OK)
        rc = kafka_producer_open(&props, id, relay_patience_ms(relay, COORDINATOR_MS), ret_producer,
                                 err);
    kafka_properties_done(&props);
    if (rc == RC_OK)
        kafka_producer_until(*ret_producer, &relay->until_us);
    return rc;
}

static enum rc producer_open(struct relay *relay, struct relay_queue *queue,
                             const struct kafka_topic_info *info, struct err *err)
{
    char id[128];
    (void)snprintf(id, sizeof id, "lockstep.%s.relay", queue->name);
    enum rc rc = relay_producer_open(relay, id, info, &queue->producer, err);
    probe("relay.opened");
    return rc;
}

enum rc relay_prepare(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                      struct err *err)
{
    if (queue->producer != NULL && kind->settled)
        return RC_OK;
    struct kafka_admin *admin = NULL;
    struct kafka_topic_info info = {0};
    int64_t low = 0, high = 0;
    enum rc rc = kafka_admin_open(relay->kafka, &admin, err);
    if (rc == RC_OK)
        rc = topic_ensure(relay, queue, kind, admin, &info, err);
    if (rc == RC_OK && queue->producer == NULL)
        rc = producer_open(relay, queue, &info, err);
    if (rc == RC_OK) /* after the fencing: no record of a predecessor comes behind this end */
        rc = kafka_watermarks(admin, kind->topic, 0, relay_patience_ms(relay, ADMIN_MS), &low,
                              &high, err);
    kafka_admin_close(admin);
    return rc == RC_OK ? relay_settle(relay, queue, kind, low, high, err) : rc;
}

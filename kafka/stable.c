/* Finds an open transaction on a partition. Two answers of ListOffsets are compared: for
 * uncommitted reads it gives the high watermark, for committed reads the last stable offset; the
 * first open transaction begins at the latter. A second client is needed, because the isolation
 * level belongs to a client and not to a request. */
#include "kafka/stable.h"

#include "kafka/admin.h"
#include "kafka/error.h"

/* ListOffsets answers a client that reads committed records with the last stable offset instead of
 * the high watermark. */
static enum rc last_stable(const struct kafka_properties *props, const char *topic, int partition,
                           int timeout_ms, int64_t *ret_offset, struct err *err)
{
    struct kafka_admin reader = {0};
    int64_t low;
    enum rc rc = kafka_handle_open(props, KAFKA_CONSUMER, NULL, NULL, NULL, &reader.handle, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_watermarks(&reader, topic, partition, timeout_ms, &low, ret_offset, err);
    kafka_handle_close(reader.handle);
    return rc;
}

/* The time stamp of the record at offset, for which the admin's client, that reads everything, is
 * good. -1: not available. */
static int64_t time_of(struct kafka_admin *admin, const char *topic, int partition, int64_t offset,
                       int timeout_ms)
{
    int64_t timestamp_ms = -1;
    rd_kafka_topic_t *of = rd_kafka_topic_new(admin->handle->rk, topic, NULL);
    if (of == NULL)
        return -1;
    if (rd_kafka_consume_start(of, partition, offset) == 0) {
        rd_kafka_message_t *message = rd_kafka_consume(of, partition, timeout_ms);
        if (message != NULL && message->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
            message->offset == offset)
            timestamp_ms = rd_kafka_message_timestamp(message, NULL);
        if (message != NULL)
            rd_kafka_message_destroy(message);
        (void)rd_kafka_consume_stop(of, partition);
    }
    rd_kafka_topic_destroy(of);
    return timestamp_ms;
}

enum rc kafka_open_transaction(const struct kafka_properties *props, const char *topic,
                               int partition, int timeout_ms,
                               struct kafka_open_transaction *ret_open, struct err *err)
{
    struct kafka_admin *admin;
    struct kafka_open_transaction open = {.since_ms = -1};
    int64_t low;
    enum rc rc = kafka_admin_open(props, &admin, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_watermarks(admin, topic, partition, timeout_ms, &low, &open.end, err);
    if (rc == RC_OK) /* in this order: a transaction that begins between the two is none */
        rc = last_stable(props, topic, partition, timeout_ms, &open.offset, err);
    if (rc == RC_OK && open.offset < open.end)
        open.since_ms = time_of(admin, topic, partition, open.offset, timeout_ms);
    else if (rc == RC_OK)
        open.offset = open.end;
    if (rc == RC_OK)
        *ret_open = open;
    if (rc == RC_OK && open.offset == open.end)
        rc = RC_NONE;
    kafka_admin_close(admin);
    return rc;
}

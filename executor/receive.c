/* receive: from the partition into the lane's buffer, decoded. A record that does not decode is
 * held as rejected. */
#include "executor/lane.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BROKER_PATIENCE_MS 3000
#define BUFFER_RECORDS     4096
#define BUFFER_BYTES       (8 * 1024 * 1024)

static enum rc read_queue(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(lane->ex->control, &sql_executor_queue, (const char *const[]){lane->name},
                        &row, err);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_CONFIG, lane->name,
                       "See: lockstep queue list; or make it: lockstep queue create",
                       "there is no queue of that name");
    if (rc != RC_OK)
        return rc;
    lane->queue_id = (int)db_int(row, 0, 0);
    (void)snprintf(lane->topic, sizeof lane->topic, "%s", db_text(row, 0, 1));
    lane->partition = (int)db_int(row, 0, 2);
    lane->cursor = db_int(row, 0, 3);
    lane->max_readers = (int)db_int(row, 0, 4);
    lane->paused = db_bool(row, 0, 5);
    lane->check_offset = db_null(row, 0, 7) ? -1 : db_int(row, 0, 7);
    lane->check_timestamp = db_int(row, 0, 8);
    (void)snprintf(lane->check_digest, sizeof lane->check_digest, "%s", db_text(row, 0, 9));
    (void)snprintf(lane->cluster_id, sizeof lane->cluster_id, "%s", db_text(row, 0, 6));
    lane->halted = !db_null(row, 0, 10);
    if (lane->halted)
        log_event(LOG_ERROR, "queue_halted", "queue", lane->name, "reason", db_text(row, 0, 10),
                  "detail", db_text(row, 0, 11), NULL);
    return RC_OK;
}

/* Another cluster, or another number of partitions, is not this queue's stream. A broker that does not answer now is waited
 * for by librdkafka; the fingerprint is checked in any case. */
static enum rc check_topic(struct lane *lane, struct err *err)
{
    struct err why = {0};
    int partitions = 0;
    STR_AUTO detail = {0};
    enum rc rc = kafka_consumer_partitions(lane->ex->consumer, lane->topic, BROKER_PATIENCE_MS,
                                           &partitions, &why);
    if (rc != RC_OK) {
        log_err(LOG_WARN, "topic_not_checked", lane->name, &why);
        return RC_OK;
    }
    if (partitions <= lane->partition || (lane->partition == 0 && partitions > 1)) {
        str_format(&detail, "topic %s has %d partitions, this queue is partition %d of %s",
                   lane->topic, partitions, lane->partition,
                   lane->partition == 0 ? "exactly one" : "it");
        return partitions == 0 ? RC_OK : lane_halt(lane, "partitions", detail.data, err);
    }
    const char *cluster = kafka_consumer_cluster_id(lane->ex->consumer, 0);
    if (*cluster == '\0' || strcmp(cluster, lane->cluster_id) == 0)
        return RC_OK;
    if (lane->cluster_id[0] == '\0')
        return db_run(lane->ex->control, &sql_executor_cluster,
                      (const char *const[]){DB_INT(lane->queue_id), cluster}, NULL, err);
    str_format(&detail, "the queue belongs to cluster %s, this is cluster %s", lane->cluster_id,
               cluster);
    return lane_halt(lane, "other_cluster", detail.data, err);
}

enum rc lane_halt(struct lane *lane, const char *reason, const char *detail, struct err *err)
{
    lane->halted = true;
    lane->state = SOURCE_STOPPED;
    log_event(LOG_ERROR, "queue_halted", "queue", lane->name, "reason", reason, "detail", detail,
              NULL);
    return db_run(lane->ex->control, &sql_executor_halt,
                  (const char *const[]){DB_INT(lane->queue_id), reason, detail}, NULL, err);
}

static void held_done(struct held *held)
{
    free(held->value);
    free(held->key);
    free(held->traceparent);
    free(held->headers);
    message_free(held->msg);
    *held = (struct held){0};
}

static void drop_head(struct lane *lane)
{
    struct held *held = lane_head(lane, 0);
    lane->buffer_from = held->offset + 1;
    lane->buffer_bytes -= held->value_len + held->headers_len;
    held_done(held);
    lane->buffer_first = (lane->buffer_first + 1) % lane->buffer_cap;
    lane->buffer_count--;
}

void lane_drop(struct lane *lane, int64_t below)
{
    while (lane->buffer_count > 0 && lane_head(lane, 0)->offset < below)
        drop_head(lane);
    if (lane->buffer_from < below)
        lane->buffer_from = below;
    if (lane->cursor < below)
        lane->cursor = below;
}

/* A topic with another number of partitions than one is not this queue's stream any more. */
enum rc lane_assign(struct lane *lane, struct err *err)
{
    while (lane->buffer_count > 0)
        drop_head(lane);
    enum rc rc = read_queue(lane, err);
    if (rc == RC_OK && !lane->halted)
        rc = check_topic(lane, err);
    if (rc != RC_OK || lane->halted)
        return rc;
    lane->buffer_from = lane->cursor;
    lane->claim_blocked = false;
    bool check = lane->check_offset >= 0;
    lane->state = check ? SOURCE_CHECKING : SOURCE_READING;
    rc = kafka_source_assign(lane->source, check ? lane->check_offset : lane->cursor, err);
    log_event(LOG_INFO, "assigned", "queue", lane->name, "topic", lane->topic, "offset",
              LOG_INT(lane->cursor), NULL);
    return rc;
}

enum rc lane_open(struct lane *lane, struct err *err)
{
    lane->buffer_cap = BUFFER_RECORDS;
    lane->buffer = xcalloc(BUFFER_RECORDS, sizeof *lane->buffer);
    lane->adopt = true;
    enum rc rc = read_queue(lane, err);
    if (rc != RC_OK)
        return rc;
    STR_AUTO listen = {0};
    str_format(&listen, "LISTEN lockstep_%d", lane->queue_id);
    rc = db_script(lane->ex->control, listen.data, NULL, err);
    if (rc == RC_OK)
        rc =
            kafka_source_open(lane->ex->consumer, lane->topic, lane->partition, &lane->source, err);
    return rc == RC_OK ? lane_assign(lane, err) : rc;
}

void lane_close(struct lane *lane)
{
    while (lane->buffer_count > 0)
        drop_head(lane);
    free(lane->buffer);
    lane->buffer = NULL;
    if (lane->source != NULL)
        kafka_source_close(lane->source);
    lane->source = NULL;
}

/* The record that was claimed last must still be where it was, or this is another topic. */
static enum rc check_identity(struct lane *lane, const struct kafka_record *record, struct err *err)
{
    unsigned char digest[16];
    STR_AUTO hex = {0};
    kafka_record_digest(record, digest);
    db_bytea(&hex, digest, sizeof digest);
    lane->state = SOURCE_READING;
    if (record->offset > lane->check_offset) {
        int64_t low, high;
        kafka_source_watermarks(lane->source, &low, &high);
        log_event(LOG_WARN, "fingerprint_skipped", "queue", lane->name, "offset",
                  LOG_INT(lane->check_offset), "low", LOG_INT(low), "reason",
                  "retention removed the last claimed record", NULL);
        return RC_OK;
    }
    if (strcmp(hex.data + 2, lane->check_digest) == 0 &&
        record->timestamp_ms == lane->check_timestamp)
        return RC_OK;
    STR_AUTO detail = {0};
    str_format(&detail,
               "the record at offset %lld is not the one that was claimed: the topic was made anew "
               "or replaced",
               (long long)record->offset);
    return lane_halt(lane, "fingerprint", detail.data, err);
}

static void hold(struct lane *lane, const struct kafka_record *record)
{
    struct held *held = lane_head(lane, lane->buffer_count++);
    *held = (struct held){.offset = record->offset,
                          .timestamp_ms = record->timestamp_ms,
                          .seq = -1,
                          .tombstone = record->value == NULL,
                          .value_len = record->value_len,
                          .key_len = record->key_len};
    held->value = xmalloc(record->value_len + 1);
    if (record->value_len > 0)
        memcpy(held->value, record->value, record->value_len);
    held->value[record->value_len] = '\0';
    if (record->key != NULL) {
        held->key = xmalloc(record->key_len + 1);
        memcpy(held->key, record->key, record->key_len);
    }
    if (record->traceparent != NULL)
        held->traceparent = xstrdup(record->traceparent);
    held->headers = headers_pack(record, &held->headers_len);
    kafka_record_digest(record, held->digest);
    lane->buffer_bytes += held->value_len + held->headers_len;
    if (message_parse(held->value, held->value_len, MESSAGE_RECORD, &held->msg, &held->why) ==
        RC_OK) {
        held->seq = held->msg->seq;
        memcpy(held->run, held->msg->run, sizeof held->run);
    } else {
        held->msg = NULL;
        enum rc rc = message_peek(held->value, held->value_len, held->run, &held->seq);
        if (rc != RC_OK) {
            held->run[0] = '\0';
            held->seq = -1;
        }
    }
}

/* Retention has taken the last claimed record: its fingerprint cannot be checked any more. What was not claimed must still
 * be there, or it is lost. */
static enum rc retention_passed(struct lane *lane, bool *ret_passed, struct err *err)
{
    struct kafka_admin *admin = NULL;
    struct err why;
    int64_t low = 0, high = 0;
    *ret_passed = false;
    enum rc rc = kafka_admin_open(lane->ex->options->kafka, &admin, &why);
    if (rc == RC_OK)
        rc = kafka_watermarks(admin, lane->topic, lane->partition, BROKER_PATIENCE_MS, &low, &high,
                              &why);
    kafka_admin_close(admin);
    if (rc != RC_OK || low <= lane->check_offset || low > lane->cursor)
        return RC_OK;
    *ret_passed = true;
    log_event(LOG_WARN, "fingerprint_skipped", "queue", lane->name, "offset",
              LOG_INT(lane->check_offset), "low", LOG_INT(low), NULL);
    lane->state = SOURCE_READING;
    return kafka_source_assign(lane->source, lane->cursor, err);
}

static enum rc source_failed(struct lane *lane, const struct err *why, struct err *err)
{
    STR_AUTO detail = {0};
    str_format(&detail, "%s (%s)", why->message, why->hint);
    return lane_halt(lane, why->code[0] ? why->code : "kafka", detail.data, err);
}

enum rc receive(struct lane *lane, struct err *err)
{
    enum rc rc = RC_OK;
    while (rc == RC_OK && lane->state != SOURCE_STOPPED && lane->buffer_count < lane->buffer_cap &&
           lane->buffer_bytes < BUFFER_BYTES) {
        struct kafka_record record;
        struct err why = {0};
        enum rc polled = kafka_source_poll(lane->source, &record, &why);
        if (polled == RC_FATAL && lane->state == SOURCE_CHECKING) {
            bool passed;
            rc = retention_passed(lane, &passed, err);
            if (rc != RC_OK || passed)
                return rc;
        }
        if (polled == RC_FATAL)
            return source_failed(lane, &why, err);
        if (polled != RC_OK)
            return RC_OK;
        if (lane->state == SOURCE_CHECKING)
            rc = check_identity(lane, &record, err);
        if (rc == RC_OK && lane->state == SOURCE_READING && record.offset >= lane->buffer_from)
            hold(lane, &record);
        kafka_record_free(&record);
    }
    return rc;
}

enum rc lane_end(struct lane *lane, struct err *err)
{
    int64_t end = kafka_source_end(lane->source);
    if (!lane_at_end(lane) || lane->halted || end <= lane->cursor)
        return RC_OK;
    enum rc rc =
        db_run(lane->ex->control, &sql_executor_at_end,
               (const char *const[]){DB_INT(lane->queue_id), DB_INT(lane->cursor), DB_INT(end)},
               NULL, err);
    if (rc == RC_OK)
        lane_drop(lane, end);
    return rc == RC_NONE ? RC_OK : rc;
}

bool lane_at_end(const struct lane *lane)
{
    return lane->buffer_count == 0 && lane->state == SOURCE_READING &&
           kafka_source_end(lane->source) >= 0;
}

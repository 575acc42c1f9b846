/* Reads partitions through incremental_assign: no group is joined, so there is no rebalance, and an
 * offset is where the caller says. Begin with kafka_source_assign() and kafka_source_poll(). Each
 * source has a queue of its own, taken away from the consumer's common queue, so a lane whose
 * buffer is full stops nothing but itself. The comments name the points in which librdkafka 2.0.2
 * needs help; tests/kafka/consumer_test.c attacks them. */
#include "kafka/consumer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kafka/error.h"
#include "kafka/lag.h"
#include "kafka/metadata.h"
#include "kafka/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than the second in which librdkafka repeats its report of an unknown topic, so that a
 * longer silence means a recovery. */
#define PAUSE_US 10000000

struct kafka_consumer {
    struct kafka_handle *handle;
    struct kafka_lag *lag;
    struct kafka_source *sources; /* a list */
    int wake_fd;
    char *cluster_id;
    int64_t buffer_bytes;   /* queued.max.messages.kbytes */
    int64_t buffer_records; /* queued.min.messages */
    int64_t gone_after_us;  /* how long an unknown topic is taken for a hiccup of the metadata */
};

struct kafka_source {
    struct kafka_source *next_source;
    struct kafka_consumer *consumer;
    char *topic;
    int partition;
    char name[160]; /* "topic[0]", for error texts */
    rd_kafka_queue_t *queue;
    bool assigned;            /* librdkafka fetches it */
    bool failed;              /* `why` is RC_FATAL: poll returns it, and the fetching ends */
    bool troubled;            /* a transient error was logged and nothing came since */
    int64_t next;             /* records below it are stale */
    int64_t run, run_records; /* bytes and records taken since the queue was empty last */
    bool nudged;              /* and nothing came since */
    int64_t end;              /* -1: not at the end */
    int broker;               /* that sent the last record since the assign, -1: none yet */
    bool moved;               /* another broker, or connection, had sent those before it */
    unsigned reconnected;     /* of the handle, at the assign */
    int64_t unknown_since_us, unknown_last_us; /* the topic is reported missing; 0: it is not */
    struct err why;
};

static void on_trouble(void *owner, rd_kafka_resp_err_t code, const char *text);

/* A property of the client; unknown: the default of librdkafka. */
static int64_t number_of(const struct kafka_handle *handle, const char *key, int64_t unknown)
{
    char text[32] = "";
    size_t size = sizeof text;
    int64_t number;
    (void)rd_kafka_conf_get(rd_kafka_conf(handle->rk), key, text, &size);
    return int64_parse(text, strlen(text), &number) ? number : unknown;
}

enum rc kafka_consumer_open(const struct kafka_properties *props, int wake_fd,
                            struct kafka_consumer **ret_consumer, struct err *err)
{
    struct kafka_handle *handle;
    enum rc rc = kafka_handle_open(props, KAFKA_CONSUMER, NULL, NULL, NULL, &handle, err);
    if (rc != RC_OK)
        return rc;
    handle->on_owner_error = on_trouble;
    rd_kafka_resp_err_t code = rd_kafka_poll_set_consumer(handle->rk);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka_handle_close(handle);
        return kafka_err(err, code, "consumer", NULL);
    }
    struct kafka_consumer *consumer = xcalloc(1, sizeof *consumer);
    consumer->handle = handle;
    consumer->wake_fd = wake_fd;
    consumer->lag = kafka_lag_open(props);
    consumer->gone_after_us = number_of(handle, "topic.metadata.propagation.max.ms", 30000) * 1000 *
                              KAFKA_TOPIC_GONE_FACTOR;
    consumer->buffer_bytes = number_of(handle, "queued.max.messages.kbytes", 65536) * 1000;
    consumer->buffer_records = number_of(handle, "queued.min.messages", 100000);
    *ret_consumer = consumer;
    return RC_OK;
}

void kafka_consumer_statistics(struct kafka_consumer *consumer,
                               void (*fn)(void *context, const char *json, size_t len),
                               void *context)
{
    consumer->handle->on_statistics = fn;
    consumer->handle->statistics_context = context;
}

void kafka_consumer_close(struct kafka_consumer *consumer)
{
    if (consumer == NULL)
        return;
    if (consumer->cluster_id != NULL)
        rd_kafka_mem_free(consumer->handle->rk, consumer->cluster_id);
    struct kafka_closing *closing =
        kafka_handle_close_start(consumer->handle); /* beside those of lag */
    kafka_lag_close(consumer->lag);
    (void)kafka_handle_closed(closing, true);
    free(consumer);
}

enum rc kafka_source_open(struct kafka_consumer *consumer, const char *topic, int partition,
                          struct kafka_source **ret_source, struct err *err)
{
    if (*topic == '\0' || partition < 0)
        return err_set(err, RC_FATAL, ERR_USAGE, topic, "", "there is no partition %d", partition);
    struct kafka_source *source = xcalloc(1, sizeof *source);
    source->consumer = consumer;
    source->topic = xstrdup(topic);
    source->partition = partition;
    source->end = -1;
    utf8_format(source->name, sizeof source->name, "%s[%d]", topic, partition);
    source->next_source = consumer->sources;
    consumer->sources = source;
    *ret_source = source;
    return RC_OK;
}

static void drop_queue(struct kafka_source *source)
{
    if (source->queue == NULL)
        return;
    if (source->consumer->wake_fd >= 0)
        rd_kafka_queue_io_event_enable(source->queue, -1, NULL, 0);
    rd_kafka_queue_destroy(source->queue);
    source->queue = NULL;
}

/* Again for each assign: a topic that was gone comes back as another object with another queue. */
static enum rc take_queue(struct kafka_source *source, struct err *err)
{
    static const uint64_t one = 1;
    drop_queue(source);
    source->queue = rd_kafka_queue_get_partition(source->consumer->handle->rk, source->topic,
                                                 source->partition);
    if (source->queue == NULL)
        return err_set(err, RC_FATAL, ERR_USAGE, source->name, "",
                       "librdkafka refuses this topic or partition");
    /* Before the assign, for good: else the assign would forward to the consumer's common queue. */
    rd_kafka_queue_forward(source->queue, NULL);
    if (source->consumer->wake_fd >= 0)
        rd_kafka_queue_io_event_enable(source->queue, source->consumer->wake_fd, &one, sizeof one);
    return RC_OK;
}

/* The next message of the source, an error among them. Errors of metadata come through the handle's
 * error callback while the queue of the source is served, hence the note whose queue it is. */
static rd_kafka_message_t *take(struct kafka_source *source)
{
    struct kafka_handle *handle = source->consumer->handle;
    kafka_handle_serves(handle, source);
    rd_kafka_message_t *message = rd_kafka_consume_queue(source->queue, 0);
    kafka_handle_serves(handle, NULL);
    return message;
}

/* librdkafka numbers what it queues by assignment and drops the older ones when they are taken; the
 * queue is emptied all the same, so that nothing keeps memory. */
static enum rc unassign(struct kafka_source *source, struct err *err)
{
    if (!source->assigned)
        return RC_OK;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, source->topic, source->partition);
    rd_kafka_error_t *error = rd_kafka_incremental_unassign(source->consumer->handle->rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (error != NULL)
        return kafka_err_take(err, error, source->name);
    source->assigned = false;
    rd_kafka_message_t *stale;
    while ((stale = take(source)) != NULL)
        rd_kafka_message_destroy(stale);
    return RC_OK;
}

void kafka_source_close(struct kafka_source *source)
{
    if (source == NULL)
        return;
    struct err err;
    if (unassign(source, &err) != RC_OK)
        log_err(LOG_WARN, "kafka_source_close", NULL, &err);
    drop_queue(source);
    struct kafka_source **link = &source->consumer->sources;
    while (*link != source)
        link = &(*link)->next_source;
    *link = source->next_source;
    free(source->topic);
    free(source);
}

enum rc kafka_source_assign(struct kafka_source *source, int64_t offset, struct err *err)
{
    if (offset < 0)
        return err_set(err, RC_FATAL, ERR_INTERNAL, source->name, "", "offset %lld is below 0",
                       (long long)offset);
    enum rc rc = unassign(source, err);
    if (rc == RC_OK)
        rc = take_queue(source, err);
    if (rc != RC_OK)
        return rc;
    source->reconnected = source->consumer->handle->reconnected;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, source->topic, source->partition)->offset = offset;
    rd_kafka_error_t *error = rd_kafka_incremental_assign(source->consumer->handle->rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (error != NULL)
        return kafka_err_take(err, error, source->name);
    source->assigned = true;
    source->failed = source->troubled = false;
    source->next = offset;
    source->run = source->run_records = 0;
    source->end = -1;
    source->broker = -1;
    source->moved = false;
    source->unknown_since_us = source->unknown_last_us = 0;
    return RC_OK;
}

/* Something came: the trouble of the source is over. */
static void well(struct kafka_source *source)
{
    kafka_handle_alive(source->consumer->handle);
    if (source->troubled)
        log_event(LOG_INFO, "kafka_source_well", "object", source->name, NULL);
    source->troubled = false;
    source->unknown_since_us = source->unknown_last_us = 0;
}

/* Returns the reason why the source does not move. A bad batch would be fetched again and again:
 * fetching ends until the next assign. */
static enum rc stand_still(struct kafka_source *source, struct err *err)
{
    struct err why = source->why, ignored;
    (void)unassign(source, &ignored);
    source->why = why;
    source->failed = true;
    if (err != NULL)
        *err = why;
    return RC_FATAL;
}

/* True when the topic is reported missing for so long that it is no hiccup of the metadata.
 * librdkafka repeats the report every second; a long pause in between means that the topic was
 * back. */
static bool is_gone(struct kafka_source *source)
{
    int64_t now_us = clock_boot_us();
    if (source->unknown_since_us == 0 || now_us - source->unknown_last_us > PAUSE_US)
        source->unknown_since_us = now_us;
    source->unknown_last_us = now_us;
    return now_us - source->unknown_since_us >= source->consumer->gone_after_us;
}

/* Sets failed for trouble that librdkafka does not get over by itself. */
static void on_trouble(void *owner, rd_kafka_resp_err_t code, const char *text)
{
    struct kafka_source *source = owner;
    if (source->failed)
        return; /* the first reason counts */
    bool unknown = code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                   code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                   code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    source->failed = kafka_err(&source->why, code, source->name, text) == RC_FATAL ||
                     (unknown && is_gone(source));
    utf8_format(source->why.context, sizeof source->why.context, "position %lld",
                (long long)source->next);
    if (source->failed || source->troubled)
        return;
    source->troubled = true;
    log_err(LOG_WARN, "kafka_source_trouble", NULL, &source->why);
}

/* True when the message says the position is the end of the partition, false when the caller must
 * handle it. */
static bool took_end(struct kafka_source *source, const rd_kafka_message_t *message)
{
    if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
        return false;
    if (message->offset >= source->next)
        source->end = message->offset;
    well(source);
    return true;
}

/* librdkafka 2.0.2 checks only once a second if a buffer that was full has room again, so reading
 * would be held to one buffer a second. A seek to the present position wakes it. The seek drops
 * records that are on their way, which are then fetched once more. The buffer was full if so many
 * bytes, or records, came without a break. */
static void nudge(struct kafka_source *source)
{
    bool was_full = source->run >= source->consumer->buffer_bytes / 8 * 7 ||
                    source->run_records >= source->consumer->buffer_records;
    source->run = source->run_records = 0;
    if (!was_full)
        return;
    source->nudged = true;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(source->consumer->handle->rk, source->topic, NULL);
    if (topic == NULL)
        return;
    rd_kafka_resp_err_t code = rd_kafka_seek(topic, source->partition, source->next, 0);
    rd_kafka_topic_destroy(topic);
    (void)code; /* then it continues within the second */
}

static void note_broker(struct kafka_source *source, int broker)
{
    if (source->broker >= 0 && broker != source->broker)
        source->moved = true;
    source->broker = broker;
}

enum rc kafka_source_poll(struct kafka_source *source, struct kafka_record *ret_record,
                          struct err *err)
{
    while (source->assigned && !source->failed) {
        /* What was on its way when it was nudged counts as buffered, and is never taken. */
        if (source->nudged)
            source->run_records += (int64_t)rd_kafka_queue_length(source->queue);
        rd_kafka_message_t *message = take(source);
        if (message == NULL) {
            nudge(source);
            break;
        }
        source->run += (int64_t)(message->len + message->key_len);
        source->run_records++;
        source->nudged = false;
        /* A message below `next` was fetched before a seek or a new assignment; it was delivered
         * already, or it is of a position that counts no more. */
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset >= source->next) {
            source->next = message->offset + 1;
            source->end = -1;
            note_broker(source, rd_kafka_message_broker_id(message));
            if (source->troubled || source->consumer->handle->down)
                well(source);
            kafka_record_take(message, ret_record);
            return RC_OK;
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !took_end(source, message))
            on_trouble(source, message->err, rd_kafka_message_errstr(message));
        rd_kafka_message_destroy(message);
    }
    return source->failed ? stand_still(source, err) : RC_NONE;
}

int64_t kafka_source_end(const struct kafka_source *source)
{
    return source->end;
}

static struct kafka_source *source_of(struct kafka_consumer *consumer,
                                      const rd_kafka_message_t *message)
{
    if (message->rkt == NULL)
        return NULL;
    for (struct kafka_source *source = consumer->sources; source != NULL;
         source = source->next_source)
        if (source->partition == message->partition &&
            strcmp(source->topic, rd_kafka_topic_name(message->rkt)) == 0)
            return source;
    return NULL;
}

/* A message of a source in the common queue: librdkafka made the partition again behind our back
 * (the topic was gone and is back), so the source's queue is a dead one. Reading continues where it
 * was. */
static void mend(struct kafka_source *source)
{
    struct err err;
    if (!source->assigned || source->failed)
        return;
    log_event(LOG_WARN, "kafka_source_mended", "object", source->name, "offset",
              LOG_INT(source->next), NULL);
    bool cut = kafka_source_cut(source); /* which the caller has not seen yet */
    if (kafka_source_assign(source, source->next, &err) != RC_OK) {
        source->why = err;
        source->failed = true;
    }
    source->moved = cut;
}

bool kafka_source_cut(const struct kafka_source *source)
{
    return source->moved || source->reconnected != source->consumer->handle->reconnected;
}

void kafka_consumer_serve(struct kafka_consumer *consumer)
{
    rd_kafka_message_t *message;
    while ((message = rd_kafka_consumer_poll(consumer->handle->rk, 0)) != NULL) {
        struct kafka_source *source = source_of(consumer, message);
        if (source != NULL)
            mend(source);
        else
            log_event(LOG_WARN, "kafka_trouble", "object", consumer->handle->brokers, "code",
                      rd_kafka_err2name(message->err), "error", rd_kafka_message_errstr(message),
                      NULL);
        rd_kafka_message_destroy(message);
    }
    kafka_lag_serve(consumer->lag);
}

const char *kafka_consumer_cluster_id(struct kafka_consumer *consumer)
{
    if (consumer->cluster_id == NULL)
        consumer->cluster_id = rd_kafka_clusterid(consumer->handle->rk, 0);
    return consumer->cluster_id != NULL ? consumer->cluster_id : "";
}

enum rc kafka_consumer_partitions(struct kafka_consumer *consumer, const char *topic,
                                  int timeout_ms, int *ret_count, struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code =
        kafka_metadata(consumer->handle, false, topic, timeout_ms, &metadata);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_count = metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR
                     ? metadata->topics[0].partition_cnt
                     : 0;
    rd_kafka_metadata_destroy(metadata);
    return RC_OK;
}

void kafka_source_watermarks(const struct kafka_source *source, int64_t *ret_low, int64_t *ret_high)
{
    int64_t low = -1, high = -1;
    if (rd_kafka_get_watermark_offsets(source->consumer->handle->rk, source->topic,
                                       source->partition, &low,
                                       &high) != RD_KAFKA_RESP_ERR_NO_ERROR)
        low = high = -1;
    *ret_low = low < 0 ? -1 : low;
    *ret_high = high < 0 ? -1 : high;
}

void kafka_source_publish_lag(struct kafka_source *source, const char *group, int64_t next_offset)
{
    kafka_lag_publish(source->consumer->lag, group, source->topic, source->partition, next_offset);
}

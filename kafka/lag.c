/* Commits offsets that only people's tools read: a lag monitor for Kafka sees how far a queue is.
 * Begin with kafka_lag_publish(). Nothing of Lockstep reads these offsets, so a failure is logged
 * once and retried, and never waited for. A client that was not used for UNUSED_US is closed,
 * because even an idle one costs processor time (bench/notes/idle.md). */
#include "kafka/lag.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "kafka/error.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_US 1000000 /* a commit that failed is tried again after this */
/* An open client costs as much processor time in a minute as ten that are opened for one commit. */
#define UNUSED_US (5 * 1000 * 1000LL)

/* One group and partition, with a client of its own: librdkafka commits to its own group.id only,
 * and the admin request that names any group ends the process in 2.0.2 when the broker dies while
 * it is under way (an assertion about its counts). */
struct mark {
    struct kafka_handle *handle; /* NULL: not open, nothing was committed for a while */
    rd_kafka_queue_t *answers;
    char *group, *topic;
    int partition;
    int64_t offset, sent; /* sent != offset: something waits; sent -1: never */
    int64_t again_us;     /* it failed: not before this once more, 0: it did not */
    int64_t used_us;      /* when it was last answered */
    bool under_way, failing;
};

struct kafka_lag {
    struct kafka_properties props;
    struct mark **marks;
    struct kafka_closing **closing; /* clients that are being closed */
    int count, closing_count;
};

struct kafka_lag *kafka_lag_open(const struct kafka_properties *props)
{
    struct kafka_lag *lag = xcalloc(1, sizeof *lag);
    kafka_properties_copy(&lag->props, props);
    return lag;
}

/* Closing takes milliseconds, and may hang: it is not waited for. */
static void close_client(struct kafka_lag *lag, struct mark *mark)
{
    if (mark->handle == NULL)
        return;
    rd_kafka_queue_destroy(mark->answers);
    lag->closing =
        xrealloc(lag->closing, (size_t)lag->closing_count + 1, sizeof(struct kafka_closing *));
    lag->closing[lag->closing_count++] = kafka_handle_close_start(mark->handle);
    mark->handle = NULL;
}

static void end_closing(struct kafka_lag *lag, bool wait)
{
    int left = 0;
    for (int i = 0; i < lag->closing_count; i++)
        if (!kafka_handle_closed(lag->closing[i], wait))
            lag->closing[left++] = lag->closing[i];
    lag->closing_count = left;
}

void kafka_lag_close(struct kafka_lag *lag)
{
    if (lag == NULL)
        return;
    for (int i = 0; i < lag->count; i++) {
        struct mark *mark = lag->marks[i];
        close_client(lag, mark);
        free(mark->group);
        free(mark->topic);
        free(mark);
    }
    end_closing(lag, true);
    free(lag->closing);
    free(lag->marks);
    kafka_properties_done(&lag->props);
    free(lag);
}

static void failed(struct mark *mark, const struct err *err)
{
    /* Once for an outage, not once for each second of it. */
    if (!mark->failing)
        log_err(LOG_WARN, "kafka_lag_not_published", NULL, err);
    mark->failing = true;
}

static bool open_client(struct kafka_lag *lag, struct mark *mark)
{
    struct kafka_properties props = {0};
    struct err err = {0};
    if (mark->handle != NULL)
        return true;
    kafka_properties_copy(&props, &lag->props);
    enum rc rc = kafka_properties_set(&props, "group.id", mark->group, &err);
    if (rc == RC_OK)
        rc = kafka_handle_open(&props, KAFKA_CONSUMER, NULL, NULL, NULL, &mark->handle, &err);
    kafka_properties_done(&props);
    if (rc == RC_OK) {
        kafka_handle_hush(mark->handle);
        mark->answers = rd_kafka_queue_new(mark->handle->rk);
    } else {
        failed(mark, &err);
    }
    return rc == RC_OK;
}

static struct mark *mark_of(struct kafka_lag *lag, const char *group, const char *topic,
                            int partition)
{
    for (int i = 0; i < lag->count; i++) {
        struct mark *mark = lag->marks[i];
        if (mark->partition == partition && strcmp(mark->group, group) == 0 &&
            strcmp(mark->topic, topic) == 0)
            return mark;
    }
    struct mark *mark = xcalloc(1, sizeof *mark);
    *mark = (struct mark){
        .group = xstrdup(group), .topic = xstrdup(topic), .partition = partition, .sent = -1};
    lag->marks = xrealloc(lag->marks, (size_t)lag->count + 1, sizeof(struct mark *));
    lag->marks[lag->count++] = mark;
    return mark;
}

/* rd_kafka_commit_queue answers on a queue of ours; control does not wait for it, and one request a
 * group is under way at most, so offsets cannot overtake each other. */
static void send_mark(struct kafka_lag *lag, struct mark *mark)
{
    struct err err;
    if (!open_client(lag, mark)) {
        mark->again_us = clock_boot_us() + AGAIN_US;
        return;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, mark->topic, mark->partition)->offset = mark->offset;
    rd_kafka_resp_err_t code =
        rd_kafka_commit_queue(mark->handle->rk, list, mark->answers, NULL, NULL);
    rd_kafka_topic_partition_list_destroy(list);
    /* Noted although it may fail: take_answer() then sets again_us, and the newest offset is sent.
     */
    mark->sent = mark->offset;
    mark->used_us = clock_boot_us();
    mark->again_us = 0;
    mark->under_way = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!mark->under_way) {
        (void)kafka_err(&err, code, mark->group, NULL);
        failed(mark, &err);
    }
}

void kafka_lag_publish(struct kafka_lag *lag, const char *group, const char *topic, int partition,
                       int64_t offset)
{
    kafka_lag_serve(lag);
    struct mark *mark = mark_of(lag, group, topic, partition);
    mark->offset = offset;
    if (!mark->under_way && mark->again_us == 0)
        send_mark(lag, mark); /* also when the offset is the old one: committed offsets expire */
}

static void take_answer(struct kafka_lag *lag, struct mark *mark, rd_kafka_event_t *event)
{
    struct err err;
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && list != NULL && list->cnt == 1)
        code = list->elems[0].err;
    mark->under_way = false;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        (void)kafka_err(&err, code, mark->group, rd_kafka_event_error_string(event));
        failed(mark, &err);
        mark->again_us = clock_boot_us() + AGAIN_US;
    } else {
        mark->failing = false;
        mark->used_us = clock_boot_us();
        if (mark->sent != mark->offset)
            send_mark(lag, mark);
    }
}

static void serve(struct kafka_lag *lag, struct mark *mark)
{
    rd_kafka_event_t *event;
    if (mark->handle != NULL) {
        (void)rd_kafka_poll(mark->handle->rk, 0); /* its errors and logs */
        while ((event = rd_kafka_queue_poll(mark->answers, 0)) != NULL) {
            if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT)
                take_answer(lag, mark, event);
            rd_kafka_event_destroy(event);
        }
    }
    int64_t now_us = clock_boot_us();
    if (mark->under_way)
        return;
    if (mark->again_us != 0 && now_us >= mark->again_us)
        send_mark(lag, mark);
    else if (mark->again_us == 0 && now_us - mark->used_us >= UNUSED_US)
        close_client(lag, mark);
}

void kafka_lag_serve(struct kafka_lag *lag)
{
    end_closing(lag, false);
    for (int i = 0; i < lag->count; i++)
        serve(lag, lag->marks[i]);
}

#include "kafka/lag.h"

#include "base/log.h"
#include "base/str.h"
#include "kafka/error.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_TIMEOUT_MS 10000

/* One group and partition. */
struct mark {
    char *group, *topic;
    int partition;
    int64_t offset, sent; /* sent != offset: something waits; sent -1: never */
    bool under_way, failing;
};

struct kafka_lag {
    struct kafka_handle *handle;
    rd_kafka_queue_t *answers;
    struct mark **marks;
    int count;
};

struct kafka_lag *kafka_lag_open(struct kafka_handle *handle)
{
    struct kafka_lag *lag = xcalloc(1, sizeof *lag);
    lag->handle = handle;
    lag->answers = rd_kafka_queue_new(handle->rk);
    return lag;
}

void kafka_lag_close(struct kafka_lag *lag)
{
    if (lag == NULL)
        return;
    rd_kafka_queue_destroy(lag->answers);
    for (int i = 0; i < lag->count; i++) {
        free(lag->marks[i]->group);
        free(lag->marks[i]->topic);
        free(lag->marks[i]);
    }
    free(lag->marks);
    free(lag);
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

/* The consumer's own commit can only name its own group.id; the admin request names any. */
static void send_mark(struct kafka_lag *lag, struct mark *mark)
{
    char text[256];
    rd_kafka_t *rk = lag->handle->rk;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, mark->topic, mark->partition)->offset = mark->offset;
    rd_kafka_AlterConsumerGroupOffsets_t *request =
        rd_kafka_AlterConsumerGroupOffsets_new(mark->group, list);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, REQUEST_TIMEOUT_MS, text, sizeof text);
    rd_kafka_AdminOptions_set_opaque(options, mark);
    mark->under_way = true;
    mark->sent = mark->offset;
    rd_kafka_AlterConsumerGroupOffsets(rk, &request, 1, options, lag->answers);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_AlterConsumerGroupOffsets_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
}

void kafka_lag_publish(struct kafka_lag *lag, const char *group, const char *topic, int partition,
                       int64_t offset)
{
    kafka_lag_serve(lag);
    struct mark *mark = mark_of(lag, group, topic, partition);
    mark->offset = offset;
    if (!mark->under_way)
        send_mark(lag, mark); /* also when the offset is the old one: committed offsets expire */
}

static rd_kafka_resp_err_t outcome_of(rd_kafka_event_t *event, const char **ret_text)
{
    *ret_text = rd_kafka_event_error_string(event);
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return rd_kafka_event_error(event);
    size_t count = 0;
    const rd_kafka_AlterConsumerGroupOffsets_result_t *result =
        rd_kafka_event_AlterConsumerGroupOffsets_result(event);
    const rd_kafka_group_result_t **groups =
        result != NULL ? rd_kafka_AlterConsumerGroupOffsets_result_groups(result, &count) : NULL;
    if (count != 1)
        return RD_KAFKA_RESP_ERR__FAIL;
    const rd_kafka_error_t *error = rd_kafka_group_result_error(groups[0]);
    if (error != NULL) {
        *ret_text = rd_kafka_error_string(error);
        return rd_kafka_error_code(error);
    }
    const rd_kafka_topic_partition_list_t *list = rd_kafka_group_result_partitions(groups[0]);
    *ret_text = "";
    return list != NULL && list->cnt == 1 ? list->elems[0].err : RD_KAFKA_RESP_ERR_NO_ERROR;
}

void kafka_lag_serve(struct kafka_lag *lag)
{
    rd_kafka_event_t *event;
    while ((event = rd_kafka_queue_poll(lag->answers, 0)) != NULL) {
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ALTERCONSUMERGROUPOFFSETS_RESULT) {
            struct mark *mark = rd_kafka_event_opaque(event);
            const char *text;
            rd_kafka_resp_err_t code = outcome_of(event, &text);
            struct err err;
            mark->under_way = false;
            if (code != RD_KAFKA_RESP_ERR_NO_ERROR && !mark->failing) {
                (void)kafka_err(&err, code, mark->group, text);
                log_err(LOG_WARN, "kafka_lag_not_published", NULL, &err);
            }
            mark->failing = code != RD_KAFKA_RESP_ERR_NO_ERROR;
            if (mark->sent != mark->offset)
                send_mark(lag, mark);
        }
        rd_kafka_event_destroy(event);
    }
}

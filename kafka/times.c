/* The first offset at or behind a time. The question is bounded and holds the handle, because the
 * caller may have closed it when the answer comes. */
#include "kafka/admin.h"
#include "kafka/bounded.h"
#include "kafka/error.h"

#include "base/str.h"

#include <stdlib.h>

struct lookup {
    struct kafka_handle *handle; /* counted */
    char *topic;
    int partition, timeout_ms;
    int64_t offset; /* in: the time; out: the offset */
    rd_kafka_resp_err_t code;
};

static void ask(void *argument)
{
    struct lookup *lookup = argument;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *one =
        rd_kafka_topic_partition_list_add(list, lookup->topic, lookup->partition);
    one->offset = lookup->offset;
    lookup->code = rd_kafka_offsets_for_times(lookup->handle->rk, list, lookup->timeout_ms);
    if (lookup->code == RD_KAFKA_RESP_ERR_NO_ERROR)
        lookup->code = one->err;
    lookup->offset = one->offset;
    rd_kafka_topic_partition_list_destroy(list);
}

static void lookup_free(void *argument)
{
    struct lookup *lookup = argument;
    kafka_handle_close(lookup->handle);
    free(lookup->topic);
    free(lookup);
}

enum rc kafka_offset_at(struct kafka_admin *admin, const char *topic, int partition,
                        int64_t timestamp_ms, int timeout_ms, int64_t *ret_offset, struct err *err)
{
    struct lookup *lookup = xcalloc(1, sizeof *lookup);
    *lookup = (struct lookup){.handle = kafka_handle_hold(admin->handle),
                              .topic = xstrdup(topic),
                              .partition = partition,
                              .timeout_ms = timeout_ms,
                              .offset = timestamp_ms};
    if (!kafka_bounded(ask, lookup_free, lookup, timeout_ms))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    rd_kafka_resp_err_t code = lookup->code;
    int64_t offset = lookup->offset;
    lookup_free(lookup);
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_offset = offset; /* RD_KAFKA_OFFSET_END, -1: nothing is that young */
    return offset >= 0 ? RC_OK : RC_NONE;
}

/* Asks a partition's leader for one offset (ListOffsets), with a bound. The request runs on a
 * thread of its own (kafka/bounded.h) and holds the handle, because the caller may have closed the
 * handle before the answer comes. times.c asks for a time, watermarks.c for both ends of the log.
 */
#include "kafka/lookup.h"
#include "kafka/bounded.h"

#include "base/str.h"

#include <stdlib.h>

struct lookup {
    struct kafka_handle *handle; /* counted */
    char *topic;
    int partition, timeout_ms;
    int64_t offset; /* in: the time stamp; out: the offset */
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

rd_kafka_resp_err_t kafka_lookup(struct kafka_handle *handle, const char *topic, int partition,
                                 int64_t timestamp_ms, int timeout_ms, int64_t *ret_offset)
{
    struct lookup *lookup = xcalloc(1, sizeof *lookup);
    *lookup = (struct lookup){.handle = kafka_handle_hold(handle),
                              .topic = xstrdup(topic),
                              .partition = partition,
                              .timeout_ms = timeout_ms,
                              .offset = timestamp_ms};
    /* Where the answer comes too late, lookup_free() releases the handle on the other thread. */
    if (!kafka_bounded(ask, lookup_free, lookup, timeout_ms))
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_resp_err_t code = lookup->code;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        *ret_offset = lookup->offset;
    lookup_free(lookup);
    return code;
}

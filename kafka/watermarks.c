#include "base/clock.h"
#include "base/str.h"
#include "kafka/admin.h"
#include "kafka/bounded.h"
#include "kafka/error.h"

#include <stdlib.h>
#include <time.h>

#define AGAIN_MS 50

struct query {
    struct kafka_handle *handle; /* counted */
    char *topic;
    int partition, timeout_ms;
    int64_t low, high;
    rd_kafka_resp_err_t code;
};

/* A topic that was made a moment ago, or a broker that has just come back. */
static bool passes(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

static void ask(void *argument)
{
    struct query *query = argument;
    int64_t until_us = clock_boot_us() + (int64_t)query->timeout_ms * 1000;
    for (;;) {
        query->code =
            rd_kafka_query_watermark_offsets(query->handle->rk, query->topic, query->partition,
                                             &query->low, &query->high, query->timeout_ms);
        if (!passes(query->code) || clock_boot_us() >= until_us)
            return;
        (void)nanosleep(&(struct timespec){.tv_nsec = AGAIN_MS * 1000 * 1000}, NULL);
    }
}

static void query_free(void *argument)
{
    struct query *query = argument;
    kafka_handle_close(query->handle);
    free(query->topic);
    free(query);
}

/* rd_kafka_query_watermark_offsets waits far beyond its time-out in 2.0.2 when the leader is away. */
enum rc kafka_watermarks(struct kafka_admin *admin, const char *topic, int partition,
                         int timeout_ms, int64_t *ret_low, int64_t *ret_high, struct err *err)
{
    struct query *query = xcalloc(1, sizeof *query);
    *query = (struct query){.handle = kafka_handle_hold(admin->handle),
                            .topic = xstrdup(topic),
                            .partition = partition,
                            .timeout_ms = timeout_ms,
                            .low = -1,
                            .high = -1};
    if (!kafka_bounded(ask, query_free, query, timeout_ms))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    rd_kafka_resp_err_t code = query->code;
    int64_t low = query->low, high = query->high;
    query_free(query);
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_low = low;
    *ret_high = high;
    return RC_OK;
}

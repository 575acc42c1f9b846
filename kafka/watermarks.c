/* Both ends of a partition's log, as the leader has them now; the consumer's own idea of them is
 * older. */
#include "base/clock.h"
#include "kafka/admin.h"
#include "kafka/error.h"
#include "kafka/lookup.h"

#include <time.h>

#define AGAIN_MS 50

/* A topic that was made a moment ago, or a broker that has just come back. */
static bool passes(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

/* rd_kafka_query_watermark_offsets asks for both ends, but waits far beyond its time-out in 2.0.2
 * when the leader is away; kafka_lookup keeps it. */
static rd_kafka_resp_err_t ask(struct kafka_handle *handle, const char *topic, int partition,
                               int64_t end, int timeout_ms, int64_t *ret_offset)
{
    int64_t offset = -1;
    rd_kafka_resp_err_t code = kafka_lookup(handle, topic, partition, end, timeout_ms, &offset);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && offset < 0)
        code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        *ret_offset = offset;
    return code;
}

static rd_kafka_resp_err_t ask_until(struct kafka_handle *handle, const char *topic, int partition,
                                     int64_t end, int64_t until_us, int64_t *ret_offset)
{
    for (;;) {
        rd_kafka_resp_err_t code =
            ask(handle, topic, partition, end, kafka_left_ms(until_us) + 1, ret_offset);
        if (!passes(code) || kafka_left_ms(until_us) == 0)
            return code;
        (void)nanosleep(&(struct timespec){.tv_nsec = AGAIN_MS * 1000 * 1000}, NULL);
    }
}

enum rc kafka_watermarks(struct kafka_admin *admin, const char *topic, int partition,
                         int timeout_ms, int64_t *ret_low, int64_t *ret_high, struct err *err)
{
    struct kafka_handle *handle = admin->handle;
    int64_t low = -1, high = -1, until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    rd_kafka_resp_err_t code =
        ask_until(handle, topic, partition, RD_KAFKA_OFFSET_BEGINNING, until_us, &low);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = ask_until(handle, topic, partition, RD_KAFKA_OFFSET_END, until_us, &high);
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(handle, topic, timeout_ms, err);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_low = low;
    *ret_high = high;
    return RC_OK;
}

/* The first offset at or behind a time. */
#include "kafka/admin.h"
#include "kafka/error.h"
#include "kafka/lookup.h"

enum rc kafka_offset_at(struct kafka_admin *admin, const char *topic, int partition,
                        int64_t timestamp_ms, int timeout_ms, int64_t *ret_offset, struct err *err)
{
    int64_t offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t code =
        kafka_lookup(admin->handle, topic, partition, timestamp_ms, timeout_ms, &offset);
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_offset = offset; /* RD_KAFKA_OFFSET_END, -1: nothing is that young */
    return offset >= 0 ? RC_OK : RC_NONE;
}

/* Requests metadata with a bound: rd_kafka_metadata counts its time-out on the wall clock, which
 * may be set back meanwhile. */
#include "kafka/metadata.h"

#include "base/str.h"
#include "kafka/bounded.h"

#include <stdlib.h>

#define LEAVE_AFTER_MS 1000 /* behind its own time-out */

struct question {
    struct kafka_handle *handle; /* counted */
    bool all;
    char *topic; /* NULL: none */
    int timeout_ms;
    const struct rd_kafka_metadata *metadata; /* owned */
    rd_kafka_resp_err_t code;
};

static void ask(void *argument)
{
    struct question *question = argument;
    rd_kafka_t *rk = question->handle->rk;
    rd_kafka_topic_t *topic = NULL;
    if (question->topic != NULL) { /* librdkafka then keeps its metadata fresh */
        topic = rd_kafka_topic_new(rk, question->topic, NULL);
        question->code = topic == NULL ? rd_kafka_last_error() : RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    if (question->code == RD_KAFKA_RESP_ERR_NO_ERROR)
        question->code =
            rd_kafka_metadata(rk, question->all, topic, &question->metadata, question->timeout_ms);
    if (topic != NULL)
        rd_kafka_topic_destroy(topic);
}

static void question_free(void *argument)
{
    struct question *question = argument;
    if (question->metadata != NULL)
        rd_kafka_metadata_destroy(question->metadata);
    kafka_handle_close(question->handle);
    free(question->topic);
    free(question);
}

rd_kafka_resp_err_t kafka_metadata(struct kafka_handle *handle, bool all, const char *topic,
                                   int timeout_ms, const struct rd_kafka_metadata **ret_metadata)
{
    struct question *question = xcalloc(1, sizeof *question);
    *question = (struct question){.handle = kafka_handle_hold(handle),
                                  .all = all,
                                  .topic = topic != NULL ? xstrdup(topic) : NULL,
                                  .timeout_ms = timeout_ms};
    if (!kafka_bounded(ask, question_free, question, timeout_ms + LEAVE_AFTER_MS))
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_resp_err_t code = question->code;
    *ret_metadata = question->metadata;
    question->metadata = NULL;
    question_free(question);
    return code;
}

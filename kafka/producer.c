/* An idempotent producer, mostly with a transactional id. Begin with kafka_commit() and insist().
 * librdkafka's manual (INTRODUCTION.md, Transactions) gives three kinds of errors of a transaction
 * call: retriable (the call is made again), abortable (the transaction is lost, and the caller
 * aborts it), fatal (the producer is replaced). give_up() maps the last two. */
#include "kafka/producer.h"

#include "base/clock.h"
#include "base/str.h"
#include "kafka/admin.h"
#include "kafka/closing.h"
#include "kafka/error.h"
#include "kafka/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_MS         100  /* of one wait; then failed deliveries are checked */
#define CLOSE_TIMEOUT_MS 5000 /* for aborting what is open */
/* The longest time that one of librdkafka's calls about a transaction takes; then the caller's time
 * is checked. */
#define HEED_MS     500
#define SERVE_EVERY 32 /* records between two checks of the delivery reports */

struct kafka_producer {
    struct kafka_handle *handle;
    rd_kafka_topic_t *topic; /* of kafka_publish_values, NULL until its first call */
    bool transactional, in_transaction, aborting;
    int64_t published, acked, last_offset;
    struct err failure; /* of the first failed delivery; valid when failed_rc is not RC_OK */
    enum rc failed_rc;
    const _Atomic int64_t *until_us; /* the caller's; NULL: none */
    int64_t time_ms;                 /* of the records; 0: this host's clock */
};

/* Milliseconds until the time of a call is over, or that of the producer. */
static int left_of(const struct kafka_producer *producer, int64_t until_us)
{
    int64_t own_us = producer->until_us != NULL ? *producer->until_us : 0;
    return kafka_left_ms(own_us != 0 && own_us < until_us ? own_us : until_us);
}

static bool out_of_time(const struct kafka_producer *producer)
{
    return producer->until_us != NULL && *producer->until_us != 0 &&
           clock_boot_us() >= *producer->until_us;
}

/* Runs inside the calls, on the caller's thread. */
static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka_handle *handle = opaque;
    struct kafka_producer *producer = handle->owner;
    (void)rk;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        /* Delivery reports of one partition come in the order of the offsets, so the last one is
         * the newest. */
        producer->acked++;
        producer->last_offset = message->offset;
        kafka_handle_alive(handle);
        return;
    }
    if (producer->aborting || producer->failed_rc != RC_OK)
        return; /* purged by the abort, or a consequence of the first failure */
    /* Not rd_kafka_message_errstr: in 2.0.2 that is the payload of a record that was to be sent. */
    producer->failed_rc =
        kafka_err(&producer->failure, message->err, rd_kafka_topic_name(message->rkt), NULL);
    if (message->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
        message->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
        producer->failed_rc =
            RC_FATAL; /* librdkafka has waited topic.metadata.propagation.max.ms for it */
}

/* A fatal error means a new producer, except where a new one would meet the same. */
static enum rc fatal(struct kafka_producer *producer, struct err *err)
{
    char text[512];
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(producer->handle->rk, text, sizeof text);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return RC_OK;
    return kafka_err(err, code, producer->handle->brokers, text) == RC_FATAL ? RC_FATAL : RC_LOST;
}

/* What went wrong before this call, if anything. */
static enum rc check(struct kafka_producer *producer, struct err *err)
{
    enum rc rc = fatal(producer, err);
    if (rc != RC_OK || producer->failed_rc == RC_OK)
        return rc;
    if (err != NULL)
        *err = producer->failure;
    return producer->failed_rc;
}

/* Takes the error of a transaction call that will not be tried again. */
static enum rc give_up(struct kafka_producer *producer, rd_kafka_error_t *error, int timeout_ms,
                       struct err *err)
{
    bool is_fatal = rd_kafka_error_is_fatal(error) != 0,
         abortable = rd_kafka_error_txn_requires_abort(error) != 0;
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    enum rc rc = kafka_err_take(err, error, producer->handle->brokers);
    /* The flags of the error, not its code, say which kind it is (rdkafka.h,
     * rd_kafka_error_is_fatal). */
    if (is_fatal)
        return rc == RC_FATAL ? RC_FATAL : RC_LOST;
    if (abortable) {
        (void)rd_kafka_poll(producer->handle->rk, 0);
        if (producer->failed_rc != RC_OK) /* the cause is more useful than the consequence */
            return check(producer, err);
        struct err *failure = &producer->failure;
        (void)kafka_err(failure, code, producer->handle->brokers,
                        err != NULL ? err->message : NULL);
        if (rc != RC_FATAL && rc != RC_REJECT) {
            rc = RC_RETRY;
            (void)snprintf(failure->hint, sizeof failure->hint,
                           "abort, and publish again with a new producer");
        }
        producer->failed_rc = rc;
        return check(producer, err);
    }
    if (!kafka_err_no_answer(code))
        return rc;
    return kafka_handle_no_answer(producer->handle, "transaction coordinator", timeout_ms, err);
}

/* One of librdkafka's calls about a transaction, with the time left. */
typedef rd_kafka_error_t *transaction_call(rd_kafka_t *rk, int timeout_ms);

/* Retriable errors are tried again until the time is over. */
static enum rc insist(struct kafka_producer *producer, transaction_call *call, int timeout_ms,
                      struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    for (;;) {
        int left_ms = left_of(producer, until_us);
        int call_ms = producer->until_us != NULL && left_ms > HEED_MS ? HEED_MS : left_ms;
        rd_kafka_error_t *error = call(producer->handle->rk, call_ms > 0 ? call_ms : 1);
        if (error == NULL)
            return RC_OK;
        if (!rd_kafka_error_is_retriable(error) || left_of(producer, until_us) == 0)
            return give_up(producer, error, timeout_ms, err);
        rd_kafka_error_destroy(error);
        (void)rd_kafka_poll(producer->handle->rk, SLICE_MS);
    }
}

/* Without a transaction nothing has talked to the cluster yet. */
static enum rc meet(struct kafka_producer *producer, int timeout_ms, struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = kafka_metadata(producer->handle, false, NULL, timeout_ms, &metadata);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
        return RC_OK;
    }
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(producer->handle, "", timeout_ms, err);
    return kafka_err(err, code, producer->handle->brokers, NULL);
}

enum rc kafka_producer_open(const struct kafka_properties *props, const char *transactional_id,
                            int timeout_ms, struct kafka_producer **ret_producer, struct err *err)
{
    struct kafka_producer *producer = xcalloc(1, sizeof *producer);
    producer->last_offset = -1;
    producer->transactional =
        transactional_id != NULL || kafka_properties_get(props, "transactional.id") != NULL;
    enum rc rc = kafka_handle_open(props, KAFKA_PRODUCER, transactional_id, on_delivery, producer,
                                   &producer->handle, err);
    if (rc != RC_OK) {
        free(producer);
        return rc;
    }
    rc = producer->transactional ? insist(producer, rd_kafka_init_transactions, timeout_ms, err)
                                 : meet(producer, timeout_ms, err);
    if (rc == RC_OK)
        *ret_producer = producer;
    else
        kafka_producer_close(producer);
    return rc;
}

enum rc kafka_producer_meet(struct kafka_producer *producer, const char *topic, int timeout_ms,
                            struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code =
        kafka_metadata(producer->handle, false, topic, timeout_ms, &metadata);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
        return RC_OK;
    }
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(producer->handle, topic, timeout_ms, err);
    return kafka_err(err, code, topic, NULL);
}

void kafka_producer_until(struct kafka_producer *producer, const _Atomic int64_t *until_us)
{
    producer->until_us = until_us;
}

void kafka_producer_time(struct kafka_producer *producer, int64_t time_ms)
{
    producer->time_ms = time_ms;
}

/* An open transaction is aborted by name. Left open, it would hold back every reader of committed
 * records until transaction.timeout.ms is over. The purge and the loop behind it take the reports
 * of queued records while the struct that they write to exists. */
struct kafka_closing *kafka_producer_close_start(struct kafka_producer *producer)
{
    if (producer == NULL)
        return NULL;
    struct err ignored;
    if (producer->in_transaction && !out_of_time(producer) && fatal(producer, NULL) == RC_OK)
        (void)!kafka_abort(producer, CLOSE_TIMEOUT_MS, &ignored);
    producer->aborting = true;
    (void)rd_kafka_purge(producer->handle->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_poll(producer->handle->rk, 0) > 0) {
    }
    if (producer->topic != NULL)
        rd_kafka_topic_destroy(producer->topic);
    struct kafka_closing *closing = kafka_handle_close_start(producer->handle);
    free(producer);
    return closing;
}

void kafka_producer_close_end(struct kafka_closing *closing)
{
    (void)kafka_handle_closed(closing, true);
}

void kafka_producer_close(struct kafka_producer *producer)
{
    kafka_producer_close_end(kafka_producer_close_start(producer));
}

enum rc kafka_begin(struct kafka_producer *producer, struct err *err)
{
    enum rc rc = check(producer, err);
    if (rc != RC_OK)
        return rc;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(producer->handle->rk);
    if (error != NULL)
        return give_up(producer, error, 0, err);
    producer->in_transaction = true;
    return RC_OK;
}

static rd_kafka_headers_t *headers_of(const struct kafka_header *headers)
{
    if (headers == NULL || headers->name == NULL)
        return NULL;
    rd_kafka_headers_t *list = rd_kafka_headers_new(8);
    for (; headers->name != NULL; headers++)
        (void)rd_kafka_header_add(list, headers->name, -1, headers->value,
                                  headers->value != NULL ? (ssize_t)headers->value_len : 0);
    return list;
}

struct record {
    const char *topic;
    int partition;
    const char *key, *value;
    size_t key_len, value_len;
    const struct kafka_header *headers;
};

/* producev, not produceva: the latter frees the headers twice in 2.0.2 when the partition does not
 * exist. */
static rd_kafka_resp_err_t produce(struct kafka_producer *producer, const struct record *r)
{
    rd_kafka_headers_t *list = headers_of(r->headers);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer->handle->rk, RD_KAFKA_VTYPE_TOPIC, r->topic, RD_KAFKA_VTYPE_PARTITION,
        (int32_t)r->partition, RD_KAFKA_VTYPE_MSGFLAGS, RD_KAFKA_MSG_F_COPY,
        RD_KAFKA_VTYPE_TIMESTAMP, producer->time_ms, RD_KAFKA_VTYPE_KEY, r->key, r->key_len,
        RD_KAFKA_VTYPE_VALUE, r->value, r->value_len,
        list != NULL ? RD_KAFKA_VTYPE_HEADERS : RD_KAFKA_VTYPE_END, list, RD_KAFKA_VTYPE_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && list != NULL)
        rd_kafka_headers_destroy(list); /* taken on success only */
    return code;
}

/** Ends at the latest when message.timeout.ms fails the oldest record. */
static void await_room(struct kafka_producer *producer)
{
    (void)rd_kafka_poll(producer->handle->rk, SLICE_MS);
}

enum rc kafka_publish(struct kafka_producer *producer, const char *topic, int partition,
                      const char *key, size_t key_len, const char *value, size_t value_len,
                      const struct kafka_header *headers, struct err *err)
{
    const struct record record = {topic, partition, key, value, key_len, value_len, headers};
    for (;;) {
        enum rc rc = check(producer, err);
        if (rc != RC_OK) /* the broker refused an earlier record, and not this one */
            return rc == RC_REJECT ? RC_RETRY : rc;
        rd_kafka_resp_err_t code = produce(producer, &record);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            return kafka_err(err, code, topic, NULL);
        await_room(producer);
    }
    if (++producer->published % SERVE_EVERY == 0)
        (void)rd_kafka_poll(producer->handle->rk, 0);
    return RC_OK;
}

/** The handle that produce_batch wants, kept for the next call. */
static enum rc use_topic(struct kafka_producer *producer, const char *topic, struct err *err)
{
    if (producer->topic != NULL && strcmp(rd_kafka_topic_name(producer->topic), topic) == 0)
        return RC_OK;
    if (producer->topic != NULL)
        rd_kafka_topic_destroy(producer->topic);
    producer->topic = rd_kafka_topic_new(producer->handle->rk, topic, NULL);
    return producer->topic != NULL ? RC_OK : kafka_err(err, rd_kafka_last_error(), topic, NULL);
}

/** What librdkafka takes at once; *done counts what it has taken. With a full queue it refuses the
 * rest as well, so that the order holds. */
static enum rc hand_over(struct kafka_producer *producer, int partition,
                         rd_kafka_message_t *messages, int count, int *done, struct err *err)
{
    int taken =
        rd_kafka_produce_batch(producer->topic, partition, RD_KAFKA_MSG_F_COPY, messages, count);
    producer->published += taken;
    *done += taken;
    if (taken == count)
        return RC_OK;
    int i = 0;
    while (messages[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
        i++;
    if (messages[i].err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
        return kafka_err(err, messages[i].err, rd_kafka_topic_name(producer->topic), NULL);
    await_room(producer);
    return RC_OK;
}

enum rc kafka_publish_values(struct kafka_producer *producer, const char *topic, int partition,
                             const struct kafka_value *values, int count, struct err *err)
{
    rd_kafka_message_t messages[KAFKA_MOST_VALUES];
    enum rc rc = use_topic(producer, topic, err);
    for (int i = 0; i < count; i++)
        messages[i] = (rd_kafka_message_t){.payload = values[i].bytes, .len = values[i].len};
    for (int done = 0; rc == RC_OK && done < count;) {
        rc = check(producer, err);
        if (rc == RC_OK)
            rc = hand_over(producer, partition, messages + done, count - done, &done, err);
    }
    (void)rd_kafka_poll(producer->handle->rk, 0);
    return rc;
}

enum rc kafka_flush(struct kafka_producer *producer, int timeout_ms, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    for (;;) {
        int left_ms = left_of(producer, until_us);
        rd_kafka_resp_err_t code =
            rd_kafka_flush(producer->handle->rk, left_ms < SLICE_MS ? left_ms : SLICE_MS);
        enum rc rc = check(producer, err);
        if (rc != RC_OK || code == RD_KAFKA_RESP_ERR_NO_ERROR)
            return rc;
        if (code != RD_KAFKA_RESP_ERR__TIMED_OUT)
            return kafka_err(err, code, producer->handle->brokers, NULL);
        if (left_ms > 0)
            continue;
        if (producer->handle->down)
            return kafka_handle_no_answer(producer->handle, "", timeout_ms, err);
        return err_set(err, RC_RETRY, ERR_TIMEOUT, producer->handle->brokers,
                       "Flush again, or find out why Kafka is slow.",
                       "%d records are not acknowledged after %d ms",
                       rd_kafka_outq_len(producer->handle->rk), timeout_ms);
    }
}

/* The flush comes first, so that a failed delivery is reported with its own error and not as a
 * failed commit. A commit that runs out of its time is in doubt: it may have been done. */
enum rc kafka_commit(struct kafka_producer *producer, int timeout_ms, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    enum rc rc = kafka_flush(producer, timeout_ms, err);
    if (rc != RC_OK)
        return rc;
    rc = insist(producer, rd_kafka_commit_transaction, kafka_left_ms(until_us), err);
    if (rc == RC_OK)
        producer->in_transaction = false;
    return rc;
}

enum rc kafka_abort(struct kafka_producer *producer, int timeout_ms, struct err *err)
{
    enum rc rc = fatal(producer, err);
    if (rc != RC_OK)
        return rc;
    producer->aborting = true;
    rc = insist(producer, rd_kafka_abort_transaction, timeout_ms, err);
    if (rc == RC_OK) {
        while (rd_kafka_poll(producer->handle->rk, 0) >
               0) { /* the reports of the records that the abort purged */
        }
        producer->in_transaction = false;
    }
    producer->aborting = false;
    return rc;
}

void kafka_producer_acked(const struct kafka_producer *producer, int64_t *ret_count,
                          int64_t *ret_last_offset)
{
    *ret_count = producer->acked;
    *ret_last_offset = producer->last_offset;
}

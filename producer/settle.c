#include "producer/publishing.h"

#include "base/clock.h"
#include "base/log.h"
#include "kafka/consumer.h"
#include "task/message.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ABORT_WAIT_MS 10000
#define FLUSH_WAIT_MS 2000
#define TAIL_WAIT_MS  30000
#define SLICE_MS      100

/** Reads one record's run and seq; those of this run come in order. */
static void count_record(struct publishing *p, const struct kafka_record *record)
{
    char run[37];
    int64_t seq;
    if (record->value == NULL ||
        message_peek(record->value, record->value_len, run, &seq) != RC_OK ||
        strcmp(run, p->run) != 0)
        return;
    p->committed = seq + 1;
    p->result->last_offset = record->offset;
}

static enum rc read_to_end(struct publishing *p, struct kafka_source *source, int wake_fd,
                           struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)TAIL_WAIT_MS * 1000;
    while (clock_boot_us() < until_us) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(source, &record, err);
        if (rc == RC_OK) {
            count_record(p, &record);
            kafka_record_free(&record);
        } else if (rc != RC_NONE) {
            return rc;
        } else if (kafka_source_end(source) >= 0) {
            return RC_OK;
        } else {
            struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
            uint64_t count;
            if (poll(&wake, 1, SLICE_MS) > 0 && read(wake_fd, &count, sizeof count) < 0)
                continue; /* taken by a spurious wake-up */
        }
    }
    return err_set(err, RC_RETRY, ERR_TIMEOUT, p->topic, NULL, "the topic's end is not reached");
}

/** What the partition holds of the run, read from where it ended before the run. */
static enum rc read_tail(struct publishing *p, struct err *err)
{
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct kafka_consumer *consumer = NULL;
    struct kafka_source *source = NULL;
    enum rc rc = kafka_consumer_open(p->options->kafka, wake_fd, &consumer, err);
    if (rc == RC_OK)
        rc = kafka_source_open(consumer, p->topic, p->partition, &source, err);
    if (rc == RC_OK)
        rc = kafka_source_assign(source, p->high, err);
    if (rc == RC_OK)
        rc = read_to_end(p, source, wake_fd, err);
    if (source != NULL)
        kafka_source_close(source);
    if (consumer != NULL)
        kafka_consumer_close(consumer);
    (void)close(wake_fd);
    return rc;
}

/** Taking the transactional id anew ends what was open, one way or the other; then the partition
 * tells which. */
static enum rc settle(struct publishing *p, struct err *err)
{
    kafka_producer_close(p->producer);
    p->producer = NULL;
    int64_t high = p->high;
    enum rc rc = sending_open(p, err);
    p->high = high;
    if (rc == RC_OK)
        rc = read_tail(p, err);
    p->in_doubt = rc != RC_OK;
    p->in_transaction = false;
    return rc;
}

static void drop_open(struct publishing *p)
{
    struct err why;
    /* librdkafka 2.0.2 ends a transaction that the broker has not heard of yet with a fatal error; a flush makes it known. */
    if (p->in_transaction && !p->in_doubt)
        (void)!kafka_flush(p->producer, FLUSH_WAIT_MS, &why);
    if (p->in_transaction && !p->in_doubt)
        p->in_doubt = kafka_abort(p->producer, ABORT_WAIT_MS, &why) != RC_OK;
    if (!p->in_doubt) {
        p->in_transaction = false;
        return;
    }
    if (settle(p, &why) != RC_OK)
        log_err(LOG_WARN, "publish_settle_failed", p->options->queue, &why);
}

/** Nothing of the run is on the partition: nobody else will ever end it. */
static void cancel_row(struct publishing *p, const struct err *err)
{
    struct err why;
    const char *const params[] = {DB_INT(p->queue_id), p->run, err->message};
    if (db_run(p->db, &sql_publish_cancel, params, NULL, &why) != RC_OK)
        log_err(LOG_WARN, "publish_cancel_failed", p->options->queue, &why);
}

/** A part is on the partition: its executors must learn that no more comes. */
static void end_aborted(struct publishing *p, struct err *err)
{
    struct err why;
    p->seq = p->committed;
    p->result->tasks = p->committed;
    p->result->phases = p->committed_phases;
    if (sending_end(p, true, &why) == RC_OK) {
        (void)snprintf(err->detail, sizeof err->detail,
                       "%" PRId64 " tasks of run %s were published before; the run is ended as "
                       "aborted.",
                       p->committed, p->run);
        return;
    }
    log_err(LOG_WARN, "publish_abort_failed", p->options->queue, &why);
    (void)snprintf(err->detail, sizeof err->detail,
                   "%" PRId64 " tasks of run %s were published before; the run could not be ended.",
                   p->committed, p->run);
}

enum rc failed_publish(struct publishing *p, enum rc rc, struct err *err)
{
    struct err why;
    if (!p->row_written)
        return rc;
    if (db_run(p->db, &sql_publish_alive, NULL, NULL, &why) != RC_OK) {
        /* Not the queue's producer any more: a successor may be at work, so only what is ours is
         * dropped. */
        p->locked = false;
        (void)snprintf(err->detail, sizeof err->detail,
                       "The session that held the lock of the queue's producers is lost: %.800s",
                       why.message);
        return rc;
    }
    drop_open(p);
    if (p->in_doubt) {
        (void)snprintf(err->detail, sizeof err->detail,
                       "It is not known whether run %s came onto the topic: once Kafka answers, "
                       "lockstep run show tells whether it is executed.",
                       p->run);
        return rc;
    }
    if (p->ending && p->committed == p->seq && p->seq > 0) {
        p->ended = true; /* only the answer to the last commit was lost */
        return RC_OK;
    }
    if (p->committed == 0)
        cancel_row(p, err);
    else
        end_aborted(p, err);
    return rc;
}

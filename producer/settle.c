#include "producer/publishing.h"
#include "producer/tail.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>

#define ABORT_WAIT_MS 10000
#define FLUSH_WAIT_MS 2000

/** Taking the transactional id anew ends what was open, one way or the other; then the partition
 * tells which. */
static enum rc settle(struct publishing *p, struct err *err)
{
    kafka_producer_close(p->producer);
    p->producer = NULL;
    int64_t high = p->high;
    enum rc rc = sending_open(p, err);
    p->high = high;
    struct tail tail = {.next_seq = 0};
    if (rc == RC_OK)
        rc = tail_read(p->options->kafka, p->topic, p->partition, p->high, p->run, &tail, err);
    if (rc == RC_OK) {
        p->committed = tail.next_seq;
        p->result->last_offset = tail.last_offset;
    }
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

static void note_aborted(struct publishing *p, const struct err *err)
{
    struct err why;
    const char *const params[] = {DB_INT(p->queue_id), p->run, DB_INT(p->seq - 1),
                                  DB_INT(p->result->last_offset), err->message};
    if (db_run(p->db, &sql_publish_abort, params, NULL, &why) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->options->queue, &why);
}

/** A part is on the partition: its executors must learn that no more comes. */
static void end_aborted(struct publishing *p, struct err *err)
{
    struct err why;
    p->seq = p->committed;
    p->result->tasks = p->committed;
    p->result->phases = p->committed_phases;
    if (sending_end(p, true, &why) == RC_OK) {
        note_aborted(p, err);
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

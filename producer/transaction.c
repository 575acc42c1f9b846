/* One Kafka transaction at a time, and the three states of transaction.h. Begin with
 * transaction_commit(). A call about an open transaction that fails leaves it in DOUBT: librdkafka
 * cannot say whether the broker has committed it, and only the topic can, after a new producer with
 * the same transactional id has ended it. */
#include "producer/transaction.h"

#include "base/clock.h"
#include "base/probe.h"

/* WAIT_MS is as long as transaction.timeout.ms by default, behind which the coordinator aborts the
 * transaction by itself. */
#define WAIT_MS 60000 /* for the coordinator, and for a commit */
/* Shorter than a commit's: an abort that is not answered is done by the coordinator later. */
#define ABORT_WAIT_MS 10000
#define FLUSH_WAIT_MS 2000

struct transaction transaction_borrowed(struct kafka_producer *producer)
{
    return (struct transaction){.producer = producer};
}

void transaction_limit(struct transaction *transaction, struct transaction_limits limits)
{
    transaction->limits = limits;
}

enum rc transaction_open(struct transaction *transaction, const struct target *target,
                         struct err *err)
{
    char id[128];
    producer_id(target->queue, id, sizeof id);
    probe("publish.fencing");
    enum rc rc = kafka_producer_open(target->kafka, id, WAIT_MS, &transaction->producer, err);
    if (rc == RC_OK)
        rc = kafka_producer_meet(transaction->producer, target->topic, WAIT_MS, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.fenced");
    transaction->acked_before = 0;
    return RC_OK;
}

void transaction_close(struct transaction *transaction)
{
    kafka_producer_close(transaction->producer);
    transaction->producer = NULL;
    outbox_done(&transaction->outbox);
}

void transaction_mark(struct transaction *transaction, int64_t end_offset)
{
    int64_t last;
    transaction->end_offset = end_offset;
    kafka_producer_acked(transaction->producer, &transaction->acked_before, &last);
}

int64_t transaction_acked(const struct transaction *transaction, int64_t *ret_last_offset)
{
    int64_t count;
    *ret_last_offset = -1;
    if (transaction->producer == NULL)
        return 0;
    kafka_producer_acked(transaction->producer, &count, ret_last_offset);
    return count - transaction->acked_before;
}

static enum rc begin(struct transaction *transaction, struct err *err)
{
    enum rc rc = kafka_begin(transaction->producer, err);
    if (rc != RC_OK)
        return rc;
    transaction->state = TRANSACTION_OPEN;
    transaction->begun_us = clock_boot_us();
    transaction->tasks = 0;
    transaction->bytes = 0;
    probe("publish.begun");
    return RC_OK;
}

enum rc transaction_add(struct transaction *transaction, size_t len, int tasks, struct err *err)
{
    enum rc rc = transaction->state == TRANSACTION_NONE ? begin(transaction, err) : RC_OK;
    if (rc != RC_OK)
        return rc;
    /* librdkafka must know of the transaction before the first record, even if the record stays in
     * the outbox until later. */
    outbox_keep(&transaction->outbox);
    transaction->tasks += tasks;
    transaction->bytes += len;
    return RC_OK;
}

/** A call about what is open has failed. */
static enum rc doubt(struct transaction *transaction, enum rc rc)
{
    if (rc != RC_OK)
        transaction->state = TRANSACTION_DOUBT;
    return rc;
}

enum rc transaction_send(struct transaction *transaction, const struct target *target,
                         struct err *err)
{
    if (transaction->outbox.count == 0)
        return RC_OK;
    return doubt(transaction,
                 outbox_send(&transaction->outbox, transaction->producer, target, err));
}

enum rc transaction_commit(struct transaction *transaction, const struct target *target,
                           const struct session *session, struct err *err)
{
    enum rc rc = transaction_send(transaction, target, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.flushing");
    /* The lock is checked between the flush and the commit, which is the last moment at which the
     * run can still be left to a successor. A session that is lost behind the check is no danger:
     * its successor fences this producer, and the broker then refuses the commit. */
    rc = doubt(transaction, kafka_flush(transaction->producer, WAIT_MS, err));
    if (rc == RC_OK && session->locked)
        rc = session_check(session, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.committing");
    rc = doubt(transaction, kafka_commit(transaction->producer, WAIT_MS, err));
    if (rc != RC_OK)
        return rc;
    probe("publish.committed");
    transaction->state = TRANSACTION_NONE;
    return RC_OK;
}

void transaction_drop(struct transaction *transaction)
{
    struct err why;
    outbox_clear(&transaction->outbox);
    if (transaction->state != TRANSACTION_OPEN)
        return;
    /* librdkafka 2.0.2 ends a transaction that the broker does not know yet with a fatal error; a
     * flush makes it known. */
    (void)!kafka_flush(transaction->producer, FLUSH_WAIT_MS, &why);
    transaction->state = TRANSACTION_NONE;
    (void)!doubt(transaction, kafka_abort(transaction->producer, ABORT_WAIT_MS, &why));
}

void transaction_settled(struct transaction *transaction)
{
    transaction->state = TRANSACTION_NONE;
}

int64_t transaction_due_us(const struct transaction *transaction)
{
    const struct transaction_limits *limits = &transaction->limits;
    if (transaction->state != TRANSACTION_OPEN)
        return INT64_MAX;
    if (transaction->tasks >= limits->tasks || transaction->bytes >= limits->bytes)
        return 0;
    return transaction->begun_us + limits->us;
}

/* Publishes while the source is still being read, in small transactions. Begin with send_stream().
 * A source must be sorted already, because what was committed cannot be ordered any more. After a
 * fault the committed part stays on the topic, and the run is ended as aborted. */
#include "producer/sending.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A transaction is as long as readers wait for its first record, and as large as memory may be. */
#define TRANSACTION_US    100000
#define TRANSACTION_TASKS 5000
#define TRANSACTION_BYTES (4 * 1000 * 1000)

static enum rc at_line(const struct publishing *p, struct err *err)
{
    const char *name = staged_name(p->origin.staged);
    int64_t line = staged_line(p->origin.staged);
    progress_fault(&p->progress, name, line, err);
    (void)snprintf(err->object, sizeof err->object, "%s:%" PRId64, name, line);
    err->kind = ERR_USAGE;
    return RC_REJECT;
}

static enum rc unsorted(const struct publishing *p, const struct staged_task *task, struct err *err)
{
    (void)err_set(err, RC_REJECT, ERR_USAGE, "$.order",
                  "Sort the source by order, or publish it without --stream, which sorts.",
                  "the order %" PRId64 " comes after %" PRId64
                  ": a stream must be sorted, its earlier tasks are published already",
                  task->order, p->records.order);
    return at_line(p, err);
}

/** How long to wait for the next task: not with records in the outbox, else until one of the parts
 * is due. */
static int patience_ms(const struct publishing *p)
{
    if (!staged_may_wait(p->origin.staged))
        return p->transaction.state == TRANSACTION_OPEN ? 0 : -1;
    return p->transaction.outbox.count > 0 ? 0 : clock_left_ms(publishing_due_us(p));
}

static enum rc commit_if_due(struct publishing *p, struct err *err)
{
    return transaction_due_us(&p->transaction) <= clock_boot_us() ? sending_commit(p, err) : RC_OK;
}

static enum rc send_next(struct publishing *p, const struct staged_task *task, struct err *err)
{
    progress_read(&p->progress);
    if (task->order < p->records.order)
        return unsorted(p, task, err);
    /* The row is written when there is something to publish, so that a bad first line leaves
     * nothing. */
    enum rc rc = run_is_started(&p->run) ? RC_OK : sending_start(p, err);
    if (rc == RC_OK)
        rc = sending_task(p, task, err);
    return rc == RC_OK ? commit_if_due(p, err) : rc;
}

/** Nothing came in time. The open transaction must not wait for the next task, and librdkafka can
 * send the outbox in the meantime. */
static enum rc send_meanwhile(struct publishing *p, struct err *err)
{
    if (!staged_may_wait(p->origin.staged))
        return sending_commit(p, err);
    enum rc rc = transaction_send(&p->transaction, &p->target, err);
    return rc == RC_OK ? commit_if_due(p, err) : rc;
}

static enum rc send_stream(struct publishing *p, struct err *err)
{
    for (;;) {
        struct staged_task task;
        enum rc rc = staged_next(p->origin.staged, patience_ms(p), &task, err);
        if (rc == RC_NONE)
            return RC_OK;
        if (rc == RC_OK)
            rc = send_next(p, &task, err);
        else if (rc == RC_RETRY)
            rc = send_meanwhile(p, err);
        else if (rc == RC_REJECT)
            rc = at_line(p, err);
        if (rc == RC_OK)
            rc = publishing_tick(p, err);
        if (rc != RC_OK)
            return rc;
    }
}

/** A file may grow while it is streamed: a resumed publish compares only the bytes that the file
 * had when the run began. */
static enum rc check_file(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    int64_t bytes = r->digest[0] != '\0' ? r->digest_bytes : -1;
    enum rc rc = origin_digest_file(&p->origin, bytes, err);
    return rc == RC_OK ? resume_check_digest(p, err) : rc;
}

enum rc publish_stream(struct publishing *p, struct err *err)
{
    const struct transaction_limits limits = {TRANSACTION_US, TRANSACTION_TASKS, TRANSACTION_BYTES};
    transaction_limit(&p->transaction, limits);
    enum rc rc = check_file(p, err);
    if (rc == RC_OK)
        rc = sending_prepare(p, err);
    if (rc == RC_OK && p->run.state == RUN_ENDED)
        return RC_OK;
    if (rc == RC_OK)
        rc = send_stream(p, err);
    if (rc == RC_OK)
        /* the source may be shorter than the records that the topic has */
        rc = resume_verify(p, err);
    if (rc != RC_OK)
        return rc;
    if (p->records.next.seq == 0)
        return origin_empty(&p->origin, err);
    run_count(&p->run, p->records.next.seq, p->records.next.phases);
    return sending_end(p, false, err);
}

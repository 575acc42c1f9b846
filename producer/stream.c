#include "producer/publishing.h"

#include "base/clock.h"
#include "producer/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A transaction is as long as readers wait for its first record, and as large as memory may be. */
#define TRANSACTION_US    100000
#define TRANSACTION_TASKS 5000
#define TRANSACTION_BYTES (4 * 1000 * 1000)
#define IDLE_MS           500 /* how long to wait for input with nothing open */

static enum rc at_line(const struct publishing *p, struct err *err)
{
    publish_tell_fault(p, staged_line(p->staged), err);
    (void)snprintf(err->object, sizeof err->object, "%s:%" PRId64, staged_name(p->staged),
                   staged_line(p->staged));
    err->kind = ERR_USAGE;
    return RC_REJECT;
}

static enum rc unsorted(const struct publishing *p, const struct staged_task *task, struct err *err)
{
    (void)err_set(err, RC_REJECT, ERR_USAGE, "$.order",
                  "sort the source by order, or publish it without --stream, which sorts",
                  "The order %" PRId64 " comes after %" PRId64
                  ": a stream must be sorted, its earlier tasks are published already.",
                  task->order, p->order);
    return at_line(p, err);
}

/** How long to wait for the next task: not with records in the outbox, else until what is open must be committed. */
static int patience_ms(const struct publishing *p)
{
    if (!staged_may_wait(p->staged))
        return p->in_transaction ? 0 : -1;
    if (p->outbox_count > 0)
        return 0;
    if (!p->in_transaction)
        return IDLE_MS;
    int64_t left_us = p->begun_us + TRANSACTION_US - clock_boot_us();
    return left_us > 0 ? (int)(left_us / 1000) : 0;
}

static bool is_full(const struct publishing *p)
{
    return p->in_transaction && (p->transaction_tasks >= TRANSACTION_TASKS ||
                                 p->transaction_bytes >= TRANSACTION_BYTES ||
                                 clock_boot_us() - p->begun_us >= TRANSACTION_US);
}

static enum rc send_next(struct publishing *p, const struct staged_task *task, struct err *err)
{
    p->read++;
    if (task->order < p->order)
        return unsorted(p, task, err);
    /* The row is written when there is something to publish, so that a bad first line leaves
     * nothing. */
    enum rc rc = p->row_written ? RC_OK : sending_start(p, err);
    if (rc == RC_OK)
        rc = sending_task(p, task, err);
    if (rc == RC_OK && is_full(p))
        rc = sending_commit(p, err);
    return rc;
}

/** Nothing came in time: what is open must not wait for it, and librdkafka may send in the meantime. */
static enum rc send_meanwhile(struct publishing *p, struct err *err)
{
    if (is_full(p) || !staged_may_wait(p->staged))
        return sending_commit(p, err);
    return sending_outbox(p, err);
}

static enum rc send_stream(struct publishing *p, struct err *err)
{
    for (;;) {
        struct staged_task task;
        enum rc rc = staged_next(p->staged, patience_ms(p), &task, err);
        if (rc == RC_NONE)
            return RC_OK;
        if (rc == RC_OK)
            rc = send_next(p, &task, err);
        else if (rc == RC_RETRY)
            rc = send_meanwhile(p, err);
        else if (rc == RC_REJECT)
            rc = at_line(p, err);
        if (rc == RC_OK)
            rc = tick(p, err);
        if (rc != RC_OK)
            return rc;
    }
}

/** A file may grow while it is streamed: what it has at the start must be the same for a resumed publish. */
static enum rc digest_file(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    enum rc rc = p->path != NULL && strcmp(p->path, "-") != 0
                     ? source_file_digest(p->path, r->digest[0] != '\0' ? r->digest_bytes : -1,
                                          p->digest, &p->digest_bytes, err)
                     : RC_NONE;
    return rc == RC_OK || rc == RC_NONE ? resume_check_digest(p, p->digest, p->digest_bytes, err)
                                        : rc;
}

enum rc publish_stream(struct publishing *p, struct err *err)
{
    p->total = -1;
    enum rc rc = digest_file(p, err);
    if (rc == RC_OK)
        rc = sending_prepare(p, err);
    if (rc == RC_OK && p->ended)
        return RC_OK;
    if (rc == RC_OK)
        rc = send_stream(p, err);
    if (rc == RC_OK)
        rc = resume_verify(p, err); /* it may have come to its end too early */
    if (rc != RC_OK)
        return rc;
    if (p->seq == 0)
        return publish_empty(p, err);
    p->result->tasks = p->seq;
    p->result->phases = p->phases;
    return sending_end(p, false, err);
}

/* Publishes a source that is read whole before anything is sent: every fault is reported, with its
 * line, and a source with a fault publishes nothing. Begin with publish_finite(): read and check
 * (checker.c), compare the digest of a resumed run, sort (batch.c), send (sending.c). A source that
 * does not fit in memory, or that never ends, is for stream.c. */
#include "producer/batch.h"
#include "producer/checker.h"
#include "producer/sending.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_SLICE_MS       1000   /* a silent pipe delays an interrupt so long */
#define TICK_EVERY          256    /* tasks */
#define TRANSACTION_LONGEST 900000 /* the brokers' default, ms: transaction.max.timeout.ms */

/** All of a source: the tasks that were read, and the faults that were found. */
struct reading {
    struct publishing *p;
    struct batch *batch;
    struct checker *checker;
    int faults;
    struct err first; /* of the first fault */
    int64_t first_line;
};

static void report_fault(struct reading *r, int64_t line, const struct err *err)
{
    if (r->faults++ == 0) {
        r->first = *err;
        r->first_line = line;
    }
    if (r->faults <= PUBLISH_MAX_FAULTS)
        progress_fault(&r->p->progress, staged_name(r->p->origin.staged), line, err);
}

static enum rc count_faults(const struct reading *r, struct err *err)
{
    char object[160];
    (void)snprintf(object, sizeof object, "%s:%" PRId64, staged_name(r->p->origin.staged),
                   r->first_line);
    if (r->faults == 1)
        return err_set(err, RC_REJECT, ERR_USAGE, object, r->first.hint, "%s", r->first.message);
    char more[64] = "";
    if (r->faults > PUBLISH_MAX_FAULTS)
        (void)snprintf(more, sizeof more, "... and %d more. ", r->faults - PUBLISH_MAX_FAULTS);
    return err_set(err, RC_REJECT, ERR_USAGE, object, r->first.hint,
                   "%s%d errors in the staged work, nothing is published. The first: %s", more,
                   r->faults, r->first.message);
}

/** Checks the tasks of a faulty chunk again, in their order, because a helper stops at the first
 * fault. After a fault no task is kept: nothing will be published, and the rest of the source is
 * only read for its faults. */
static void take_chunk(struct reading *r, const struct checker_chunk *chunk)
{
    struct err fault;
    for (int i = 0; i < chunk->count; i++) {
        struct staged_task task = checker_task(chunk, i);
        if (chunk->faulty && staged_check(r->p->origin.staged, &task, &fault) != RC_OK)
            report_fault(r, task.line, &fault);
        else if (r->faults == 0)
            batch_add(r->batch, &task);
    }
    checker_release(r->checker);
}

/** Takes all that was read, so that its faults are reported before anything else happens. */
static void catch_up(struct reading *r)
{
    const struct checker_chunk *chunk;
    checker_give(r->checker);
    while ((chunk = checker_oldest(r->checker)) != NULL)
        take_chunk(r, chunk);
}

/* Tasks that were read and not checked yet are caught up with before a wait: a person at a terminal
 * sees a fault when the line is sent and not at the end of the input. */
static enum rc read_tasks(struct reading *r, struct err *err)
{
    struct publishing *p = r->p;
    struct staged *staged = p->origin.staged;
    struct err fault;
    /* A FETCH of a query cannot be waited for with a time-out (staged_query.c). */
    int slice_ms = staged_may_wait(staged) ? READ_SLICE_MS : -1;
    bool behind = false; /* tasks were read whose faults are not reported yet */
    for (;;) {
        struct staged_task task;
        enum rc rc = staged_read(staged, behind && slice_ms > 0 ? 0 : slice_ms, &task, &fault);
        if (rc == RC_OK) {
            progress_read(&p->progress);
            behind = true;
            if (checker_full(r->checker))
                take_chunk(r, checker_oldest(r->checker));
            checker_add(r->checker, &task);
        } else {
            catch_up(r);
            behind = false;
            if (rc == RC_NONE)
                return RC_OK;
            if (rc == RC_REJECT)
                report_fault(r, staged_line(staged), &fault);
            else if (rc != RC_RETRY) {
                *err = fault;
                return rc;
            }
        }
        if (rc != RC_RETRY && p->progress.read % TICK_EVERY != 0)
            continue;
        if ((rc = publishing_tick(p, err)) != RC_OK) {
            catch_up(r);
            return rc;
        }
    }
}

static enum rc read_all(struct publishing *p, struct batch *batch, struct err *err)
{
    struct reading r = {.p = p, .batch = batch, .checker = checker_open(p->origin.staged)};
    enum rc rc = read_tasks(&r, err);
    checker_close(r.checker);
    if (rc == RC_OK && r.faults > 0)
        return count_faults(&r, err);
    if (rc == RC_OK && batch->count == 0)
        return origin_empty(&p->origin, err);
    return rc;
}

/** Needs the sorted batch. A dry run reports each phase when its last task is counted. */
static int64_t count_phases(const struct publishing *p, const struct batch *batch)
{
    const struct publish_options *options = p->options;
    struct publish_phase phase = {0};
    int64_t phases = 0;
    for (size_t i = 0; i < batch->count; i++) {
        int64_t order = batch->items[i].order;
        if (order != phase.order) {
            phases++;
            phase = (struct publish_phase){.order = order, .previous_order = phase.order};
        }
        phase.tasks++;
        bool last = i + 1 == batch->count || batch->items[i + 1].order != order;
        if (last && options->dry_run && options->phase != NULL)
            options->phase(options->context, &phase);
    }
    return phases;
}

/* The books of a caller know a run that is on the topic and one that is not. They do not know which
 * of its tasks a run with a part on the topic has, so such a run is never made. */
static enum rc refuse_part(const struct publishing *p, const struct batch *batch, struct err *err)
{
    int64_t timeout_ms = target_timeout_ms(&p->target);
    int64_t longer_ms =
        timeout_ms < TRANSACTION_LONGEST / 10 ? timeout_ms * 10 : TRANSACTION_LONGEST;
    char hint[200] = "Send fewer tasks at once, or raise both transaction.timeout.ms and the "
                     "brokers' transaction.max.timeout.ms.";
    if (timeout_ms < longer_ms)
        (void)snprintf(hint, sizeof hint,
                       "Give it more time, as with -X transaction.timeout.ms=%" PRId64
                       ", or send fewer tasks at once.",
                       longer_ms);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, p->target.queue, hint,
                   "%" PRId64 " of %zu tasks were sent in %" PRId64
                   " ms, half of transaction.timeout.ms, and this run must be one transaction: "
                   "nothing is published",
                   p->records.next.seq, batch->count, timeout_ms / 2);
}

/* The broker aborts a transaction that is open for longer than transaction.timeout.ms, so it is
 * committed at half of that and followed by another one. A run with several transactions may be on
 * the topic in part. */
static enum rc end_transaction(struct publishing *p, const struct batch *batch, bool last,
                               struct err *err)
{
    if (p->options->books.begin == NULL)
        return sending_commit(p, err);
    return last ? RC_OK : refuse_part(p, batch, err); /* behind the last task the end is sent */
}

static enum rc send_all(struct publishing *p, const struct batch *batch, struct err *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct staged_task task = batch_task(batch, i);
        enum rc rc = sending_task(p, &task, err);
        /* With each hand-over: librdkafka may have been waited for, and a task may be large. */
        bool handed = p->transaction.outbox.count == 0;
        if (rc == RC_OK && handed)
            rc = publishing_tick(p, err);
        if (rc == RC_OK && handed && transaction_due_us(&p->transaction) <= clock_boot_us())
            rc = end_transaction(p, batch, i + 1 == batch->count, err);
        if (rc != RC_OK)
            return rc;
    }
    /* the source may be shorter than the records that the topic has */
    enum rc rc = resume_verify(p, err);
    return rc == RC_OK ? sending_end(p, false, err) : rc;
}

/** All is read, checked and in order. */
static enum rc send_batch(struct publishing *p, const struct batch *batch, struct err *err)
{
    const struct publish_books *books = &p->options->books;
    const struct transaction_limits limits = {target_timeout_ms(&p->target) * 1000 / 2, INT64_MAX,
                                              SIZE_MAX};
    transaction_limit(&p->transaction, limits);
    enum rc rc = sending_prepare(p, err);
    if (rc == RC_OK && books->begin != NULL)
        rc = books->begin(books->context, err);
    if (rc == RC_OK && !p->resume.wanted)
        rc = sending_start(p, err);
    return rc == RC_OK && p->run.state != RUN_ENDED ? send_all(p, batch, err) : rc;
}

enum rc publish_finite(struct publishing *p, struct err *err)
{
    BATCH_AUTO batch = {0};
    progress_stage(&p->progress, PUBLISH_READING);
    enum rc rc = read_all(p, &batch, err);
    if (rc != RC_OK)
        return rc;
    origin_digest_read(&p->origin);
    rc = resume_check_digest(p, err);
    if (rc != RC_OK)
        return rc;
    batch_sort(&batch);
    progress_total(&p->progress, (int64_t)batch.count);
    run_count(&p->run, (int64_t)batch.count, count_phases(p, &batch));
    return p->options->dry_run ? RC_OK : send_batch(p, &batch, err);
}

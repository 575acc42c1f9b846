/* The steps between the lock and the end of a run, for both kinds of sources. Begin with
 * sending_prepare(): lock, fence, mark the end of the topic, take over, settle. The order matters:
 * a run of a predecessor can be judged only when no record of it can appear any more. */
#include "producer/sending.h"

#include "base/log.h"
#include "base/probe.h"
#include "producer/blocked.h"
#include "producer/rows.h"
#include "task/message.h"
#include "task/message_text.h"

#include <stdio.h>

#define PROBE_EVERY 32 /* records */

enum rc sending_open(struct publishing *p, struct err *err)
{
    progress_stage(&p->progress, PUBLISH_SENDING);
    return transaction_open(&p->transaction, &p->target, err);
}

enum rc sending_mark(struct publishing *p, struct err *err)
{
    struct kafka_open_transaction open;
    enum rc rc = blocked_check(&p->target, &open, err);
    if (rc == RC_OK)
        blocked_report_old(&p->target, &p->progress, &open);
    else if (rc != RC_NONE)
        return rc;
    transaction_mark(&p->transaction, open.end);
    return RC_OK;
}

/* The lock comes before the fencing: a publisher that fenced first would end the open transaction
 * of the one that rightly has the lock. */
enum rc sending_fence(struct publishing *p, struct err *err)
{
    enum rc rc = session_lock(&p->session, &p->target, &p->progress, err);
    if (rc == RC_OK)
        rc = sending_open(p, err);
    if (rc == RC_OK)
        rc = sending_mark(p, err);
    return rc;
}

enum rc sending_prepare(struct publishing *p, struct err *err)
{
    enum rc rc = sending_fence(p, err);
    if (rc == RC_OK)
        rc = publishing_takeover(p, false, err);
    probe("publish.prepared");
    return rc == RC_OK && p->resume.wanted ? resume_settle(p, err) : rc;
}

enum rc sending_start(struct publishing *p, struct err *err)
{
    int64_t end_offset = p->transaction.end_offset;
    enum rc rc = run_start(&p->run, &p->session, &p->target, &p->origin, end_offset, err);
    if (rc != RC_OK)
        return rc;
    records_begin(&p->records, end_offset);
    progress_stage(&p->progress, PUBLISH_SENDING);
    return RC_OK;
}

/** Takes the text in the outbox from start on as the next record of the run. */
static enum rc send(struct publishing *p, size_t start, int tasks, struct err *err)
{
    struct outbox *outbox = &p->transaction.outbox;
    size_t len = outbox->text.len - start;
    enum rc rc = transaction_add(&p->transaction, len, tasks, err);
    if (rc != RC_OK)
        return rc;
    if (p->records.next.seq % PROBE_EVERY == PROBE_EVERY - 1)
        probe("publish.record");
    /* Before outbox_send(), which clears the text that the chain takes. */
    records_add(&p->records, outbox->text.data + start, len);
    return outbox_is_full(outbox) ? transaction_send(&p->transaction, &p->target, err) : RC_OK;
}

/** The topic has the record already. */
static enum rc compare(struct publishing *p, struct err *err)
{
    struct outbox *outbox = &p->transaction.outbox;
    records_add(&p->records, outbox->text.data, outbox->text.len);
    outbox_clear(outbox);
    return p->records.next.seq == p->records.committed.seq ? resume_verify(p, err) : RC_OK;
}

enum rc sending_task(struct publishing *p, const struct staged_task *task, struct err *err)
{
    size_t start = p->transaction.outbox.text.len;
    bool named =
        records_tag(&p->records, &p->run, p->target.limit, task, &p->transaction.outbox.text);
    if (resume_is_behind(&p->resume, &p->records))
        return compare(p, err);
    if (!named)
        progress_notice(&p->progress,
                        "the first task of run %s leaves no room for the name of the run: a "
                        "database that is made again from the topic does not have the name",
                        p->run.id);
    return send(p, start, 1, err);
}

enum rc sending_commit(struct publishing *p, struct err *err)
{
    struct transaction *transaction = &p->transaction;
    if (transaction->state == TRANSACTION_NONE)
        return RC_OK;
    enum rc rc = transaction_commit(transaction, &p->target, &p->session, err);
    if (rc != RC_OK)
        return rc;
    /* The offsets of the run are dense only when no other producer writes to the partition. Then
     * the last offset and the count give the first. */
    int64_t last, count = transaction_acked(transaction, &last);
    bool dense = last - count + 1 == transaction->end_offset;
    records_commit(&p->records, dense ? transaction->end_offset : -1, last);
    return RC_OK;
}

/* The end message is in the same transaction as the last tasks. RUN_ENDING is set before the
 * commit: if its answer is lost, settle.c asks the topic whether the run is complete instead of
 * sending an end again. */
enum rc sending_end(struct publishing *p, bool aborted, struct err *err)
{
    const struct position *next = &p->records.next;
    struct str *text = &p->transaction.outbox.text;
    size_t start = text->len;
    message_end(text, p->run.id, next->seq, aborted ? -1 : next->seq, aborted ? -1 : next->phases,
                aborted);
    probe("publish.ending");
    /* The last moment at which an interrupt can leave the run unpublished. */
    enum rc rc = aborted ? RC_OK : progress_cancelled(&p->progress, err);
    if (rc == RC_OK)
        rc = send(p, start, 0, err);
    if (rc == RC_OK && !aborted)
        run_ending(&p->run);
    if (rc == RC_OK)
        rc = sending_commit(p, err);
    if (rc == RC_OK && !aborted)
        run_ended(&p->run);
    probe("publish.ended");
    return rc;
}

void sending_finish(struct publishing *p)
{
    struct err err;
    const struct position *next = &p->records.next;
    /* The run is on the partition and will be executed whether or not this note is written. */
    if (row_finish(p->session.db, p->target.queue_id, p->run.id, next->seq - 1,
                   p->records.last_offset, next->seq - 1, next->phases,
                   p->origin.digest[0] != '\0' ? p->origin.digest : NULL, &err) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->target.queue, &err);
    probe("publish.finished");
}

/* After a failure: finds out how much of the run is on the topic, and ends the run accordingly.
 * Begin with failed_publish(), which asks in this order: has the run begun? is the lock still ours?
 * is anything in doubt? is all of it there? tests/e2e/publish_kill.sh and publish_producer_test.c
 * stop the publisher at each point. */
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "producer/rows.h"
#include "producer/sending.h"
#include "producer/tail.h"

#include <inttypes.h>
#include <stdio.h>

/** Reads from the topic how far the run has come. The transaction must be ended before, either way.
 */
static enum rc settle(struct publishing *p, struct err *err)
{
    const struct records *records = &p->records;
    struct tail tail = {.next_seq = records->committed.seq, .chain = records->committed.chain};
    enum rc rc =
        tail_read(&p->target, &p->progress, records->settled_offset + 1, p->run.id, &tail, err);
    if (rc != RC_OK)
        return rc;
    transaction_settled(&p->transaction);
    records_settle(&p->records, tail.next_seq, &tail.chain, tail.last_offset);
    return RC_OK;
}

/** Ends the open transaction. fenced: Kafka has ended it already. Another producer may have the
 * transactional id, which must not be taken from that one. */
static void drop_open(struct publishing *p, bool fenced)
{
    struct err why;
    transaction_drop(&p->transaction);
    if (p->transaction.state != TRANSACTION_DOUBT)
        return;
    /* A producer whose commit or abort failed cannot be used again. Opening a new one with the same
     * id makes the coordinator end the open transaction before it answers (InitProducerId). */
    transaction_close(&p->transaction);
    enum rc rc = fenced ? RC_OK : sending_open(p, &why); /* which ends what was open */
    if (rc == RC_OK)
        rc = settle(p, &why);
    if (rc != RC_OK)
        log_err(LOG_WARN, "publish_settle_failed", p->target.queue, &why);
}

/** Nothing of the run is on the partition. No executor will meet the run, so only this row can end
 * it. */
static void cancel(struct publishing *p, const struct err *err)
{
    struct err why;
    if (row_cancel(p->session.db, p->target.queue_id, p->run.id, err->message, &why) != RC_OK)
        log_err(LOG_WARN, "publish_cancel_failed", p->target.queue, &why);
}

/** A note that fails is only logged: the end on the topic decides, and the next publisher finds it
 * there (takeover.c). */
static void note_aborted(struct publishing *p, const struct err *err)
{
    struct err why;
    if (row_abort(p->session.db, p->target.queue_id, p->run.id, p->records.next.seq - 1,
                  p->records.settled_offset, err->message, &why) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->target.queue, &why);
}

/* How the run is continued. A caller that keeps books about its run finds out by itself, and its
 * source may be none that another process can open. */
static void hint_continue(const struct publishing *p, bool doubted, struct err *err)
{
    const char *queue = p->target.queue, *run = p->run.id;
    if (p->options->books.begin != NULL)
        (void)snprintf(err->hint, sizeof err->hint,
                       "Run the same command again: it finds out what became of this run.");
    else if (origin_is_piped(&p->origin))
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_PIPED, queue, run, run);
    else if (doubted)
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_DOUBT, queue, run);
    else
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_RESUME, queue, run);
}

static void report_resumable(const struct publishing *p, const char *why, struct err *err)
{
    (void)snprintf(err->detail, sizeof err->detail,
                   "%sRun %s has %" PRId64 " tasks on the topic and is not ended.", why, p->run.id,
                   p->records.committed.seq);
    hint_continue(p, false, err);
}

/** A part is on the partition: its executors must learn that no more comes. */
static void end_aborted(struct publishing *p, bool fenced, struct err *err)
{
    struct err why;
    /* Records behind the committed ones were aborted. The end must have the next seq that readers
     * expect, or they report a gap. */
    records_rewind(&p->records);
    run_count(&p->run, p->records.committed.seq, p->records.committed.phases);
    if (fenced) {
        report_resumable(p, "", err);
        return;
    }
    if (sending_end(p, true, &why) == RC_OK) {
        note_aborted(p, err);
        (void)snprintf(err->detail, sizeof err->detail,
                       "%" PRId64 " tasks of run %s were published before; the run is ended as "
                       "aborted.",
                       p->run.tasks, p->run.id);
        return;
    }
    log_err(LOG_WARN, "publish_abort_failed", p->target.queue, &why);
    report_resumable(p, "The run could not be ended. ", err);
}

/** How long the transaction has been open, if that is longer than the broker allows, else 0. */
static int64_t overdue_ms(const struct publishing *p)
{
    int64_t open_ms = (clock_boot_us() - p->transaction.begun_us) / 1000;
    return p->transaction.state != TRANSACTION_NONE && open_ms >= target_timeout_ms(&p->target)
               ? open_ms
               : 0;
}

/** Replaces the error of a fenced producer by one with a remedy, and keeps the code of librdkafka,
 * which reports a fence with several codes (kafka/error.c). The coordinator fences a producer for
 * two reasons: another one has taken its transactional id, or its transaction was open for too
 * long. */
static bool see_fenced(const struct publishing *p, enum rc rc, struct err *err)
{
    if (rc != RC_LOST || err->kind != ERR_HELD)
        return false;
    int64_t open_ms = overdue_ms(p);
    char code[sizeof err->code];
    (void)snprintf(code, sizeof code, "%s", err->code);
    if (open_ms > 0)
        (void)err_set(err, rc, ERR_HELD, p->target.queue,
                      "Publish again, with a longer transaction.timeout.ms if Kafka or this host "
                      "is slow (-X transaction.timeout.ms=N).",
                      "Kafka has aborted the transaction (%s): it was open for %" PRId64
                      " ms, and transaction.timeout.ms is %" PRId64,
                      code, open_ms, target_timeout_ms(&p->target));
    else
        (void)err_set(
            err, rc, ERR_HELD, p->target.queue,
            "End the other producer, which does not hold this database's lock: two queues "
            "of one name must not share a Kafka cluster.",
            "another producer has taken over the transactional id lockstep.%s (%s): this "
            "one may not publish any more",
            p->target.queue, code);
    err_code(err, code);
    return true;
}

static void report_lost(struct publishing *p, const struct err *why, struct err *err)
{
    char text[900];
    session_lost(&p->session);
    (void)snprintf(text, sizeof text,
                   "The session that held the lock of the queue's producers is lost: %.500s ",
                   why->message);
    report_resumable(p, text, err);
}

/** The caller does not learn a count of tasks: the topic could not be read to its end. */
static void report_doubt(const struct publishing *p, struct err *err)
{
    (void)snprintf(err->detail, sizeof err->detail,
                   "It is not known how much of run %s came onto the topic.", p->run.id);
    hint_continue(p, true, err);
}

/** All of it came onto the topic: only the answer to the last commit was lost. */
static bool is_complete(const struct publishing *p)
{
    const struct records *records = &p->records;
    return p->run.state == RUN_ENDING && records->committed.seq == records->next.seq &&
           records->next.seq > 0;
}

enum rc failed_publish(struct publishing *p, enum rc rc, struct err *err)
{
    struct err why;
    bool fenced = see_fenced(p, rc, err);
    if (!run_is_started(&p->run) || resume_is_open(&p->resume))
        return rc;
    probe("publish.failing");
    if (session_check(&p->session, &why) != RC_OK) {
        /* Not the queue's producer any more: a successor may be at work, so only what is ours is
         * dropped. */
        report_lost(p, &why, err);
        return rc;
    }
    drop_open(p, fenced);
    if (p->transaction.state == TRANSACTION_DOUBT) {
        report_doubt(p, err);
        return rc;
    }
    if (is_complete(p)) {
        run_ended(&p->run);
        return RC_OK;
    }
    if (p->records.committed.seq == 0)
        cancel(p, err);
    else
        end_aborted(p, fenced, err);
    return rc;
}

/* Ends the runs whose producers are gone, before the next run of the queue is published. Begin with
 * publishing_takeover(); close_run() has the cases. The caller has the lock and has fenced the
 * predecessor, so the topic's end is final. */
#include "producer/takeover.h"

#include "base/probe.h"
#include "base/remedies.h"
#include "producer/rows.h"
#include "producer/sending.h"
#include "producer/tail.h"
#include "task/message.h"
#include "task/message_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMIT_MS 60000

/* A run whose producer was killed would keep the runs behind it waiting for ever, so the next
 * producer ends it, unless it resumes that run or has the option to refuse. */

/* The end says `aborted` and has no counts, so no executor takes the run for complete. It is sent
 * before the row is written: executors judge by the topic. */
static enum rc send_end(struct publishing *p, const char *run, struct tail *tail, struct err *err)
{
    STR_AUTO record = {0};
    message_end(&record, run, tail->next_seq, -1, -1, true);
    struct kafka_producer *producer = p->transaction.producer;
    enum rc rc = kafka_begin(producer, err);
    if (rc == RC_OK)
        rc = kafka_publish(producer, p->target.topic, p->target.partition, NULL, 0, record.data,
                           record.len, NULL, err);
    probe("takeover.committing");
    if (rc == RC_OK)
        rc = kafka_commit(producer, COMMIT_MS, err);
    probe("takeover.committed");
    int64_t count;
    kafka_producer_acked(producer, &count, &tail->last_offset);
    return rc;
}

/* Nothing of the run is on the topic, so an end message would open a run that never was; the row
 * alone is cancelled. */
static enum rc cancel(struct publishing *p, const char *run, struct err *err)
{
    progress_notice(&p->progress,
                    "run %s, whose producer ended before anything of it was published, is "
                    "Cancelled",
                    run);
    return row_cancel(p->session.db, p->target.queue_id, run,
                      "its producer ended before anything was published", err);
}

static enum rc finish(struct publishing *p, const char *run, const struct tail *tail,
                      struct err *err)
{
    return row_finish(p->session.db, p->target.queue_id, run, tail->next_seq - 1, tail->last_offset,
                      tail->tasks, tail->phases, NULL, err);
}

static enum rc refuse(const struct publishing *p, const char *run, bool piped,
                      const struct tail *tail, struct err *err)
{
    (void)err_set(err, RC_RETRY, ERR_HELD, p->target.queue, NULL,
                  "run %s is unfinished: its producer ended after %" PRId64 " tasks", run,
                  tail->next_seq);
    if (piped)
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_PIPED, p->target.queue, run, run);
    else
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_UNFINISHED, p->target.queue, run,
                       run);
    return RC_RETRY;
}

static enum rc abort_run(struct publishing *p, const char *run, struct tail *tail, struct err *err)
{
    int64_t tasks = tail->next_seq - tail->ended;
    /* An end that a predecessor sent is not sent twice. */
    if (!tail->ended) {
        enum rc rc = send_end(p, run, tail, err);
        if (rc != RC_OK)
            return rc;
        tail_ends(tail);
    }
    progress_notice(&p->progress,
                    "run %s, whose producer ended after %" PRId64 " tasks, is closed as aborted; "
                    "publish --resume continues such a run, a new run closes it",
                    run, tasks);
    return row_abort(p->session.db, p->target.queue_id, run, tail->next_seq - 1, tail->last_offset,
                     "its producer ended before all was published", err);
}

/* The topic decides between four cases: nothing of the run is there (cancelled), all of it is there
 * and only the note is missing (finished), it is there in part (aborted, or refused if the caller
 * asked for that), or it was ended as aborted and only the note is missing. */
static enum rc close_run(struct publishing *p, const struct db_result *runs, int i, struct err *err)
{
    const char *run = db_text(runs, i, PUBLISH_ABANDONED_RUN_ID);
    int64_t acked_seq = db_int(runs, i, PUBLISH_ABANDONED_PUBLISH_ACKED_SEQ);
    int64_t acked_offset = db_int(runs, i, PUBLISH_ABANDONED_PUBLISH_ACKED_OFFSET);
    bool piped = db_bool(runs, i, PUBLISH_ABANDONED_PIPED);
    struct tail tail = {.next_seq = acked_seq + 1};
    int64_t low, high, from = acked_offset + 1;
    enum rc rc = target_ends(&p->target, &low, &high, err);
    if (rc != RC_OK)
        return rc;
    /* Retention has deleted its records, or the topic was created again: other runs can still be
     * published. */
    if (from < low || from > high)
        from = low;
    rc = tail_read(&p->target, &p->progress, from, run, &tail, err);
    if (rc != RC_OK)
        return rc;
    if (tail.next_seq == 0)
        return cancel(p, run, err);
    if (tail.ended && !tail.aborted)
        return finish(p, run, &tail, err);
    if (!tail.ended && p->options->refuse_unfinished)
        return refuse(p, run, piped, &tail, err);
    return abort_run(p, run, &tail, err);
}

enum rc publishing_takeover(struct publishing *p, bool without_exception, struct err *err)
{
    DB_RESULT_AUTO *runs = NULL;
    const char *const params[] = {DB_INT(p->target.queue_id),
                                  p->resume.wanted && !without_exception ? p->run.id : NULL};
    enum rc rc = db_run(p->session.db, &sql_publish_abandoned, params, &runs, err);
    /* Counted, because an end that this loop sends lies behind the mark of our own run. */
    int64_t before, count, last;
    kafka_producer_acked(p->transaction.producer, &before, &last);
    for (int i = 0; rc == RC_OK && i < db_rows(runs); i++)
        rc = close_run(p, runs, i, err);
    kafka_producer_acked(p->transaction.producer, &count, &last);
    if (rc == RC_OK && count > before) /* our own run begins behind what was sent here */
        rc = sending_mark(p, err);
    return rc;
}

enum rc producer_takeover(const struct producer_place *place, struct err *err)
{
    const struct publish_options options = {.queue = place->queue, .kafka = place->kafka};
    struct publishing p = {.options = &options,
                           .target = target_known(place->queue, place->kafka, place->queue_id,
                                                  place->topic, place->partition),
                           .session = session_borrowed(place->db),
                           .transaction = transaction_borrowed(place->producer)};
    publishing_reports(&p, &options);
    return publishing_takeover(&p, true, err);
}

#include "producer/publishing.h"
#include "producer/tail.h"

#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"

#include <inttypes.h>
#include <stdio.h>

#define ABORT_WAIT_MS 10000
#define FLUSH_WAIT_MS 2000

/** How far the run has come, once its transaction is ended one way or the other. */
static enum rc settle(struct publishing *p, struct err *err)
{
    struct tail tail = {.next_seq = p->committed, .chain = p->committed_chain};
    enum rc rc = tail_read(p, p->settled_offset + 1, p->run, &tail, err);
    p->in_doubt = rc != RC_OK;
    p->in_transaction = false;
    if (rc != RC_OK)
        return rc;
    p->committed = tail.next_seq;
    p->committed_chain = tail.chain;
    if (tail.last_offset >= 0)
        p->settled_offset = p->result->last_offset = tail.last_offset;
    return RC_OK;
}

/** Taking the transactional id anew ends what was open. Whoever has taken it from us has done so already, and must not lose
 * it to us. */
static enum rc reopen(struct publishing *p, struct err *err)
{
    kafka_producer_close(p->producer);
    p->producer = NULL;
    return p->fenced ? RC_OK : sending_open(p, err);
}

static void drop_open(struct publishing *p)
{
    struct err why;
    sending_forget(p);
    /* librdkafka 2.0.2 ends a transaction that the broker has not heard of yet with a fatal error; a flush makes it known. */
    if (p->in_transaction && !p->in_doubt)
        (void)!kafka_flush(p->producer, FLUSH_WAIT_MS, &why);
    if (p->in_transaction && !p->in_doubt)
        p->in_doubt = kafka_abort(p->producer, ABORT_WAIT_MS, &why) != RC_OK;
    if (!p->in_doubt) {
        p->in_transaction = false;
        return;
    }
    if (reopen(p, &why) != RC_OK || settle(p, &why) != RC_OK)
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
                                  DB_INT(p->settled_offset), err->message};
    if (db_run(p->db, &sql_publish_abort, params, NULL, &why) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->options->queue, &why);
}

static void tell_resumable(const struct publishing *p, const char *why, struct err *err)
{
    (void)snprintf(err->detail, sizeof err->detail,
                   "%sRun %s has %" PRId64 " tasks on the topic and is not ended.", why, p->run,
                   p->committed);
    (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_RESUME, p->options->queue, p->run);
}

/** A part is on the partition: its executors must learn that no more comes. */
static void end_aborted(struct publishing *p, struct err *err)
{
    struct err why;
    p->seq = p->committed;
    p->chain = p->committed_chain;
    p->result->tasks = p->committed;
    p->result->phases = p->committed_phases;
    if (p->fenced) {
        tell_resumable(p, "", err);
        return;
    }
    if (sending_end(p, true, &why) == RC_OK) {
        note_aborted(p, err);
        (void)snprintf(err->detail, sizeof err->detail,
                       "%" PRId64 " tasks of run %s were published before; the run is ended as "
                       "aborted.",
                       p->result->tasks, p->run);
        return;
    }
    log_err(LOG_WARN, "publish_abort_failed", p->options->queue, &why);
    tell_resumable(p, "The run could not be ended. ", err);
}

/** Fenced: librdkafka says it in many ways. */
static void see_fenced(struct publishing *p, enum rc rc, struct err *err)
{
    p->fenced = rc == RC_LOST && err->kind == ERR_HELD;
    if (!p->fenced)
        return;
    char code[sizeof err->code];
    (void)snprintf(code, sizeof code, "%s", err->code);
    (void)err_set(
        err, rc, ERR_HELD, p->options->queue,
        "find the other one: it is not under this database's lock. Two queues of one name "
        "must not share a Kafka cluster",
        "Another producer has taken over the transactional id lockstep.%s (%s): this one "
        "may not publish any more.",
        p->options->queue, code);
    err_code(err, code);
}

static void tell_lost(struct publishing *p, const struct err *why, struct err *err)
{
    char text[900];
    p->locked = false;
    (void)snprintf(text, sizeof text,
                   "The session that held the lock of the queue's producers is lost: %.500s ",
                   why->message);
    tell_resumable(p, text, err);
}

enum rc failed_publish(struct publishing *p, enum rc rc, struct err *err)
{
    struct err why;
    see_fenced(p, rc, err);
    if (!p->row_written || (p->resume.wanted && !p->resume.verified))
        return rc;
    probe("publish.failing");
    if (db_run(p->db, &sql_publish_alive, NULL, NULL, &why) != RC_OK) {
        /* Not the queue's producer any more: a successor may be at work, so only what is ours is
         * dropped. */
        tell_lost(p, &why, err);
        return rc;
    }
    drop_open(p);
    if (p->in_doubt) {
        (void)snprintf(err->detail, sizeof err->detail,
                       "It is not known how much of run %s came onto the topic.", p->run);
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_DOUBT, p->options->queue, p->run);
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

#include "producer/publishing.h"
#include "producer/takeover.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATERMARK_WAIT_MS 15000
#define PROBE_EVERY       32                            /* records */
#define FIRST_BYTES       (6 * PUBLISH_NAME_BYTES + 64) /* what a first record has beyond its tags */
#define OUTBOX_BYTES      (256 * 1024)

enum rc sending_high(const struct publishing *p, int64_t *ret_high, struct err *err)
{
    struct kafka_admin *admin;
    int64_t low;
    enum rc rc = kafka_admin_open(p->options->kafka, &admin, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_watermarks(admin, p->topic, p->partition, WATERMARK_WAIT_MS, &low, ret_high, err);
    kafka_admin_close(admin);
    return rc;
}

enum rc sending_open(struct publishing *p, struct err *err)
{
    char id[128];
    producer_id(p->options->queue, id, sizeof id);
    tick_stage(p, PUBLISH_SENDING);
    probe("publish.fencing");
    enum rc rc = kafka_producer_open(p->options->kafka, id, KAFKA_WAIT_MS, &p->producer, err);
    if (rc == RC_OK)
        rc = kafka_producer_meet(p->producer, p->topic, KAFKA_WAIT_MS, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.fenced");
    p->acked_before = 0;
    return RC_OK;
}

enum rc sending_mark(struct publishing *p, struct err *err)
{
    struct kafka_open_transaction open;
    int64_t last;
    enum rc rc = blocked_look(p, &open, err);
    if (rc == RC_OK)
        blocked_tell_old(p, &open);
    else if (rc != RC_NONE)
        return rc;
    p->high = open.end;
    kafka_producer_acked(p->producer, &p->acked_before, &last);
    return RC_OK;
}

enum rc sending_prepare(struct publishing *p, struct err *err)
{
    enum rc rc = publishing_lock(p, err);
    if (rc == RC_OK)
        rc = sending_open(p, err);
    if (rc == RC_OK)
        rc = sending_mark(p, err);
    if (rc == RC_OK)
        rc = publishing_takeover(p, false, err);
    probe("publish.prepared");
    return rc == RC_OK && p->resume.wanted ? resume_settle(p, err) : rc;
}

enum rc sending_exists(const struct publishing *p, struct err *err)
{
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_THERE, p->run);
    return err_set(err, RC_REJECT, ERR_USAGE, p->run, hint,
                   "A run with this id exists in queue %s already.", p->options->queue);
}

enum rc sending_start(struct publishing *p, struct err *err)
{
    char path[4096];
    const char *source, *from = sending_source(p, path, &source);
    bool repeatable = p->digest[0] != '\0';
    const char *const params[] = {DB_INT(p->queue_id),
                                  p->run,
                                  p->name,
                                  p->on_failure,
                                  p->stream ? "stream" : "finite",
                                  from,
                                  source,
                                  staged_format_name(p->staged),
                                  repeatable ? p->digest : NULL,
                                  repeatable ? DB_INT(p->digest_bytes) : NULL,
                                  DB_INT(p->high - 1)};
    probe("publish.starting");
    enum rc rc = db_run(p->db, &sql_publish_start, params, NULL, err);
    if (rc == RC_NONE)
        return sending_exists(p, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.started");
    p->row_written = true;
    p->settled_offset = p->high - 1;
    p->noted_us = clock_boot_us();
    (void)snprintf(p->result->run, sizeof p->result->run, "%s", p->run);
    tick_stage(p, PUBLISH_SENDING);
    return RC_OK;
}

const char *sending_source(const struct publishing *p, char ret_path[4096], const char **ret_source)
{
    *ret_source = p->query;
    if (p->query != NULL)
        return "query";
    if (p->digest[0] == '\0')
        return "pipe";
    *ret_source = realpath(p->path, ret_path) != NULL ? ret_path : p->path;
    return "file";
}

void sending_forget(struct publishing *p)
{
    str_clear(&p->outbox);
    p->outbox_count = 0;
}

enum rc sending_outbox(struct publishing *p, struct err *err)
{
    if (p->outbox_count == 0)
        return RC_OK;
    struct kafka_value values[KAFKA_MOST_VALUES];
    for (int i = 0; i < p->outbox_count; i++) {
        size_t start = i > 0 ? p->outbox_ends[i - 1] : 0;
        values[i] = (struct kafka_value){p->outbox.data + start, p->outbox_ends[i] - start};
    }
    enum rc rc =
        kafka_publish_values(p->producer, p->topic, p->partition, values, p->outbox_count, err);
    p->in_doubt = rc != RC_OK;
    sending_forget(p);
    return rc;
}

static bool outbox_full(const struct publishing *p)
{
    return p->outbox_count == KAFKA_MOST_VALUES || p->outbox.len >= OUTBOX_BYTES;
}

/** Takes what stands in the outbox from start on as the next record of the run. */
static enum rc send(struct publishing *p, size_t start, struct err *err)
{
    const char *record = p->outbox.data + start;
    size_t len = p->outbox.len - start;
    if (!p->in_transaction) {
        enum rc rc = kafka_begin(p->producer, err);
        if (rc != RC_OK)
            return rc;
        p->in_transaction = true;
        p->begun_us = clock_boot_us();
        p->transaction_bytes = 0;
        p->transaction_tasks = 0;
        probe("publish.begun");
    }
    p->outbox_ends[p->outbox_count++] = p->outbox.len;
    if (p->seq % PROBE_EVERY == PROBE_EVERY - 1)
        probe("publish.record");
    p->seq++;
    p->transaction_bytes += len;
    chain_add(&p->chain, record, len);
    return outbox_full(p) ? sending_outbox(p, err) : RC_OK;
}

enum rc sending_task(struct publishing *p, const struct staged_task *task, struct err *err)
{
    if (task->order != p->order) {
        p->previous_order = p->order;
        p->order = task->order;
        p->phases++;
    }
    size_t start = p->outbox.len;
    if (p->seq == 0 && task->len + FIRST_BYTES <= p->limit) /* else it would be too long */
        message_tag_first(&p->outbox, task->text, task->len, p->run, p->previous_order, p->name,
                          p->on_failure);
    else
        message_tag(&p->outbox, task->text, task->len, p->run, p->seq, p->previous_order);
    if (p->seq < p->resume.seq) { /* on the topic already */
        chain_add(&p->chain, p->outbox.data, p->outbox.len);
        sending_forget(p);
        return ++p->seq == p->resume.seq ? resume_verify(p, err) : RC_OK;
    }
    p->transaction_tasks++;
    return send(p, start, err);
}

/** Offsets are known to be dense only if nobody else writes; then the last one and the count tell
 * the first. */
static void note_offsets(struct publishing *p)
{
    int64_t count, last;
    kafka_producer_acked(p->producer, &count, &last);
    p->result->last_offset = p->settled_offset = last;
    if (p->committed == 0 && last - (count - p->acked_before) + 1 == p->high)
        p->result->first_offset = p->high;
}

enum rc sending_commit(struct publishing *p, struct err *err)
{
    if (!p->in_transaction)
        return RC_OK;
    enum rc rc = sending_outbox(p, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.flushing");
    rc = kafka_flush(p->producer, KAFKA_WAIT_MS, err);
    p->in_doubt = rc != RC_OK;
    /* The lock is asked for once more: a successor must not meet a commit that comes after it. */
    if (rc == RC_OK && p->locked)
        rc = db_run(p->db, &sql_publish_alive, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.committing");
    rc = kafka_commit(p->producer, KAFKA_WAIT_MS, err);
    if (rc != RC_OK) {
        p->in_doubt = true;
        return rc;
    }
    probe("publish.committed");
    p->in_transaction = false;
    note_offsets(p);
    p->committed = p->seq;
    p->committed_phases = p->phases;
    p->committed_chain = p->chain;
    return RC_OK;
}

enum rc sending_end(struct publishing *p, bool aborted, struct err *err)
{
    size_t start = p->outbox.len;
    message_end(&p->outbox, p->run, p->seq, aborted ? -1 : p->seq, aborted ? -1 : p->phases,
                aborted);
    probe("publish.ending");
    enum rc rc = aborted ? RC_OK : tick_cancelled(p, err); /* the last moment for it */
    if (rc == RC_OK)
        rc = send(p, start, err);
    p->ending = rc == RC_OK && !aborted;
    if (rc == RC_OK)
        rc = sending_commit(p, err);
    p->ended = rc == RC_OK && !aborted;
    probe("publish.ended");
    return rc;
}

void sending_finish(struct publishing *p)
{
    struct err err;
    const char *const params[] = {DB_INT(p->queue_id),
                                  p->run,
                                  DB_INT(p->seq - 1),
                                  DB_INT(p->result->last_offset),
                                  DB_INT(p->seq - 1),
                                  DB_INT(p->phases),
                                  p->digest[0] != '\0' ? p->digest : NULL};
    /* The run is on the partition and will be executed whether or not this note is written. */
    if (db_run(p->db, &sql_publish_finish, params, NULL, &err) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->options->queue, &err);
    probe("publish.finished");
}

#include "producer/publishing.h"

#include "base/clock.h"
#include "base/log.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WATERMARK_WAIT_MS 15000

/** The high watermark after the predecessor's transaction is settled: no record of this run lies
 * below it. */
enum rc sending_high(struct publishing *p, struct err *err)
{
    struct kafka_admin *admin;
    int64_t low;
    enum rc rc = kafka_admin_open(p->options->kafka, &admin, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_watermarks(admin, p->topic, p->partition, WATERMARK_WAIT_MS, &low, &p->high, err);
    kafka_admin_close(admin);
    int64_t last;
    kafka_producer_acked(p->producer, &p->acked_before, &last);
    return rc;
}

enum rc sending_open(struct publishing *p, struct err *err)
{
    char id[128];
    (void)snprintf(id, sizeof id, "lockstep.%s", p->options->queue);
    tick_stage(p, PUBLISH_SENDING);
    enum rc rc = kafka_producer_open(p->options->kafka, id, KAFKA_WAIT_MS, &p->producer, err);
    return rc == RC_OK ? sending_high(p, err) : rc;
}

enum rc sending_exists(const struct publishing *p, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, p->run,
                   "leave --run out for a new run; lockstep run show RUN shows the one that is "
                   "there, lockstep run retry RUN repeats what failed in it",
                   "A run with this id exists in queue %s already.", p->options->queue);
}

enum rc sending_start(struct publishing *p, struct err *err)
{
    const char *const params[] = {DB_INT(p->queue_id),
                                  p->run,
                                  p->options->name,
                                  p->on_failure,
                                  p->digest[0] != '\0' ? p->digest : NULL,
                                  DB_INT(p->high - 1)};
    enum rc rc = db_run(p->db, &sql_publish_start, params, NULL, err);
    if (rc == RC_NONE)
        return sending_exists(p, err);
    if (rc != RC_OK)
        return rc;
    p->row_written = true;
    p->noted_us = clock_boot_us();
    (void)snprintf(p->result->run, sizeof p->result->run, "%s", p->run);
    tick_stage(p, PUBLISH_SENDING);
    return RC_OK;
}

static enum rc send(struct publishing *p, struct err *err)
{
    if (!p->in_transaction) {
        enum rc rc = kafka_begin(p->producer, err);
        if (rc != RC_OK)
            return rc;
        p->in_transaction = true;
        p->begun_us = clock_boot_us();
        p->transaction_bytes = 0;
        p->transaction_tasks = 0;
    }
    enum rc rc = kafka_publish(p->producer, p->topic, p->partition, NULL, 0, p->record.data,
                               p->record.len, NULL, err);
    if (rc != RC_OK)
        return rc;
    p->seq++;
    p->transaction_bytes += p->record.len;
    return RC_OK;
}

enum rc sending_task(struct publishing *p, const struct staged_task *task, struct err *err)
{
    if (task->order != p->order) {
        p->previous_order = p->order;
        p->order = task->order;
        p->phases++;
    }
    str_clear(&p->record);
    message_tag(&p->record, task->text, task->len, p->run, p->seq, p->previous_order);
    p->transaction_tasks++;
    return send(p, err);
}

/** Offsets are known to be dense only if nobody else writes; then the last one and the count tell
 * the first. */
static void note_offsets(struct publishing *p)
{
    int64_t count, last;
    kafka_producer_acked(p->producer, &count, &last);
    p->result->last_offset = last;
    if (p->committed == 0 && last - (count - p->acked_before) + 1 == p->high)
        p->result->first_offset = p->high;
}

enum rc sending_commit(struct publishing *p, struct err *err)
{
    if (!p->in_transaction)
        return RC_OK;
    enum rc rc = kafka_commit(p->producer, KAFKA_WAIT_MS, err);
    if (rc != RC_OK) {
        p->in_doubt = true;
        return rc;
    }
    p->in_transaction = false;
    note_offsets(p);
    p->committed = p->seq;
    p->committed_phases = p->phases;
    return RC_OK;
}

enum rc sending_end(struct publishing *p, bool aborted, struct err *err)
{
    str_clear(&p->record);
    message_end(&p->record, p->run, p->seq, aborted ? -1 : p->seq, aborted ? -1 : p->phases,
                aborted);
    p->ending = !aborted;
    enum rc rc = send(p, err);
    /* The lock is asked for once more: a successor must not meet a commit that comes after it. */
    if (rc == RC_OK && p->locked)
        rc = db_run(p->db, &sql_publish_alive, NULL, NULL, err);
    if (rc == RC_OK)
        rc = sending_commit(p, err);
    p->ended = rc == RC_OK && !aborted;
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
}

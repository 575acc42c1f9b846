#include "producer/publishing.h"
#include "producer/tail.h"

#include "base/log.h"
#include "task/message.h"

#include <string.h>

/* A run whose producer was killed would keep the runs behind it waiting for ever. */

static enum rc send_end(struct publishing *p, const char *run, struct tail *tail, struct err *err)
{
    str_clear(&p->record);
    message_end(&p->record, run, tail->next_seq, -1, -1, true);
    enum rc rc = kafka_begin(p->producer, err);
    if (rc == RC_OK)
        rc = kafka_publish(p->producer, p->topic, p->partition, NULL, 0, p->record.data,
                           p->record.len, NULL, err);
    if (rc == RC_OK)
        rc = kafka_commit(p->producer, KAFKA_WAIT_MS, err);
    int64_t count;
    kafka_producer_acked(p->producer, &count, &tail->last_offset);
    return rc;
}

static enum rc close_run(struct publishing *p, const char *run, int64_t acked_seq,
                         int64_t acked_offset, struct err *err)
{
    struct tail tail = {.next_seq = acked_seq + 1};
    enum rc rc =
        tail_read(p->options->kafka, p->topic, p->partition, acked_offset + 1, run, &tail, err);
    if (rc != RC_OK) { /* e.g. retention has eaten it: no reason not to publish something else */
        log_err(LOG_WARN, "publish_takeover_failed", p->options->queue, err);
        return RC_OK;
    }
    if (tail.next_seq == 0) {
        const char *const params[] = {DB_INT(p->queue_id), run,
                                      "its producer ended before anything was published"};
        return db_run(p->db, &sql_publish_cancel, params, NULL, err);
    }
    if (!tail.ended) {
        rc = send_end(p, run, &tail, err);
        if (rc != RC_OK)
            return rc;
        log_event(LOG_WARN, "publish_aborted", "queue", p->options->queue, "run", run, "tasks",
                  LOG_INT(tail.next_seq), NULL);
        tail.next_seq++;
    }
    const char *const params[] = {DB_INT(p->queue_id), run, DB_INT(tail.next_seq - 1),
                                  DB_INT(tail.last_offset),
                                  "its producer ended before all was published or noted"};
    return db_run(p->db, &sql_publish_abort, params, NULL, err);
}

enum rc publishing_takeover(struct publishing *p, struct err *err)
{
    DB_RESULT_AUTO *runs = NULL;
    enum rc rc = db_run(p->db, &sql_publish_abandoned, (const char *const[]){DB_INT(p->queue_id)},
                        &runs, err);
    int64_t before, count, last;
    kafka_producer_acked(p->producer, &before, &last);
    for (int i = 0; rc == RC_OK && i < db_rows(runs); i++)
        rc = close_run(p, db_text(runs, i, 0), db_int(runs, i, 1), db_int(runs, i, 2), err);
    kafka_producer_acked(p->producer, &count, &last);
    if (rc == RC_OK && count > before) /* our own run begins behind what was sent here */
        rc = sending_high(p, err);
    return rc;
}

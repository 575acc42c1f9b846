#include "producer/takeover.h"

#include "producer/publishing.h"
#include "producer/tail.h"

#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OF_RELAY ".relay"

void producer_id(const char *queue, char *ret_id, size_t size)
{
    size_t len = strlen(queue), end = strlen(OF_RELAY);
    bool meets = len >= end && strcmp(queue + len - end, OF_RELAY) == 0;
    (void)snprintf(ret_id, size, "lockstep.%s%s", queue, meets ? ":" : "");
}

/* A run whose producer was killed would keep the runs behind it waiting for ever, so the next producer ends it, unless it is
 * the one that resumes it or was told to refuse. */

static enum rc send_end(struct publishing *p, const char *run, struct tail *tail, struct err *err)
{
    STR_AUTO record = {0};
    message_end(&record, run, tail->next_seq, -1, -1, true);
    enum rc rc = kafka_begin(p->producer, err);
    if (rc == RC_OK)
        rc = kafka_publish(p->producer, p->topic, p->partition, NULL, 0, record.data, record.len,
                           NULL, err);
    probe("takeover.committing");
    if (rc == RC_OK)
        rc = kafka_commit(p->producer, KAFKA_WAIT_MS, err);
    probe("takeover.committed");
    int64_t count;
    kafka_producer_acked(p->producer, &count, &tail->last_offset);
    return rc;
}

static enum rc cancel(struct publishing *p, const char *run, struct err *err)
{
    const char *const params[] = {DB_INT(p->queue_id), run,
                                  "its producer ended before anything was published"};
    publish_notice(p,
                   "run %s, whose producer ended before anything of it was published, is "
                   "Cancelled",
                   run);
    return db_run(p->db, &sql_publish_cancel, params, NULL, err);
}

static enum rc finish(struct publishing *p, const char *run, const struct tail *tail,
                      struct err *err)
{
    const char *const params[] = {DB_INT(p->queue_id),
                                  run,
                                  DB_INT(tail->next_seq - 1),
                                  DB_INT(tail->last_offset),
                                  DB_INT(tail->tasks),
                                  DB_INT(tail->phases),
                                  NULL};
    return db_run(p->db, &sql_publish_finish, params, NULL, err);
}

static enum rc refuse(const struct publishing *p, const char *run, const struct tail *tail,
                      struct err *err)
{
    (void)err_set(err, RC_RETRY, ERR_HELD, p->options->queue, NULL,
                  "Run %s is unfinished: its producer ended after %" PRId64 " tasks.", run,
                  tail->next_seq);
    (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_UNFINISHED, p->options->queue, run, run);
    return RC_RETRY;
}

static enum rc abort_run(struct publishing *p, const char *run, struct tail *tail, struct err *err)
{
    int64_t tasks = tail->next_seq - tail->ended;
    if (!tail->ended) {
        enum rc rc = send_end(p, run, tail, err);
        if (rc != RC_OK)
            return rc;
        tail->next_seq++;
    }
    publish_notice(p,
                   "run %s, whose producer ended after %" PRId64 " tasks, is closed as aborted; "
                   "--resume instead of a new run would have gone on with it",
                   run, tasks);
    const char *const params[] = {DB_INT(p->queue_id), run, DB_INT(tail->next_seq - 1),
                                  DB_INT(tail->last_offset),
                                  "its producer ended before all was published"};
    return db_run(p->db, &sql_publish_abort, params, NULL, err);
}

static enum rc close_run(struct publishing *p, const char *run, int64_t acked_seq,
                         int64_t acked_offset, struct err *err)
{
    struct tail tail = {.next_seq = acked_seq + 1};
    enum rc rc = tail_read(p, acked_offset + 1, run, &tail, err);
    if (rc != RC_OK && err->kind == ERR_CANCELLED)
        return rc;
    if (rc != RC_OK) { /* e.g. retention has eaten it: no reason not to publish something else */
        log_err(LOG_WARN, "publish_takeover_failed", p->options->queue, err);
        return RC_OK;
    }
    if (tail.next_seq == 0)
        return cancel(p, run, err);
    if (tail.ended && !tail.aborted)
        return finish(p, run, &tail, err);
    if (!tail.ended && p->options->refuse_unfinished)
        return refuse(p, run, &tail, err);
    return abort_run(p, run, &tail, err);
}

enum rc publishing_takeover(struct publishing *p, bool without_exception, struct err *err)
{
    DB_RESULT_AUTO *runs = NULL;
    const char *const params[] = {DB_INT(p->queue_id),
                                  p->resume.wanted && !without_exception ? p->run : NULL};
    enum rc rc = db_run(p->db, &sql_publish_abandoned, params, &runs, err);
    int64_t before, count, last;
    kafka_producer_acked(p->producer, &before, &last);
    for (int i = 0; rc == RC_OK && i < db_rows(runs); i++)
        rc = close_run(p, db_text(runs, i, PUBLISH_ABANDONED_RUN_ID),
                       db_int(runs, i, PUBLISH_ABANDONED_PUBLISH_ACKED_SEQ),
                       db_int(runs, i, PUBLISH_ABANDONED_PUBLISH_ACKED_OFFSET), err);
    kafka_producer_acked(p->producer, &count, &last);
    if (rc == RC_OK && count > before) /* our own run begins behind what was sent here */
        rc = sending_mark(p, err);
    return rc;
}

enum rc producer_takeover(const struct producer_place *place, struct err *err)
{
    const struct publish_options options = {.queue = place->queue, .kafka = place->kafka};
    struct publish_result result = {0};
    struct publishing p = {.options = &options,
                           .result = &result,
                           .queue_id = place->queue_id,
                           .partition = place->partition,
                           .db = place->db,
                           .locked = true,
                           .producer = place->producer};
    (void)snprintf(p.topic, sizeof p.topic, "%s", place->topic);
    enum rc rc = publishing_takeover(&p, true, err);
    return rc;
}

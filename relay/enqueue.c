/* enqueue: sends runs that were enqueued by SQL to their queue's own topic. A batch of whole runs
 * is one Kafka transaction under the queue's transactional id and the lock of its producers, so the
 * relay is one more publisher of the queue. Wherever the relay dies, runs that were sent but not
 * noted are in doubt until the next relay has settled them: it takes the transactional id, which
 * ends an open transaction, and reads the topic from the last offset where all was known. */
#include "relay/relaying.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "kafka/source.h"
#include "producer/takeover.h"
#include "producer/target.h"
#include "task/message.h"
#include "task/uuid.h"

#include <stdio.h>
#include <string.h>

/* HOLD_US and PAUSE_US: a publisher that tries for the lock every 50 ms finds it free at least once
 * in each pause. FOUND_RUNS bounds the array of one statement. */
#define BATCH_BYTES    (4 * 1024 * 1024)
#define FOUND_RUNS     1000
#define ADMIN_MS       5000
#define COMMIT_MS      10000
#define HOLD_US        (1000 * 1000) /* then publishers have their turn; they try every 50 ms */
#define PAUSE_US       (150 * 1000)
#define TRY_US         (100 * 1000)
#define REPORT_HELD_US (5 * 1000 * 1000) /* a publisher that has the queue for longer is logged */

/* Runs that were found on the topic. */
struct met {
    struct relay *relay;
    int queue_id;
    struct str runs; /* an array parameter */
    int count;
    char last[37];
    enum rc rc;
    struct err *err;
};

/** Notes the collected runs as sent, and next_offset, NULL: unchanged, as the end of the part that
 * is known. */
static enum rc note_met(struct met *met, const char *next_offset)
{
    db_array_end(&met->runs);
    enum rc rc = db_run(met->relay->db, &sql_relay_enqueue_sent,
                        (const char *const[]){DB_INT(met->queue_id), met->runs.data, next_offset},
                        NULL, met->err);
    str_clear(&met->runs);
    db_array_start(&met->runs);
    met->count = 0;
    return rc;
}

static void see(void *context, const struct kafka_record *record)
{
    struct met *met = context;
    char run[37];
    int64_t seq;
    if (met->rc != RC_OK || record->value == NULL ||
        message_peek(record->value, record->value_len, run, &seq) != RC_OK || *run == '\0' ||
        strcmp(run, met->last) == 0 || !uuid_valid(run))
        return;
    (void)snprintf(met->last, sizeof met->last, "%s", run);
    db_array_text(&met->runs, run, 36);
    if (++met->count == FOUND_RUNS)
        met->rc = note_met(met, NULL);
}

/* Finds enqueued runs that are on the topic already: a predecessor sent them, or the database was
 * set back to before they were sent. */
static enum rc settle(struct relay *relay, const struct relay_queue *queue, struct relay_kind *kind,
                      int64_t low, int64_t high, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(relay->db, &sql_relay_enqueue_begin,
                        (const char *const[]){DB_INT(queue->queue_id)}, &row, err);
    if (rc != RC_OK)
        return rc;
    int64_t from = db_int(row, 0, RELAY_ENQUEUE_BEGIN_FROM_OFFSET);
    if (from < low || from > high)
        from = low;
    struct met met = {.relay = relay, .queue_id = queue->queue_id, .rc = RC_OK, .err = err};
    db_array_start(&met.runs);
    if (from < high)
        rc = relay_read(relay, kind, from, high, see, &met, err);
    if (rc == RC_OK)
        rc = met.rc;
    if (rc == RC_OK && met.count > 0) /* the log may end far behind the end of these runs */
        rc = note_met(&met, NULL);
    if (rc == RC_OK)
        rc = note_met(&met, DB_INT(high));
    str_done(&met.runs);
    kind_sent(kind, kind->sent_seq, high);
    probe("enqueue.settled");
    return rc;
}

/* init_transactions with the transactional id of the queue's publishers: the broker aborts an open
 * transaction of the previous holder and refuses its later commits (Kafka documentation,
 * Transactions; KIP-98). producer_takeover then ends a run that the previous holder left unfinished
 * on the topic. */
static enum rc fence(struct relay *relay, struct relay_queue *queue, const struct relay_kind *kind,
                     struct kafka_admin *admin, struct err *err)
{
    struct kafka_topic_info info = {0};
    char id[128];
    producer_id(queue->name, id, sizeof id);
    enum rc rc =
        kafka_topic_describe(admin, kind->topic, relay_patience_ms(relay, ADMIN_MS), &info, err);
    if (rc == RC_OK || rc == RC_NONE) /* the producer reports a topic that does not exist */
        rc = relay_producer_open(relay, id, &info, &queue->publisher, err);
    if (rc == RC_OK)
        rc = kafka_producer_meet(queue->publisher, kind->topic, relay_patience_ms(relay, ADMIN_MS),
                                 err);
    if (rc == RC_OK)
        rc = relay_flush(relay, queue->publisher, err);
    probe("enqueue.opened");
    const struct producer_place place = {.db = relay->db,
                                         .kafka = relay->kafka,
                                         .queue = queue->name,
                                         .queue_id = queue->queue_id,
                                         .topic = kind->topic,
                                         .partition = kind->partition,
                                         .producer = queue->publisher};
    return rc == RC_OK ? producer_takeover(&place, err) : rc;
}

static enum rc prepare(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                       struct kafka_admin *admin, struct err *err)
{
    if (queue->publisher != NULL)
        return RC_OK;
    int64_t low = 0, high = 0;
    enum rc rc = fence(relay, queue, kind, admin, err);
    if (rc == RC_OK) /* after the fencing: no record of a predecessor comes behind this end */
        rc = kafka_watermarks(admin, kind->topic, kind->partition,
                              relay_patience_ms(relay, ADMIN_MS), &low, &high, err);
    return rc == RC_OK ? settle(relay, queue, kind, low, high, err) : rc;
}

/* The run cannot be published, and never will: it ends, and the others continue. */
static enum rc refuse(struct relay *relay, const struct relay_queue *queue,
                      const struct db_result *rows, int row, const struct err *why, struct err *err)
{
    STR_AUTO text = {0};
    int first = row;
    while (first > 0 && strcmp(db_text(rows, first - 1, RELAY_ENQUEUE_FETCH_ENQUEUE_ID),
                               db_text(rows, row, RELAY_ENQUEUE_FETCH_ENQUEUE_ID)) == 0)
        first--;
    str_format(&text, "the message of seq %d cannot be published: %s%s%s", row - first, why->object,
               *why->object ? ": " : "", why->message);
    log_event(LOG_ERROR, "enqueued_run_refused", "queue", queue->name, "run",
              db_text(rows, row, RELAY_ENQUEUE_FETCH_RUN_ID), "reason", text.data, NULL);
    enum rc rc =
        db_run(relay->db, &sql_relay_enqueue_refuse,
               (const char *const[]){db_text(rows, row, RELAY_ENQUEUE_FETCH_ENQUEUE_ID), text.data},
               NULL, err);
    return rc == RC_OK ? RC_RETRY : rc;
}

/* Finds the first row whose messages cannot be published; RC_NONE: there is none. */
static enum rc find_bad(const struct db_result *rows, int *ret_row, struct err *ret_why)
{
    for (int i = 0; i < db_rows(rows); i++) {
        MESSAGE_AUTO *msg = NULL;
        if (message_parse(db_text(rows, i, RELAY_ENQUEUE_FETCH_VALUE),
                          (size_t)db_length(rows, i, RELAY_ENQUEUE_FETCH_VALUE), MESSAGE_RECORD,
                          &msg, ret_why) == RC_OK)
            continue;
        ret_why->object[0] = '\0'; /* the codec's message begins with the field */
        *ret_row = i;
        return RC_OK;
    }
    return RC_NONE;
}

/* *ret_row: the record that was refused, with RC_REJECT; unchanged: it was none. */
static enum rc send(const struct relay_queue *queue, const struct relay_kind *kind,
                    const struct db_result *rows, int *ret_row, struct err *err)
{
    enum rc rc = kafka_begin(queue->publisher, err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++) {
        *ret_row = i;
        rc = kafka_publish(queue->publisher, kind->topic, kind->partition, NULL, 0,
                           db_text(rows, i, RELAY_ENQUEUE_FETCH_VALUE),
                           (size_t)db_length(rows, i, RELAY_ENQUEUE_FETCH_VALUE), NULL, err);
    }
    return rc;
}

static enum rc note(struct relay *relay, const struct relay_queue *queue, struct relay_kind *kind,
                    const struct db_result *rows, struct err *err)
{
    int64_t count, last;
    int runs = 0;
    STR_AUTO list = {0};
    db_array_start(&list);
    for (int i = 0; i < db_rows(rows); i++)
        if (i == 0 || strcmp(db_text(rows, i, RELAY_ENQUEUE_FETCH_ENQUEUE_ID),
                             db_text(rows, i - 1, RELAY_ENQUEUE_FETCH_ENQUEUE_ID)) != 0) {
            db_array_text(&list, db_text(rows, i, RELAY_ENQUEUE_FETCH_RUN_ID), 36);
            runs++;
        }
    db_array_end(&list);
    kafka_producer_acked(queue->publisher, &count, &last);
    /* -1, or an older one: this producer has sent nothing yet. */
    if (last >= kind->next_offset)
        kind_sent(kind, kind->sent_seq, last + 1);
    log_event(LOG_INFO, "enqueued_published", "queue", queue->name, "runs", LOG_INT(runs),
              "records", LOG_INT(db_rows(rows)), NULL);
    enum rc rc =
        db_run(relay->db, &sql_relay_enqueue_sent,
               (const char *const[]){DB_INT(queue->queue_id), list.data, DB_INT(kind->next_offset)},
               NULL, err);
    probe("enqueue.noted");
    return rc;
}

/* RC_NONE: nothing waits. RC_RETRY with kind->again: a run was refused, and the others are to be
 * fetched again. */
static enum rc batch(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                     struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct err why;
    int bad = -1;
    enum rc rc =
        db_run(relay->db, &sql_relay_enqueue_fetch,
               (const char *const[]){DB_INT(queue->queue_id), DB_INT(BATCH_BYTES)}, &rows, err);
    if (rc != RC_OK || db_rows(rows) == 0)
        return rc == RC_OK ? RC_NONE : rc;
    probe("enqueue.fetched");
    /* Before the transaction begins: a run that the codec refuses would fail the others of its
     * batch. */
    if (find_bad(rows, &bad, &why) == RC_OK) {
        kind_continues(kind, kind->after_us);
        return refuse(relay, queue, rows, bad, &why, err);
    }
    rc = relay_flush(relay, queue->publisher, err);
    probe("enqueue.flushed");
    if (rc == RC_OK)
        rc = send(queue, kind, rows, &bad, err);
    if (rc == RC_REJECT && bad >= 0) { /* too large for the topic: the transaction is aborted */
        why = *err;
        relay_close(relay, &queue->publisher);
        kind_continues(kind, kind->after_us);
        return refuse(relay, queue, rows, bad, &why, err);
    }
    probe("enqueue.sent");
    if (rc == RC_OK) /* the lock is checked once more: better than to be fenced */
        rc = db_run(relay->db, &sql_publish_alive, NULL, NULL, err);
    if (rc == RC_OK)
        rc = kafka_commit(queue->publisher, COMMIT_MS, err);
    probe("enqueue.committed");
    return rc == RC_OK ? note(relay, queue, kind, rows, err) : rc;
}

/* A publisher has the queue, which is usual for a moment; after REPORT_HELD_US it is trouble. */
static enum rc held(struct relay *relay, const struct relay_queue *queue, struct relay_kind *kind,
                    struct err *err)
{
    DB_RESULT_AUTO *holder = NULL;
    int64_t now_us = clock_boot_us();
    if (kind->held_us == 0)
        kind->held_us = now_us;
    kind_continues(kind, now_us + TRY_US);
    if (now_us - kind->held_us < REPORT_HELD_US || kind->backoff_ms > 0)
        return RC_NONE;
    enum rc rc = db_run(relay->db, &sql_publish_holder,
                        (const char *const[]){DB_INT(queue->queue_id)}, &holder, err);
    if (rc != RC_OK)
        return rc == RC_NONE ? RC_NONE : rc;
    return err_set(
        err, RC_RETRY, ERR_HELD, queue->name,
        "Wait until that one has ended; a publish --stream may take long.",
        "what was enqueued waits for another producer: user %s from %s, backend %s, "
        "connected since %s",
        db_text(holder, 0, PUBLISH_HOLDER_USENAME), db_text(holder, 0, PUBLISH_HOLDER_ADDRESS),
        db_text(holder, 0, PUBLISH_HOLDER_PID), db_text(holder, 0, PUBLISH_HOLDER_SINCE));
}

/* All runs up to the end of the topic are known: the next relay need not read them again. */
static enum rc note_end(struct relay *relay, const struct relay_queue *queue,
                        const struct relay_kind *kind, struct kafka_admin *admin, struct err *err)
{
    int64_t low, high;
    enum rc rc = kafka_watermarks(admin, kind->topic, kind->partition,
                                  relay_patience_ms(relay, ADMIN_MS), &low, &high, err);
    if (rc == RC_OK)
        rc = db_run(relay->db, &sql_relay_enqueue_sent,
                    (const char *const[]){DB_INT(queue->queue_id), "{}", DB_INT(high)}, NULL, err);
    return rc;
}

/* Sends under the lock. RC_OK: HOLD_US is over, and runs may be left. */
static enum rc send_all(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                        struct kafka_admin *admin, struct err *err)
{
    int64_t until_us = clock_boot_us() + HOLD_US;
    enum rc rc = RC_OK;
    while (rc == RC_OK && clock_boot_us() < until_us && !relay_out_of_time(relay)) {
        kind_begins(kind);
        rc = prepare(relay, queue, kind, admin, err);
        if (rc == RC_OK)
            rc = batch(relay, queue, kind, err);
        if (rc == RC_RETRY && kind->again)
            rc = RC_OK;
    }
    struct err ignored;
    if (rc == RC_OK || rc == RC_NONE)
        (void)!note_end(relay, queue, kind, admin, &ignored); /* what fails here, fails again */
    return rc;
}

/* The producer is closed before the lock is released. In the other order a publisher could take
 * both while a transaction of this relay is still open, and would fence it in the middle. */
enum rc relay_enqueue(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                      struct err *err)
{
    const char *const params[] = {DB_INT(queue->queue_id)};
    DB_RESULT_AUTO *got = NULL;
    struct kafka_admin *admin = NULL;
    enum rc rc = db_run(relay->db, &sql_publish_lock, params, &got, err);
    if (rc != RC_OK)
        return rc;
    if (!db_bool(got, 0, PUBLISH_LOCK_GRANTED))
        return held(relay, queue, kind, err);
    kind->held_us = 0;
    probe("enqueue.locked");
    rc = kafka_admin_open(relay->kafka, &admin, err);
    if (rc == RC_OK)
        rc = send_all(relay, queue, kind, admin, err);
    kafka_admin_close(admin);
    relay_close(relay, &queue->publisher); /* the next publisher fences it anyway */
    if (rc == RC_OK) {
        kind_continues(kind, clock_boot_us() + PAUSE_US);
        rc = RC_NONE;
    }
    struct err ignored;
    enum rc unlocked =
        db_run(relay->db, &sql_publish_unlock, params, NULL, rc == RC_NONE ? err : &ignored);
    probe("enqueue.unlocked");
    return unlocked != RC_OK && rc == RC_NONE ? unlocked : rc;
}

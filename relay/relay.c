/* relay: the relay's thread. It waits for an order that a queue may have rows to send, takes the
 * queue's relay lock if no other executor has it, sends until no row is left, and releases the lock
 * a moment later.
 *
 * Begin with relay_main(), round_of_queues() and serve(). Three resources are acquired in this
 * order and released in the reverse one: the session, the relay lock of a queue, the producer of
 * its topics. The order of a batch is in batch.c, the search for records in doubt in settle.c, runs
 * that SQL has enqueued in enqueue.c. PostgreSQL and Kafka have no common commit;
 * tests/e2e/rejected_relay.sh and enqueue.sh kill the relay at each step between the two. */
#include "relay/relaying.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/backend.h"
#include "db/sqlstate.h"
#include "kafka/closing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lock and producer are kept so long: a rejected message seldom comes alone. */
#define LINGER_US (2 * 1000 * 1000)
/* FINISH_US: so long the end of an executor waits for rows that can still be sent; others wait for
 * the next relay. DB_PATIENCE_MS: a session that does not answer holds the relay lock in vain. */
#define BACKOFF_FIRST_MS 200
#define BACKOFF_LAST_MS  10000
#define BACKOFF_FATAL_MS 30000 /* an operator must act: no hurry */
#define FINISH_US        (5 * 1000 * 1000)
#define DB_PATIENCE_MS   5000

struct relay_order {
    struct mail mail;
    int queue_id;
    enum relay_word word;
};

static struct relay_queue *queue_get(struct relay *relay, int queue_id)
{
    struct relay_queue *queue = relay->queues;
    while (queue != NULL && queue->queue_id != queue_id)
        queue = queue->next;
    if (queue != NULL)
        return queue;
    queue = xcalloc(1, sizeof *queue);
    *queue = (struct relay_queue){.next = relay->queues, .queue_id = queue_id};
    relay->queues = queue;
    return queue;
}

static void take_orders(struct relay *relay)
{
    for (struct mail *mail = thread_take(&relay->thread, &relay->stopping), *next; mail != NULL;
         mail = next) {
        struct relay_order *order = (struct relay_order *)mail;
        next = mail->next;
        struct relay_queue *queue = queue_get(relay, order->queue_id);
        /* RELAY_AGAIN after this relay has released the lock: it has checked since. */
        if (order->word != RELAY_AGAIN || queue->locked) {
            queue->wanted = queue->fresh = true;
            queue->news = queue->news || order->word == RELAY_NEWS;
        }
        free(order);
    }
}

static int next_backoff(int backoff_ms, enum rc rc)
{
    if (rc == RC_FATAL || rc == RC_REJECT)
        return BACKOFF_FATAL_MS;
    return backoff_next(backoff_ms, BACKOFF_FIRST_MS, BACKOFF_LAST_MS);
}

/* Records that this producer sent and that are not noted yet are in doubt: the next producer begins
 * by settling them (settle.c). */
static void producer_drop(const struct relay *relay, struct relay_queue *queue)
{
    relay_close(relay, &queue->producer);
    relay_close(relay, &queue->publisher);
    for (int i = 0; i < queue->kind_count; i++)
        kind_doubted(&queue->kinds[i]);
}

/* The session is lost, and its locks with it. Another executor may hold the lock from now on, so
 * nothing more may be sent: the producers are closed before anything else. Were a record still
 * under way, the next relay would fence this producer by its transactional id and settle the
 * record. */
static void session_lost(struct relay *relay, enum rc rc, const struct err *err)
{
    for (struct relay_queue *queue = relay->queues; queue != NULL; queue = queue->next) {
        queue->wanted = queue->wanted || queue->locked;
        queue->locked = false;
        producer_drop(relay, queue);
    }
    db_close(relay->db);
    relay->db = NULL;
    if (relay->db_backoff_ms == 0)
        log_err(LOG_WARN, "relay_lost", NULL, err);
    relay->db_backoff_ms = next_backoff(relay->db_backoff_ms, rc);
    relay->db_after_us = clock_boot_us() + (int64_t)relay->db_backoff_ms * 1000;
}

static enum rc session_open(struct relay *relay, struct err *err)
{
    if (relay->db != NULL)
        return RC_OK;
    enum rc rc = db_open_on(relay->conninfo, DB_RELAY, &relay->server, DB_SAME, &relay->db, err);
    if (rc != RC_OK)
        return rc;
    db_patience(relay->db, DB_PATIENCE_MS);
    return db_run(relay->db, &sql_relay_session,
                  (const char *const[]){DB_INT(relay->executor_no),
                                        DB_INT(db_backend_pid(relay->db)),
                                        db_backend_start(relay->db)},
                  NULL, err);
}

/* No queue needs the session now. */
static void session_close(struct relay *relay)
{
    struct err ignored;
    if (relay->db == NULL)
        return;
    (void)!db_run(relay->db, &sql_relay_session_end,
                  (const char *const[]){DB_INT(relay->executor_no),
                                        DB_INT(db_backend_pid(relay->db)),
                                        db_backend_start(relay->db)},
                  NULL, &ignored);
    db_close(relay->db);
    relay->db = NULL;
}

/* A row of the kind, which another session holds, may be the one into which its trouble would be
 * written. */
static bool is_held(const struct err *err)
{
    return err->kind == ERR_DB && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE);
}

/* Trouble of a kind is logged and written into its row when it begins, when its cause is another
 * one, and when it is over (well). A transactional producer whose transaction has failed is not
 * used again: whether its records were committed is unknown, and only a new producer with the same
 * id, which ends that transaction, makes it known. */
static void trouble(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                    enum rc rc, const struct err *err)
{
    struct err ignored;
    STR_AUTO text = {0};
    producer_drop(relay, queue);
    bool logs = outage_must_log(&kind->outage, err, clock_boot_us());
    if (logs)
        log_err(LOG_WARN, "relay_waits", queue->name, err);
    if (logs && !is_held(err)) {
        str_format(&text, "%s: %s%s%s%s", err->object, err->message, *err->hint ? " (" : "",
                   err->hint, *err->hint ? ")" : "");
        (void)!db_run(relay->db, &sql_relay_begin,
                      (const char *const[]){DB_INT(queue->queue_id), kind->name}, NULL, &ignored);
        (void)!db_run(relay->db, &sql_relay_trouble,
                      (const char *const[]){DB_INT(queue->queue_id), kind->name, text.data}, NULL,
                      &ignored);
        kind->unsure = true;
    }
    kind_waits(kind, next_backoff(kind->backoff_ms, rc));
}

static enum rc well(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                    struct err *err)
{
    int64_t lasted_ms;
    if (outage_over(&kind->outage, clock_boot_us(), &lasted_ms))
        log_event(LOG_INFO, "relay_is_back", "queue", queue->name, "topic", kind->topic,
                  "lasted_ms", LOG_INT(lasted_ms), NULL);
    if (kind->backoff_ms != 0)
        kind_waits(kind, 0);
    if (!kind->unsure)
        return RC_OK;
    enum rc rc =
        db_run(relay->db, &sql_relay_trouble,
               (const char *const[]){DB_INT(queue->queue_id), kind->name, NULL}, NULL, err);
    kind->unsure = rc != RC_OK;
    return rc;
}

/* Whether an error concerns the session, and so all queues. A statement that the server refuses (a
 * right is missing), or that waits for a row of another session in vain, concerns its kind: it
 * waits, as in Kafka's trouble; the others continue. */
static bool is_of_session(enum rc rc, const struct err *err)
{
    if (err->kind == ERR_DB || err->kind == ERR_SCHEMA)
        return rc != RC_FATAL && rc != RC_REJECT && !is_held(err);
    return err->kind == ERR_DB_DOWN ||
           (err->kind == ERR_TIMEOUT && rc == RC_LOST); /* it did not answer in time */
}

/* Sends all rows of one kind. RC_OK even when Kafka or a statement refuses them now: the kind waits
 * and tries again. */
static enum rc send_kind(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                         struct err *err)
{
    if (kind->after_us > clock_boot_us())
        return RC_OK;
    kind_begins(kind);
    bool enqueued = strcmp(kind->name, RELAY_ENQUEUE) == 0;
    enum rc rc =
        enqueued ? relay_enqueue(relay, queue, kind, err) : relay_prepare(relay, queue, kind, err);
    while (!enqueued && rc == RC_OK && !relay_out_of_time(relay)) {
        rc = relay_batch(relay, queue, kind, err);
        if (rc == RC_OK)
            rc = well(relay, queue, kind, err);
        take_orders(relay);
    }
    if (rc == RC_NONE)
        rc = kind->held_us == 0 ? well(relay, queue, kind, err) : RC_OK;
    if (rc == RC_OK || is_of_session(rc, err))
        return rc;
    if (relay_out_of_time(relay)) /* the stop ended the wait, not Kafka */
        return RC_OK;
    trouble(relay, queue, kind, rc, err);
    return RC_OK;
}

static struct relay_kind *kind_get(struct relay_queue *queue, const char *name, const char *topic)
{
    struct relay_kind *kind = queue->kinds;
    int i = 0;
    while (i < queue->kind_count && strcmp(kind[i].name, name) != 0)
        i++;
    if (i == queue->kind_count && i == RELAY_KINDS)
        return NULL;
    if (i == queue->kind_count) {
        queue->kind_count++;
        (void)snprintf(kind[i].name, sizeof kind[i].name, "%s", name);
        kind[i].unsure = true; /* a predecessor may have left its trouble in the row */
    }
    (void)snprintf(kind[i].topic, sizeof kind[i].topic, "%s", topic);
    return &kind[i];
}

static enum rc notify(struct relay *relay, const struct relay_queue *queue, const char *what,
                      struct err *err)
{
    return db_run(relay->db, &sql_relay_notify,
                  (const char *const[]){DB_INT(queue->queue_id), what}, NULL, err);
}

/* Another executor is the queue's relay. It is notified, and its rows are checked until none is
 * left: it may be dead while its session still lives. */
static enum rc leave(struct relay *relay, struct relay_queue *queue, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = queue->news ? notify(relay, queue, "relay_again", err) : RC_OK;
    queue->news = false;
    if (rc == RC_OK)
        rc = db_run(relay->db, &sql_relay_waiting, (const char *const[]){DB_INT(queue->queue_id)},
                    &row, err);
    if (rc != RC_OK)
        return rc;
    queue->wanted = db_bool(row, 0, RELAY_WAITING_WAITING);
    queue->backoff_ms = queue->wanted ? next_backoff(queue->backoff_ms, RC_RETRY) : 0;
    queue->again_us = clock_boot_us() + (int64_t)queue->backoff_ms * 1000;
    return RC_NONE;
}

/* Tried and not waited for: a wait inside the server would hold the vacuum horizon back for as long
 * as another executor is the relay. */
static enum rc lock(struct relay *relay, struct relay_queue *queue, struct err *err)
{
    const char *const params[] = {DB_INT(queue->queue_id)};
    DB_RESULT_AUTO *got = NULL;
    if (queue->locked)
        return RC_OK;
    enum rc rc = db_run(relay->db, &sql_relay_lock, params, &got, err);
    if (rc != RC_OK)
        return rc;
    queue->locked = db_bool(got, 0, RELAY_LOCK_GRANTED);
    if (!queue->locked)
        return leave(relay, queue, err);
    queue->again_us = queue->backoff_ms = 0;
    probe("relay.locked");
    return RC_OK;
}

/* Sends all kinds of a queue once. Afterwards only kinds in trouble are wanted. queue->fresh is
 * cleared before the rows are read, so a row that is committed during the reading sets it again by
 * its notification. */
static enum rc serve(struct relay *relay, struct relay_queue *queue, struct err *err)
{
    DB_RESULT_AUTO *kinds = NULL;
    queue->fresh = false; /* before the rows are read, so that no order is missed */
    enum rc rc = lock(relay, queue, err);
    if (rc == RC_OK)
        rc = db_run(relay->db, &sql_relay_kinds, (const char *const[]){DB_INT(queue->queue_id)},
                    &kinds, err);
    if (rc != RC_OK)
        return rc == RC_NONE ? RC_OK : rc;
    queue->wanted = queue->news = false;
    bool waits = false;
    for (int i = 0; i < queue->kind_count; i++)
        queue->kinds[i].has_rows = false;
    for (int i = 0; rc == RC_OK && i < db_rows(kinds) && !relay_out_of_time(relay); i++) {
        (void)snprintf(queue->name, sizeof queue->name, "%s", db_text(kinds, i, RELAY_KINDS_NAME));
        struct relay_kind *kind = kind_get(queue, db_text(kinds, i, RELAY_KINDS_KIND),
                                           db_text(kinds, i, RELAY_KINDS_TOPIC));
        if (kind == NULL)
            continue;
        kind->has_rows = true;
        kind->partition = (int)db_int(kinds, i, RELAY_KINDS_PARTITION);
        rc = send_kind(relay, queue, kind, err);
        waits = waits || kind->backoff_ms > 0 || kind->again;
    }
    queue->wanted = queue->fresh || waits;
    queue->release_us = clock_boot_us() + LINGER_US;
    return rc;
}

/* Releases the queue. The order matters: an executor that was refused the lock has notified this
 * one or will find the lock free, and one more check after the unlock sees rows committed before
 * it. */
static enum rc release(struct relay *relay, struct relay_queue *queue, struct err *err)
{
    const char *const params[] = {DB_INT(queue->queue_id)};
    DB_RESULT_AUTO *row = NULL;
    producer_drop(relay, queue);
    queue->locked = false;
    enum rc rc = db_run(relay->db, &sql_relay_unlock, params, NULL, err);
    probe("relay.unlocked");
    if (rc == RC_OK)
        rc = db_run(relay->db, &sql_relay_waiting, params, &row, err);
    if (rc == RC_OK)
        queue->wanted = db_bool(row, 0, RELAY_WAITING_WAITING);
    if (rc == RC_OK && queue->wanted && relay->stopping)
        rc = notify(relay, queue, "relay", err);
    return rc;
}

/* When the queue is to be served next; 0: now, INT64_MAX: after the next order. */
static int64_t due(const struct relay *relay, const struct relay_queue *queue)
{
    int64_t at = INT64_MAX;
    if (relay->stopping)
        return 0;
    if (queue->fresh)
        return 0;
    if (!queue->locked)
        return queue->wanted ? queue->again_us : INT64_MAX;
    if (!queue->wanted)
        return queue->release_us;
    /* A kind that has sent its last row may still be one that continues: it is not served again, so
     * its time, which has passed, must not make the queue due for ever. */
    for (int i = 0; i < queue->kind_count; i++) {
        const struct relay_kind *kind = &queue->kinds[i];
        if (kind->has_rows && (kind->backoff_ms > 0 || kind->again) && kind->after_us < at)
            at = kind->after_us;
    }
    return at == INT64_MAX ? 0 : at;
}

static enum rc turn(struct relay *relay, struct relay_queue *queue, struct err *err)
{
    enum rc rc = session_open(relay, err);
    if (rc == RC_OK && queue->wanted && !relay_out_of_time(relay))
        rc = serve(relay, queue, err);
    if (rc == RC_OK && queue->locked &&
        (relay->stopping || (!queue->wanted && queue->release_us <= clock_boot_us())))
        rc = release(relay, queue, err);
    if (rc == RC_OK && relay->db_backoff_ms != 0) {
        log_event(LOG_INFO, "relay_is_back", "queue", queue->name, NULL);
        relay->db_backoff_ms = 0;
        relay->db_after_us = 0;
    }
    return rc;
}

/* Serves each queue that is due. Returns for how many milliseconds no queue is due; -1: until the
 * next order. */
static int round_of_queues(struct relay *relay)
{
    int64_t next_us = INT64_MAX, now_us = clock_boot_us();
    bool needed = false;
    for (struct relay_queue *queue = relay->queues; queue != NULL; queue = queue->next) {
        struct err err = {0};
        if (relay->db == NULL && relay->db_after_us > now_us) {
            next_us = relay->db_after_us < next_us ? relay->db_after_us : next_us;
            continue;
        }
        if (due(relay, queue) <= now_us && (queue->wanted || queue->locked)) {
            enum rc rc = turn(relay, queue, &err);
            if (rc != RC_OK)
                session_lost(relay, rc, &err);
        }
        int64_t at = relay->db == NULL && queue->wanted ? relay->db_after_us : due(relay, queue);
        next_us = at < next_us ? at : next_us;
        needed = needed || queue->wanted || queue->locked;
    }
    if (!needed)
        session_close(relay);
    if (next_us == INT64_MAX)
        return -1;
    int64_t left_us = next_us - clock_boot_us();
    return left_us <= 0 ? 0 : (int)(left_us / 1000) + 1;
}

/* Closes all clients at once: one after the other, a client that waits for Kafka would delay the
 * others, and so the stop of the executor. */
static void queues_close(struct relay *relay)
{
    for (struct relay_queue *queue = relay->queues; queue != NULL; queue = queue->next) {
        queue->closing[0] = kafka_producer_close_start(queue->producer);
        queue->closing[1] = kafka_producer_close_start(queue->publisher);
    }
    while (relay->queues != NULL) {
        struct relay_queue *queue = relay->queues;
        relay->queues = queue->next;
        kafka_producer_close_end(queue->closing[0]);
        kafka_producer_close_end(queue->closing[1]);
        free(queue);
    }
}

static void *relay_main(void *context)
{
    struct relay *relay = context;
    for (;;) {
        take_orders(relay);
        bool last = relay->stopping;
        int timeout_ms = last && !relay->finishes ? 0 : round_of_queues(relay);
        if (last)
            break;
        mailbox_wait(&relay->thread.inbox, timeout_ms);
    }
    queues_close(relay);
    session_close(relay);
    return NULL;
}

enum rc relay_start(const char *conninfo, const struct db_server *server,
                    const struct kafka_properties *kafka, int executor_no, struct relay **ret_relay,
                    struct err *err)
{
    struct relay *relay = xcalloc(1, sizeof *relay);
    relay->conninfo = conninfo;
    relay->server = *server;
    relay->kafka = kafka;
    relay->executor_no = executor_no;
    enum rc rc = thread_start(&relay->thread, "relay", relay_main, relay, err);
    if (rc == RC_OK) {
        *ret_relay = relay;
        return RC_OK;
    }
    free(relay);
    return rc;
}

void relay_wake(struct relay *relay, int queue_id, enum relay_word word)
{
    struct relay_order *order = xcalloc(1, sizeof *order);
    *order = (struct relay_order){.queue_id = queue_id, .word = word};
    thread_send(&relay->thread, &order->mail);
}

void relay_stop(struct relay *relay, bool finish)
{
    if (relay == NULL)
        return;
    relay->finishes = finish;
    relay->until_us = clock_boot_us() + (finish ? FINISH_US : 0);
    thread_stop(&relay->thread);
    free(relay);
}

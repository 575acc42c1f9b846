/* The thread of retention. For each queue in turn: acquire its sweep lock, delete batches of ended
 * runs, then rows that belong to no run, note the result; then sleep until the next interval. The
 * database decides what may go; this file decides how fast: the size of a batch follows its
 * duration, and the rest after it follows that and the speed of claims. Rows of jobs are
 * scheduler/house.c's. */
#include "scheduler/retention.h"
#include "base/number.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/str.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first batch meets a disk of unknown speed, so it is small; five fast batches lead from there
 * to ROWS_MOST. */
#define ROWS_FIRST 50
#define ROWS_MOST  1000
/* About as long as a batch keeps its row locks, for which other sessions may wait. */
#define BATCH_US 20000
/* Four fifths of the time the disk and the WAL belong to claims. */
#define REST_FACTOR  4
#define REST_MOST_MS 2000
#define SLOW_US      50000 /* a claim: usually a millisecond */
#define SLOW_REST_MS 1000
#define PATIENCE_MS  5000
/* So many batches in a row that delete nothing within the statement_timeout (3 s) end a sweep. */
#define LATE_MOST 3
#define LATE_US   2500000

enum retention_mail { RETENTION_QUEUE, RETENTION_SLOW };

struct retention_order {
    struct mail mail;
    int queue_id;
    char name[64];
    bool keeps_all;
};

struct swept_queue {
    struct swept_queue *next;
    int queue_id;
    char name[64];
    bool keeps_all;
    int64_t at_us; /* its next sweep */
    int rows;      /* of a batch: a run that needs small ones does not depend on other queues */
    int64_t from;  /* the next sweep begins behind this run; -1: with the oldest */
    bool troubled; /* reported already */
};

struct retention {
    const char *conninfo;
    struct db_server server;
    int interval_ms;
    struct thread thread;
    struct db *db; /* NULL between sweeps */
    struct swept_queue *queues;
    bool slow; /* claims are, or were a moment ago */
    bool stopping;
};

/* What one sweep did. */
struct sweep {
    int64_t rows, runs, batches;
    int64_t at; /* runs up to this one were looked at */
};

/* A queue that keeps everything again stays in the list, with keeps_all. */
static void queue_set(struct retention *retention, const struct retention_order *order)
{
    struct swept_queue *queue = retention->queues;
    while (queue != NULL && queue->queue_id != order->queue_id)
        queue = queue->next;
    if (queue == NULL) {
        queue = xcalloc(1, sizeof *queue);
        *queue = (struct swept_queue){
            .next = retention->queues, .queue_id = order->queue_id, .rows = ROWS_FIRST, .from = -1};
        retention->queues = queue;
    }
    (void)snprintf(queue->name, sizeof queue->name, "%s", order->name);
    queue->keeps_all = order->keeps_all;
    queue->at_us = clock_boot_us(); /* what was just set is done at once */
}

static void take_orders(struct retention *retention)
{
    for (struct mail *mail = thread_take(&retention->thread, &retention->stopping), *next;
         mail != NULL; mail = next) {
        next = mail->next;
        switch ((enum retention_mail)mail->kind) {
        case RETENTION_QUEUE:
            queue_set(retention, (struct retention_order *)mail);
            break;
        /* Counts for the next rest only: claims report again while they are slow. */
        case RETENTION_SLOW:
            retention->slow = true;
            break;
        }
        free(mail);
    }
}

/* Rests, and hears what comes meanwhile. */
static void rest(struct retention *retention, int64_t took_us)
{
    int64_t ms = took_us * REST_FACTOR / 1000 + 1;
    int64_t until_us;
    if (ms > REST_MOST_MS)
        ms = REST_MOST_MS;
    if (retention->slow && ms < SLOW_REST_MS)
        ms = SLOW_REST_MS;
    retention->slow = false;
    until_us = clock_boot_us() + ms * 1000;
    for (;;) {
        take_orders(retention);
        int64_t left_us = until_us - clock_boot_us();
        if (retention->stopping || left_us <= 0)
            return;
        mailbox_wait(&retention->thread.inbox, (int)(left_us / 1000) + 1);
    }
}

static void adapt(struct swept_queue *queue, int64_t took_us)
{
    /* Between half and the whole of BATCH_US the size stays, so that it does not swing. */
    if (took_us > BATCH_US)
        queue->rows = queue->rows / 2 > 0 ? queue->rows / 2 : 1;
    else if (took_us < BATCH_US / 2 && queue->rows < ROWS_MOST)
        queue->rows = queue->rows * 2 < ROWS_MOST ? queue->rows * 2 : ROWS_MOST;
}

/* After a batch, or the try of one. */
static void pause(struct retention *retention, struct swept_queue *queue, int64_t rows,
                  int64_t from_us)
{
    int64_t took_us = clock_boot_us() - from_us;
    log_event(LOG_DEBUG, "sweep_batch", "queue", queue->name, "rows", LOG_INT(rows), "us",
              LOG_INT(took_us), NULL);
    adapt(queue, took_us);
    probe("sweep.batch");
    rest(retention, took_us);
}

static enum rc sweep_runs(struct retention *retention, struct swept_queue *queue,
                          struct sweep *sweep, struct err *err)
{
    /* sweep->at goes past each run that is held, so one such run does not end the sweep for the
     * others. If each run takes too long, it is the table of a user that refers to all of them: the
     * next sweep continues behind them. */
    bool more = true;
    int late = 0;
    while (more && late < LATE_MOST && !retention->stopping) {
        DB_RESULT_AUTO *row = NULL;
        int64_t from_us = clock_boot_us();
        const char *const params[] = {DB_INT(queue->queue_id), DB_INT(queue->rows),
                                      DB_INT(sweep->at)};
        enum rc rc = db_run(retention->db, &sql_sweep_batch, params, &row, err);
        if (rc != RC_OK)
            return rc;
        more = db_bool(row, 0, SWEEP_BATCH_MORE);
        sweep->at = db_int(row, 0, SWEEP_BATCH_AT);
        sweep->rows += db_int(row, 0, SWEEP_BATCH_DELETED);
        sweep->runs += !db_null(row, 0, SWEEP_BATCH_ENDED);
        if (!db_null(row, 0, SWEEP_BATCH_HELD))
            log_event(LOG_WARN, "sweep_held", "queue", queue->name, "reason",
                      db_text(row, 0, SWEEP_BATCH_HELD), NULL);
        bool is_late = clock_boot_us() - from_us > LATE_US;
        late = is_late && db_int(row, 0, SWEEP_BATCH_DELETED) == 0 ? late + 1 : 0;
        if (more) {
            sweep->batches++;
            pause(retention, queue, db_int(row, 0, SWEEP_BATCH_DELETED), from_us);
        }
    }
    queue->from = more && late == LATE_MOST ? sweep->at : -1;
    return RC_OK;
}

/* Rejected messages and events that no run owns. It follows the runs, because the age of the oldest
 * run that still exists is the limit. */
static enum rc sweep_rest(struct retention *retention, struct swept_queue *queue,
                          struct sweep *sweep, struct err *err)
{
    int64_t rows = 1;
    while (rows > 0 && !retention->stopping) {
        DB_RESULT_AUTO *row = NULL;
        int64_t from_us = clock_boot_us();
        const char *const params[] = {DB_INT(queue->queue_id), DB_INT(queue->rows)};
        enum rc rc = db_run(retention->db, &sql_sweep_rest, params, &row, err);
        if (rc != RC_OK)
            return rc;
        rows = db_int(row, 0, SWEEP_REST_DELETED);
        sweep->rows += rows;
        sweep->batches += rows > 0;
        if (rows > 0)
            pause(retention, queue, rows, from_us);
    }
    return RC_OK;
}

/* RC_OK also if another executor is at it. */
static enum rc sweep_queue(struct retention *retention, struct swept_queue *queue, struct err *err)
{
    struct sweep sweep = {.at = queue->from};
    STR_AUTO text = {0};
    DB_RESULT_AUTO *ours = NULL;
    DB_RESULT_AUTO *released = NULL;
    enum rc rc = retention->db != NULL
                     ? RC_OK
                     : db_open_on(retention->conninfo, DB_RETENTION, &retention->server, DB_SAME,
                                  &retention->db, err);
    if (rc != RC_OK)
        return rc;
    db_patience(retention->db, PATIENCE_MS);
    /* A try lock: a second sweeper would only skip the rows that the first one has locked. The lock
     * was lost on the way, so two executors may have swept at the same time. It did no harm, but
     * this session is not trusted any more. */
    rc = db_run(retention->db, &sql_sweep_begin, (const char *const[]){DB_INT(queue->queue_id)},
                &ours, err);
    if (rc != RC_OK || !db_bool(ours, 0, SWEEP_BEGIN_OURS))
        return rc;
    rc = sweep_runs(retention, queue, &sweep, err);
    if (rc == RC_OK)
        rc = sweep_rest(retention, queue, &sweep, err);
    if (rc != RC_OK)
        return rc;
    str_format(&text, "%lld row%s in %lld batch%s, %lld run%s", (long long)sweep.rows,
               NUMBER_S(sweep.rows), (long long)sweep.batches, sweep.batches == 1 ? "" : "es",
               (long long)sweep.runs, NUMBER_S(sweep.runs));
    if (sweep.rows > 0)
        log_event(LOG_INFO, "swept", "queue", queue->name, "detail", text.data, NULL);
    rc = db_run(retention->db, &sql_sweep_note,
                (const char *const[]){DB_INT(queue->queue_id), text.data}, &released, err);
    if (rc == RC_OK && !db_bool(released, 0, SWEEP_NOTE_HELD))
        return err_set(err, RC_LOST, ERR_INTERNAL, queue->name, NULL,
                       "the sweep lock was not held when it was released");
    return rc;
}

/* Logged once, and recorded for the operator; the next try is a small one, on a new session. */
static void trouble(struct retention *retention, struct swept_queue *queue, const struct err *err)
{
    struct err ignored;
    if (!queue->troubled)
        log_err(LOG_WARN, "sweep_failed", queue->name, err);
    queue->troubled = true;
    if (retention->db != NULL)
        (void)!db_run(retention->db, &sql_sweep_failed,
                      (const char *const[]){DB_INT(queue->queue_id), err->message}, NULL, &ignored);
    db_close(retention->db);
    retention->db = NULL;
    /* The batch may have been too large for the statement_timeout of 3 s that sweep_begin sets. A
     * run for which even one row takes longer is held by the database (sweep.sql). */
    queue->rows = queue->rows > 8 ? queue->rows / 8 : 1;
}

/* Every queue that is due; how long nothing is to be done then, -1: until there is word. */
static int round_of_queues(struct retention *retention)
{
    int64_t next_us = INT64_MAX;
    for (struct swept_queue *queue = retention->queues; queue != NULL && !retention->stopping;
         queue = queue->next) {
        struct err err = {0};
        if (queue->keeps_all)
            continue;
        if (queue->at_us <= clock_boot_us()) {
            /* From the begin, so that a long sweep does not move the next one. */
            queue->at_us = clock_boot_us() + (int64_t)retention->interval_ms * 1000;
            if (sweep_queue(retention, queue, &err) == RC_OK)
                queue->troubled = false;
            else
                trouble(retention, queue, &err);
        }
        next_us = queue->at_us < next_us ? queue->at_us : next_us;
    }
    db_close(retention->db);
    retention->db = NULL;
    /* The session is closed between sweeps: an idle one would occupy a slot of max_connections. */
    if (next_us == INT64_MAX)
        return -1;
    int64_t left_us = next_us - clock_boot_us();
    return left_us <= 0 ? 0 : (int)(left_us / 1000) + 1;
}

static void *retention_main(void *context)
{
    struct retention *retention = context;
    while (!retention->stopping) {
        take_orders(retention);
        int timeout_ms = round_of_queues(retention); /* may have taken the order to stop */
        if (!retention->stopping)
            mailbox_wait(&retention->thread.inbox, timeout_ms);
    }
    while (retention->queues != NULL) {
        struct swept_queue *queue = retention->queues;
        retention->queues = queue->next;
        free(queue);
    }
    db_close(retention->db);
    return NULL;
}

enum rc retention_start(const char *conninfo, const struct db_server *server, int interval_ms,
                        struct retention **ret_retention, struct err *err)
{
    struct retention *retention = xcalloc(1, sizeof *retention);
    *retention =
        (struct retention){.conninfo = conninfo, .server = *server, .interval_ms = interval_ms};
    enum rc rc = thread_start(&retention->thread, "retention", retention_main, retention, err);
    if (rc == RC_OK) {
        *ret_retention = retention;
        return RC_OK;
    }
    free(retention);
    return rc;
}

static void order(struct retention *retention, const struct retention_order *what)
{
    struct retention_order *mail = xcalloc(1, sizeof *mail);
    *mail = *what;
    thread_send(&retention->thread, &mail->mail);
}

void retention_queue(struct retention *retention, int queue_id, const char *name, bool keeps_all)
{
    struct retention_order what = {
        .mail.kind = RETENTION_QUEUE, .queue_id = queue_id, .keeps_all = keeps_all};
    (void)snprintf(what.name, sizeof what.name, "%s", name);
    order(retention, &what);
}

void retention_claimed(struct retention *retention, int64_t took_us)
{
    /* Called after each claim, by the thread that claims: a usual claim costs one comparison. */
    if (retention != NULL && took_us > SLOW_US)
        order(retention, &(struct retention_order){.mail.kind = RETENTION_SLOW});
}

void retention_stop(struct retention *retention)
{
    if (retention == NULL)
        return;
    thread_stop(&retention->thread);
    free(retention);
}

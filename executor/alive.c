/* The liveness thread. Begin with alive_main() and beat(). Three deadlines meet here: T1, after
 * which this executor ends itself; T2, twice as long, after which others end it (watch,
 * lockstep.executor_fence); and the interval of the heartbeats. T1 is shorter than T2, so that an
 * executor that has lost its line has stopped its tasks before another one runs them. The lock
 * itself is never asked for again: it lives as long as the session. */
#include "executor/alive.h"

#include "executor/executor.h"
#include "executor/server.h"
#include "executor/spare.h"
#include "executor/topics.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "db/canceller.h"
#include "db/db.h"
#include "db/parameter.h"
#include "db/sqlstate.h"
#include "metrics/process.h"
#include "task/uuid.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PROMPT_US: an observer that is itself slow must not accuse others; a database that stands still
 * for everybody fences no executor (tests/e2e/kill_clock.sh). */
#define IDLE_FACTOR 5
#define STANDBY_MS  2000 /* without a dispatcher of jobs; less than that when the heartbeat is */
#define OTHERS_MOST 256
#define MEMORY_STEP 1048576 /* less is no news */
#define PROMPT_US                                                                                  \
    (1000 * 1000LL) /* only time in which our own round trips took less counts against others */

struct alive {
    struct thread thread; /* anything in its inbox means: check again */
    struct mailbox *control;
    struct db *db;
    char id[37];
    int executor_no;
    int busy_ms, idle_ms; /* between heartbeats */
    int t1_ms, t2_ms;
    struct db_canceller *severs; /* control's session */
    struct db_canceller *socket; /* of our own */
    _Atomic bool busy, stopping, lost;
    _Atomic int64_t stirred_us; /* when something happened on a queue */
    _Atomic bool stands_by;     /* the dispatcher waits for its lock */
    _Atomic bool soon;          /* the wait for the next heartbeat is one of busy_ms */
    _Atomic int signalled;      /* enum alive_signal */
    struct err why;             /* when lost */
    pthread_mutex_t lock;       /* of trouble */
    char trouble[ALIVE_CAUSES]
                [400]; /* what keeps it from work, "": nothing. The first one is reported */
    bool others_busy;
    struct other {
        int executor_no;
        int64_t heartbeat, still_us; /* for how long it has stood at that count */
        bool seen;
    } others[OTHERS_MOST];
    int other_count;
    int64_t beaten_us; /* when we beat last */
    struct topics *topics;
    struct str ends_sent; /* as the database has it */
    int64_t memory_sent;
};

static void notify_control(struct alive *alive, enum alive_event event, const struct err *err)
{
    struct alive_mail *mail = xcalloc(1, sizeof *mail);
    mail->mail.kind = MAIL_ALIVE;
    mail->event = event;
    if (err != NULL)
        mail->err = *err;
    mailbox_put(alive->control, &mail->mail);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct other *find_other(struct alive *alive, int executor_no)
{
    for (int i = 0; i < alive->other_count; i++)
        if (alive->others[i].executor_no == executor_no)
            return &alive->others[i];
    if (alive->other_count == OTHERS_MOST)
        return NULL;
    struct other *other = &alive->others[alive->other_count++];
    *other = (struct other){.executor_no = executor_no, .heartbeat = -1};
    return other;
}

/* passed_us: the time since our last beat that counts against others, 0 when we ourselves were
 * slow: then the database stood still, or this process. No clock is compared with a clock of
 * another machine. The statement names the heartbeat that it has seen: lockstep.executor_fence does
 * nothing if the counter has moved meanwhile. */
static enum rc watch(struct alive *alive, int executor_no, int64_t heartbeat, int64_t passed_us,
                     struct err *err)
{
    struct other *other = find_other(alive, executor_no);
    if (other == NULL)
        return RC_OK;
    other->still_us = other->heartbeat == heartbeat ? other->still_us + passed_us : 0;
    other->heartbeat = heartbeat;
    other->seen = true;
    if (other->still_us < alive->t2_ms * 1000LL)
        return RC_OK;
    other->still_us = 0;
    probe("fence.send");
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(alive->db, &sql_executor_fence,
                        (const char *const[]){DB_INT(executor_no), DB_INT(heartbeat)}, &row, err);
    if (rc == RC_OK)
        log_event(LOG_WARN, "executor_frozen", "queues", db_text(row, 0, EXECUTOR_FENCE_QUEUES),
                  "executor", db_text(row, 0, EXECUTOR_FENCE_EXECUTOR_ID), "host",
                  db_text(row, 0, EXECUTOR_FENCE_HOST), "pid", db_text(row, 0, EXECUTOR_FENCE_PID),
                  "sessions_ended", db_text(row, 0, EXECUTOR_FENCE_ENDED), NULL);
    return rc;
}

/* An executor that the heartbeat did not name is dead or ended, and its place is needed for others.
 */
static void forget_gone(struct alive *alive)
{
    int kept = 0;
    for (int i = 0; i < alive->other_count; i++)
        if (alive->others[i].seen) {
            alive->others[kept] = alive->others[i];
            alive->others[kept++].seen = false;
        }
    alive->other_count = kept;
}

/* What it reports of itself. ends_param, memory_param: NULL while it is as the database has it.
 * troubles_param: NULL: all topics can be read. */
struct report {
    struct str ends, troubles;
    int64_t memory;
    char memory_text[24];
    const char *ends_param, *memory_param, *troubles_param;
};

static void report_make(const struct alive *alive, struct report *report)
{
    topics_ends(alive->topics, &report->ends);
    if (topics_troubles(alive->topics, &report->troubles))
        report->troubles_param = report->troubles.data;
    report->memory = process_resident_bytes() / MEMORY_STEP * MEMORY_STEP;
    (void)snprintf(report->memory_text, sizeof report->memory_text, "%lld",
                   (long long)report->memory);
    if (alive->ends_sent.data == NULL || strcmp(alive->ends_sent.data, report->ends.data) != 0)
        report->ends_param = report->ends.data;
    if (report->memory != alive->memory_sent)
        report->memory_param = report->memory_text;
}

/* sent: the database has it. */
static void report_done(struct alive *alive, struct report *report, bool sent)
{
    if (sent && report->ends_param != NULL) {
        str_done(&alive->ends_sent);
        alive->ends_sent = report->ends;
        report->ends = (struct str){0};
    }
    if (sent)
        alive->memory_sent = report->memory;
    str_done(&report->ends);
    str_done(&report->troubles);
}

static enum rc beat(struct alive *alive, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    struct report report = {0};
    bool died = false;
    static const char *const causes[] = {[ALIVE_LOGIN] = "login",
                                         [ALIVE_KAFKA] = "kafka",
                                         [ALIVE_WRITES] = "writes",
                                         [ALIVE_READERS] = "readers"};
    static const char *const signals[] = {[ALIVE_HELD] = "held", [ALIVE_DRAINING] = "draining"};
    char trouble[sizeof *alive->trouble];
    int cause = 0, signalled = alive->signalled; /* as an index it would not be read atomically */
    (void)pthread_mutex_lock(&alive->lock);
    while (cause < ALIVE_CAUSES - 1 && alive->trouble[cause][0] == '\0')
        cause++;
    memcpy(trouble, alive->trouble[cause], sizeof trouble);
    (void)pthread_mutex_unlock(&alive->lock);
    report_make(alive, &report);
    int64_t from_us = clock_boot_us();
    enum rc rc = db_run(
        alive->db, &sql_executor_heartbeat,
        (const char *const[]){DB_INT(alive->executor_no), alive->busy ? "true" : "false",
                              *trouble ? trouble : NULL, *trouble ? causes[cause] : NULL,
                              alive->stands_by ? "true" : "false", report.ends_param,
                              report.memory_param, signals[signalled], report.troubles_param},
        &rows, err);
    report_done(alive, &report, rc == RC_OK);
    if (rc != RC_OK)
        return rc;
    if (db_rows(rows) == 0)
        return err_set(err, RC_LOST, ERR_DB, "executor", NULL,
                       "another executor has declared this one dead");
    if (db_bool(rows, 0, EXECUTOR_HEARTBEAT_DISPATCH_FREE))
        notify_control(alive, ALIVE_DISPATCH_FREE, NULL);
    int64_t now_us = clock_boot_us(), passed_us = now_us - alive->beaten_us;
    bool prompt = now_us - from_us < PROMPT_US && passed_us < alive->idle_ms * 1000LL + PROMPT_US;
    alive->others_busy = false;
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++) {
        if (db_null(rows, i, EXECUTOR_HEARTBEAT_EXECUTOR_NO))
            continue;
        alive->others_busy = alive->others_busy || db_bool(rows, i, EXECUTOR_HEARTBEAT_BUSY);
        if (!db_bool(rows, i, EXECUTOR_HEARTBEAT_LIVES))
            died = true;
        else
            rc = watch(alive, (int)db_int(rows, i, EXECUTOR_HEARTBEAT_EXECUTOR_NO),
                       db_int(rows, i, EXECUTOR_HEARTBEAT_HEARTBEAT),
                       alive->beaten_us && prompt ? passed_us : 0, err);
    }
    alive->beaten_us = now_us;
    forget_gone(alive);
    if (died)
        notify_control(alive, ALIVE_OTHERS_DIED, NULL);
    return rc;
}

/* T1 counts from when the last confirmed heartbeat was sent: others have not seen us stand still
 * for longer. After a wait without work, or after this process stood still, the answer has a fifth
 * of it. */
static int beat_patience(const struct alive *alive, int64_t confirmed_us, int64_t now_us)
{
    int64_t left_ms = alive->t1_ms - (now_us - confirmed_us) / 1000;
    return left_ms > alive->t1_ms / 5 ? (int)left_ms : alive->t1_ms / 5;
}

/* Control may be waiting for the same server: it must not wait for longer than we do. */
static void lose(struct alive *alive, const struct err *err)
{
    alive->why = *err;
    utf8_copy(alive->why.object, sizeof alive->why.object, "liveness");
    alive->lost = true;
    notify_control(alive, ALIVE_LOST, &alive->why);
    db_sever(alive->severs);
}

static void *alive_main(void *context)
{
    struct alive *alive = context;
    struct err err = {0};
    enum rc rc = RC_OK;
    int64_t confirmed_us = clock_boot_us();
    int wait_ms = 0; /* at once: from then on the others are watched */
    while (!alive->stopping && rc != RC_LOST) {
        mailbox_wait(&alive->thread.inbox, wait_ms);
        (void)thread_take(&alive->thread, NULL);
        if (alive->stopping)
            break;
        int64_t sent_us = clock_boot_us();
        db_patience(alive->db, beat_patience(alive, confirmed_us, sent_us));
        probe("heartbeat.send");
        rc = beat(alive, &err);
        probe("heartbeat.done");
        if (rc == RC_OK)
            confirmed_us = sent_us;
        else if (clock_boot_us() - confirmed_us > alive->t1_ms * 1000LL ||
                 sqlstate_is(&err, SQLSTATE_INSUFFICIENT_PRIVILEGE)) /* nor does control get far */
            rc = RC_LOST;
        alive->soon = false; /* before stirred_us is read: see alive_stir */
        alive->soon = alive->busy || alive->others_busy ||
                      clock_boot_us() - alive->stirred_us < alive->busy_ms * 1000LL;
        wait_ms = alive->soon        ? alive->busy_ms
                  : alive->stands_by ? least(alive->idle_ms, STANDBY_MS)
                                     : alive->idle_ms;
    }
    if (!alive->stopping)
        lose(alive, &err);
    return NULL;
}

bool alive_lost(struct alive *alive, struct err *ret_why)
{
    if (alive == NULL || !alive->lost)
        return false;
    *ret_why = alive->why;
    return true;
}

static enum rc enroll(struct executor *ex, struct alive *alive, struct err *err)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    STR_AUTO queues = {0};
    db_array_start(&queues);
    for (int i = 0; i < ex->options->queue_count; i++)
        db_array_text(&queues, ex->options->queues[i], strlen(ex->options->queues[i]));
    db_array_end(&queues);
    incarnation_name(&ex->incarnation);
    DB_RESULT_AUTO *row = NULL;
    const char *const params[] = {ex->incarnation.id,
                                  host,
                                  DB_INT(getpid()),
                                  LOCKSTEP_VERSION,
                                  DB_INT(ex->options->readers),
                                  queues.data,
                                  DB_INT(ex->options->frozen_after_ms)};
    /* Row and lock are made in one statement: a session that saw the row before the lock would take
     * this executor for dead. */
    enum rc rc = db_run(alive->db, &sql_executor_register, params, &row, err);
    if (rc != RC_OK)
        return rc;
    alive->executor_no = (int)db_int(row, 0, EXECUTOR_REGISTER_EXECUTOR_NO);
    incarnation_register(&ex->incarnation, alive->executor_no);
    (void)snprintf(alive->id, sizeof alive->id, "%s", ex->incarnation.id);
    if (ex->memory->predecessor[0] != '\0')
        rc = db_run(alive->db, &sql_executor_end,
                    (const char *const[]){ex->memory->predecessor, "lost", NULL}, NULL, err);
    if (rc == RC_OK && ex->memory->predecessor[0] != '\0')
        rc = db_run(
            alive->db, &sql_executor_inherit,
            (const char *const[]){ex->memory->predecessor, DB_INT(ex->incarnation.executor_no)},
            NULL, err);
    if (rc == RC_OK)
        incarnation_inherited(&ex->incarnation);
    if (rc == RC_OK)
        /* An executor that has adopted such a task meanwhile has counted the attempt;
         * lockstep.spare takes that back. */
        rc = spare_report(&ex->memory->spared, alive->db, err);
    if (rc == RC_OK)
        rc = db_run(alive->db, &sql_executor_forget, NULL, NULL, err);
    if (rc != RC_OK)
        return rc;
    char hint[200] = "";
    if (!db_null(row, 0, EXECUTOR_REGISTER_TAKER))
        (void)snprintf(hint, sizeof hint, REMEDY_LOCKS_TAKEN,
                       db_text(row, 0, EXECUTOR_REGISTER_TAKER));
    if (!db_bool(row, 0, EXECUTOR_REGISTER_GRANTED))
        return err_set(err, RC_FATAL, ERR_HELD, ex->incarnation.id, hint,
                       "the lock of a new executor (number %s) is held by %s",
                       db_text(row, 0, EXECUTOR_REGISTER_EXECUTOR_NO),
                       db_null(row, 0, EXECUTOR_REGISTER_TAKERS)
                           ? "a session that has released it"
                           : db_text(row, 0, EXECUTOR_REGISTER_TAKERS));
    return RC_OK;
}

static void done(struct alive *alive)
{
    db_canceller_free(alive->socket);
    db_close(alive->db);
    (void)pthread_mutex_destroy(&alive->lock);
    str_done(&alive->ends_sent);
    topics_free(alive->topics);
    free(alive);
}

enum rc alive_start(struct executor *ex, struct alive **ret_alive, struct err *err)
{
    struct alive *alive = xcalloc(1, sizeof *alive);
    alive->control = &ex->inbox;
    alive->topics = topics_new(ex->options->queue_count);
    alive->severs = ex->control.canceller;
    alive->t2_ms = ex->options->frozen_after_ms;
    alive->t1_ms = alive_t1_ms(ex->options);
    /* At least two heartbeats fit into T2 even when idle, so one that is late makes no executor
     * look frozen. */
    alive->busy_ms = least(ex->options->heartbeat_ms, alive->t2_ms / 4);
    alive->idle_ms = least(ex->options->heartbeat_ms * IDLE_FACTOR, alive->t2_ms / 2);
    (void)pthread_mutex_init(&alive->lock, NULL);
    enum rc rc = db_open_on(ex->options->conninfo, DB_LIVENESS, db_server(ex->control.db), DB_SAME,
                            &alive->db, err);
    if (rc == RC_OK) {
        db_patience(alive->db, ex->control.patience_ms); /* until each heartbeat sets its own */
        rc = enroll(ex, alive, err);
    }
    probe("start.enrolled");
    if (rc == RC_OK) {
        alive->socket = db_canceller_new(alive->db);
        rc = db_canceller_whole(alive->socket, err);
    }
    if (rc == RC_OK)
        rc = thread_start(&alive->thread, "liveness", alive_main, alive, err);
    if (rc == RC_OK) {
        *ret_alive = alive;
        return rc;
    }
    done(alive);
    return rc;
}

int alive_socket(const struct alive *alive)
{
    return db_canceller_socket(alive->socket);
}

void alive_busy(struct alive *alive, bool busy)
{
    if (alive->busy == busy)
        return;
    alive->busy = busy;
    if (busy) /* the other executors check for dead ones, too, from now on */
        mailbox_poke(&alive->thread.inbox);
}

/* `soon` is cleared before stirred_us is read, and written behind it: if this call comes in
 * between, the thread either sees the new time or is poked. Without that order a stir could fall
 * between the two and wait for the idle interval. */
void alive_stir(struct alive *alive)
{
    alive->stirred_us = clock_boot_us();
    if (!alive->soon)
        mailbox_poke(&alive->thread.inbox);
}

void alive_stand_by(struct alive *alive, bool stands_by)
{
    alive->stands_by = stands_by;
    if (stands_by)
        mailbox_poke(&alive->thread.inbox);
}

void alive_end(struct alive *alive, int queue, int64_t end)
{
    topics_set_end(alive->topics, queue, end);
}

void alive_topic_trouble(struct alive *alive, int queue, const char *trouble)
{
    if (topics_set_trouble(alive->topics, queue, trouble))
        mailbox_poke(&alive->thread.inbox);
}

void alive_trouble(struct alive *alive, enum alive_cause cause, const char *trouble)
{
    char text[sizeof *alive->trouble];
    utf8_copy(text, sizeof text, trouble != NULL ? trouble : "");
    (void)pthread_mutex_lock(&alive->lock);
    bool turned = (*text != '\0') != (alive->trouble[cause][0] != '\0');
    memcpy(alive->trouble[cause], text, sizeof text);
    (void)pthread_mutex_unlock(&alive->lock);
    if (turned)
        mailbox_poke(&alive->thread.inbox);
}

void alive_signalled(struct alive *alive, enum alive_signal signal)
{
    if (alive->signalled == (int)signal)
        return;
    alive->signalled = signal;
    mailbox_poke(&alive->thread.inbox);
}

void alive_stop(struct alive *alive, const char *why, const char *error)
{
    if (alive == NULL)
        return;
    alive->stopping = true;
    thread_stop(&alive->thread);
    db_patience(alive->db, alive->t1_ms / 5);
    enum rc rc = db_run(alive->db, &sql_executor_end, (const char *const[]){alive->id, why, error},
                        NULL, NULL);
    if (rc != RC_OK)
        log_event(LOG_WARN, "executor_not_signed_off", "executor", alive->id, NULL);
    done(alive);
}

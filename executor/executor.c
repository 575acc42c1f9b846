/* The life of an executor: one incarnation after another, each from its first session to its last.
 * executor_run() decides whether another incarnation follows and after which pause,
 * incarnation_start() and incarnation_stop() have the order of sessions and threads, and run.c has
 * the turns between the two. */
#include "executor/executor.h"

#include "executor/alive.h"
#include "executor/counts.h"
#include "executor/execute.h"
#include "executor/gate.h"
#include "executor/jobs.h"
#include "executor/judging.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/late.h"
#include "executor/output.h"
#include "executor/phases.h"
#include "executor/readers.h"
#include "executor/receive.h"
#include "executor/run.h"
#include "executor/server.h"
#include "executor/sessions.h"
#include "executor/share.h"
#include "executor/signals.h"
#include "executor/spare.h"
#include "executor/trouble.h"
#include "executor/turn.h"
#include "executor/wait.h"
#include "executor/watcher.h"

#include "db/sqlstate.h"
#include "reader/reader.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/probe.h"
#include "base/service.h"
#include "db/db.h"
#include "kafka/consumer.h"
#include "phaselock/phaselock.h"
#include "reader/work.h"
#include "relay/relay.h"
#include "scheduler/retention.h"

#include <poll.h>
#include <stdlib.h>

#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS  2000
#define LASTS_FIRST_MS   1000
#define LASTS_LAST_MS    60000
#define REFUSED_LAST_MS  30000 /* a login that is refused is let in by a person */
#define PATIENCE_LAST_MS                                                                           \
    60000 /* doubled from T1 on: a statement that needs longer gets through in the end */
#define CALM_US        (60 * 1000 * 1000LL)
#define LOCKS_PER_LANE 64 /* S and IX of the phases in hand, twice the usual lookahead */

static void drop_mail(struct executor *ex)
{
    for (struct mail *mail = mailbox_take(&ex->inbox), *next; mail != NULL; mail = next) {
        next = mail->next;
        if (mail->kind == MAIL_WORK_DONE) {
            spare_note(&ex->memory->spared, (struct work *)mail);
            work_free((struct work *)mail);
        } else
            free(mail);
    }
}

/* Rows and locks of this executor are given up in order; after a loss there is nothing to give up.
 *
 * spare_start() comes before reader_abandon(), which severs the sessions that get the report of a
 * crash. The liveness session ends last: until then no executor adopts tasks that may run here.
 * follows: another incarnation comes, and explain says so instead of that no executor works. */
static void incarnation_stop(struct executor *ex, enum rc why, const struct err *cause,
                             bool follows)
{
    STR_AUTO error = {0};
    bool clean = why == RC_OK;
    struct err err;
    counts_stop(ex);
    if (clean)
        probe("incarnation.drained");
    else
        probe("incarnation.lost");
    spare_start(ex, cause);
    for (int i = 0; !clean && i < ex->readers.count; i++)
        reader_abandon(ex->readers.list[i].thread);
    for (int i = 0; i < ex->lane_count; i++)
        gates_stop(&ex->lanes[i], clean);
    for (int i = 0; i < ex->readers.count; i++)
        reader_stop(ex->readers.list[i].thread);
    drop_mail(ex);
    for (int i = 0; i < ex->lane_count; i++)
        late_drop(&ex->lanes[i].late, &ex->memory->spared);
    spare_end(&ex->memory->spared);
    for (int i = 0; i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        phases_drop(&lane->phases);
        lane_close(lane);
    }
    readers_forget(&ex->readers);
    if (clean && slots_return(ex, true, &err) != RC_OK)
        log_err(LOG_WARN, "slots_not_returned", NULL, &err);
    if (clean && output_write(&ex->output, ex->control.db, NULL) != RC_OK)
        log_event(LOG_WARN, "notices_not_kept", NULL);
    jobs_end(ex);
    relay_stop(ex->services.relay, clean);
    retention_stop(ex->services.retention);
    control_close(&ex->control);
    if (!clean)
        trouble_text(&error, cause);
    alive_stop(ex->services.alive, clean ? "drained" : follows ? "lost" : "failed", error.data);
    control_free(&ex->control);
    watcher_stop(ex->services.watcher); /* the last one who writes to us */
    drop_mail(ex);
    if (ex->services.consumer != NULL)
        kafka_consumer_close(ex->services.consumer);
    output_done(&ex->output);
    mailbox_done(&ex->inbox);
    judging_done(&ex->judging);
    free(ex->lanes);
    share_end(ex);
    readers_done(&ex->readers);
}

/* Control's session is first: the others must lead to its server. The readers' sessions are noted
 * before a lane is opened: an adopter ends the sessions that it finds there. */
static enum rc incarnation_start(struct executor *ex, struct err *err)
{
    const struct executor_options *options = ex->options;
    const char *task_conninfo = options->task_conninfo ? options->task_conninfo : options->conninfo;
    mailbox_init(&ex->inbox);
    ex->lanes = xcalloc((size_t)options->queue_count, sizeof *ex->lanes);
    share_start(ex);
    enum rc rc = server_open(ex, err);
    if (rc == RC_OK)
        rc = control_ready(&ex->control, err);
    if (rc == RC_OK)
        rc = alive_start(ex, &ex->services.alive, err);
    if (rc == RC_OK)
        rc = consumer_open(ex, err);
    if (rc == RC_OK)
        rc = watcher_start(ex, &ex->services.watcher, err);
    const struct reader_outside outside = {.actions = options->actions,
                                           .liveness_socket =
                                               rc == RC_OK ? alive_socket(ex->services.alive) : -1,
                                           .silence_ms = alive_t1_ms(options)};
    if (rc == RC_OK)
        rc = readers_start(&ex->readers, options->readers, options->queue_count, task_conninfo,
                           db_server(ex->control.db), &outside, &ex->inbox, err);
    int64_t asked_us = clock_boot_us();
    if (rc == RC_OK)
        rc = session_note(ex->control.db, ex->incarnation.executor_no, "control", err);
    if (rc == RC_OK) {
        control_round_trip(&ex->control, clock_boot_us() - asked_us);
        rc = sessions_note(ex, err);
    }
    turn_clock(&ex->turn);
    for (int i = 0; rc == RC_OK && i < options->queue_count && signals_stop() == 0; i++) {
        ex->lanes[i] = (struct lane){
            .ex = ex, .queue = {.name = options->queues[i]}, .lag = {.sent = -1, .high = -1}};
        ex->lane_count++;
        rc = lane_confine(&ex->lanes[i], lane_open(&ex->lanes[i], err), err);
    }
    for (int i = 0; rc == RC_OK && i < ex->lane_count && signals_stop() == 0; i++)
        if (!ex->lanes[i].queue.gone && !ex->lanes[i].queue.stale)
            rc = lane_start(&ex->lanes[i], err);
    if (rc == RC_OK)
        rc = jobs_begin(ex, err);
    if (rc == RC_OK) {
        log_event(LOG_INFO, "executor_started", "executor", ex->incarnation.id, "readers",
                  LOG_INT(ex->readers.count), NULL);
        service_ready();
    }
    return rc;
}

/* When the lock table is full the whole cluster refuses connections, so the start checks how much
 * of it is free. */
static enum rc check_locks(struct executor *ex, struct err *err)
{
    struct err why = {0};
    int needed = LOCKS_PER_LANE * ex->lane_count + ex->readers.count;
    enum rc rc = phaselock_headroom(ex->control.db, needed, &why);
    if (rc == RC_RETRY) {
        log_err(LOG_WARN, "lock_table_nearly_full", NULL, &why);
        return RC_OK;
    }
    if (rc != RC_OK && err != NULL)
        *err = why;
    return rc;
}

/* What this process has seen of its incarnations. */
struct life {
    bool ran;      /* the latest one came up */
    bool ran_once; /* any of them did */
    bool reached;  /* the server was */
    int patience_ms;
};

/* Errors that a process which has come up waits out: the server comes back, or a person acts.
 * A right may have been revoked by mistake. */
static bool is_outage(const struct err *why)
{
    return sqlstate_barred(why) || why->kind == ERR_KAFKA_DOWN || why->kind == ERR_DB_DOWN ||
           why->kind == ERR_SCHEMA;
}

/* An error of the first start ends the process, so that a mistake in the configuration is seen. A
 * process that has come up lives through any outage (tests/e2e/outage.sh, start_trouble.sh). */
static bool another_follows(const struct executor_options *options, const struct life *life,
                            enum rc rc, const struct err *why)
{
    if (rc == RC_OK || signals_stop() > 0)
        return false;
    if (rc == RC_FATAL && !is_outage(why))
        return false;
    return rc == RC_RETRY || life->ran_once ||
           (rc == RC_LOST && life->reached && !options->until_idle);
}

/* One incarnation: from its first session to its last. */
static enum rc incarnation(const struct executor_options *options, struct server_memory *memory,
                           struct life *life, struct err *err)
{
    struct executor ex = {
        .options = options, .memory = memory, .control = {.patience_ms = life->patience_ms}};
    bool done = false;
    int64_t from_us = clock_boot_us();
    enum rc rc = incarnation_start(&ex, err);
    life->ran = rc == RC_OK;
    life->ran_once = life->ran_once || life->ran;
    life->reached = life->reached || ex.control.db != NULL;
    if (rc == RC_OK)
        rc = check_locks(&ex, err);
    incarnation_up(&ex.incarnation, clock_boot_us());
    while (rc == RC_OK && !done) {
        rc = run_turn(&ex, &done, err);
        if (rc == RC_OK && !done)
            wait_for_work(&ex);
    }
    /* The liveness thread severs control's connection, so control's own error is a consequence. Its
     * own time-out doubles the patience, or a slow statement would end each incarnation. */
    if (rc != RC_OK && alive_lost(ex.services.alive, err))
        rc = RC_LOST; /* control's own error follows from it */
    else if (rc == RC_LOST && err->kind == ERR_TIMEOUT && life->patience_ms < PATIENCE_LAST_MS)
        life->patience_ms *= 2;
    else if (clock_boot_us() - from_us > CALM_US)
        life->patience_ms = alive_t1_ms(options);
    server_remember(&ex);
    memory->completed = ex.incarnation.completed;
    incarnation_stop(&ex, rc, err, another_follows(options, life, rc, err));
    if (life->ran) /* else there is no line about its start */
        log_event(LOG_INFO, "executor_stopped", "executor", ex.incarnation.id, NULL);
    return rc;
}

/* A signal ends the wait. A wake-up that librdkafka's threads wrote before it does not. */
static void wait_before_next(int backoff_ms)
{
    signals_clear();
    struct pollfd fd = {.fd = signals_fd(), .events = POLLIN};
    if (signals_stop() == 0)
        (void)poll(&fd, 1, backoff_ms);
}

/* The server answers and does not do what is asked: a person has to help, or time. */
static bool lasts(enum rc rc, const struct err *why)
{
    return rc == RC_REJECT || sqlstate_lacks(why) || sqlstate_is(why, SQLSTATE_SYSTEM_ERROR);
}

/* The pause before the next incarnation. It grows until one of them has completed a task, or has
 * lived for longer than the last pause (than any pause, where the server refuses statements): that
 * a start succeeds shows nothing, and the first claim may come seconds later. */
static int next_pause(enum rc rc, const struct err *why, const struct server_memory *memory,
                      int64_t lived_us, int pause_ms)
{
    int first_ms = BACKOFF_FIRST_MS, last_ms = BACKOFF_LAST_MS, enough_ms = pause_ms;
    if (lasts(rc, why)) {
        first_ms = LASTS_FIRST_MS;
        last_ms = enough_ms = LASTS_LAST_MS;
    } else if (sqlstate_barred(why)) {
        last_ms = REFUSED_LAST_MS;
    }
    bool worked = memory->completed || (lived_us > LIVED_US && lived_us > 1000LL * enough_ms);
    int next_ms = backoff_next(worked ? 0 : pause_ms, first_ms, last_ms);
    return next_ms > first_ms ? next_ms : first_ms;
}

enum rc executor_run(const struct executor_options *options, struct err *err)
{
    signals_start();
    if (options->task_conninfo == NULL)
        log_event(LOG_WARN, "tasks_run_with_executor_rights", "hint",
                  "set [postgres] task_conninfo", NULL);
    enum rc rc;
    struct server_memory memory;
    struct life life = {.patience_ms = alive_t1_ms(options)};
    server_memory_init(&memory);
    int backoff_ms = BACKOFF_FIRST_MS;
    struct err why;
    for (;;) {
        why = (struct err){0};
        int64_t from_us = clock_boot_us();
        rc = incarnation(options, &memory, &life, &why);
        if (rc == RC_LOST && why.kind == ERR_TIMEOUT) /* not a time-out of the user's */
            why.kind = ERR_DB_DOWN;
        if (rc != RC_OK && err != NULL)
            *err = why;
        if (!another_follows(options, &life, rc, &why))
            break;
        server_outage(&memory, &why);
        backoff_ms =
            next_pause(rc, &why, &memory, life.ran ? clock_boot_us() - from_us : 0, backoff_ms);
        wait_before_next(backoff_ms);
    }
    server_memory_done(&memory);
    signals_end();
    /* A process that is stopped during an outage has not failed. */
    bool waited = rc == RC_LOST || rc == RC_RETRY || (life.ran_once && is_outage(&why));
    return signals_stop() > 0 && waited ? RC_OK : rc;
}

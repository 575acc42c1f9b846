/* Which server is this? Three answers: db_open_on() refuses sessions that lead elsewhere than
 * control's, lockstep.server_recognise compares the server with the queue's row, and server_memory
 * has the newest server that this process has seen. A process that has seen a higher timeline never
 * returns to a lower one; a new process cannot know (docs/explanation/guarantees.md, Two primaries;
 * tests/e2e/failover.sh, restore.sh). */
#include "executor/server.h"

#include "executor/cut_off.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "db/db.h"

#include <stdio.h>
#include <string.h>

/* -1 and not 0: a queue may be at offset 0. */
void server_memory_init(struct server_memory *memory)
{
    *memory = (struct server_memory){0};
    for (int i = 0; i < SERVER_MOST_QUEUES; i++)
        memory->cursors[i] = -1;
}

void server_memory_done(struct server_memory *memory)
{
    for (int i = 0; i < 3; i++)
        str_done(&memory->spared.of[i]);
    str_done(&memory->needs_logged);
}

#define LOCK_TIMEOUT_MS 2000 /* db/packet.c */

/* Otherwise a row that another session has locked would be taken for a server that does not answer,
 * and would end the incarnation instead of delaying one statement. */
enum rc server_lock_timeout(struct db *db, int patience_ms, struct err *err)
{
    char ms[16];
    (void)snprintf(ms, sizeof ms, "%d", patience_ms / 2);
    return patience_ms / 2 >= LOCK_TIMEOUT_MS
               ? RC_OK
               : db_run(db, &sql_session_lock_timeout, (const char *const[]){ms}, NULL, err);
}

enum rc server_open(struct executor *ex, struct err *err)
{
    struct server_memory *memory = ex->memory;
    enum rc rc = db_open_on(ex->options->conninfo, DB_CONTROL, &memory->server, DB_NOT_OLDER,
                            &ex->control.db, err);
    if (rc != RC_OK)
        return rc;
    const struct db_server *is = db_server(ex->control.db);
    if (*memory->server.system_id && strcmp(memory->server.system_id, is->system_id) != 0)
        log_event(LOG_WARN, "server_changed", "system_was", memory->server.system_id, "system",
                  is->system_id, NULL);
    if (*is->system_id)
        memory->server = *is;
    return server_lock_timeout(ex->control.db, ex->control.patience_ms, err);
}

void server_outage(struct server_memory *memory, const struct err *why)
{
    struct err logged = *why;
    utf8_copy(logged.hint, sizeof logged.hint, login_hint(why));
    if (outage_must_log(&memory->outage, why, clock_boot_us()))
        log_err(LOG_WARN, "incarnation_lost", NULL, &logged);
}

/* An incarnation that ends within LIVED_US belongs to the same outage, so its start does not end
 * the outage in the log. */
void server_lives(struct executor *ex)
{
    struct outage *outage = &ex->memory->outage;
    int64_t lasted_ms;
    if (outage->since_us != 0 && ex->turn.now_us - ex->incarnation.up_us >= LIVED_US &&
        outage_over(outage, ex->incarnation.up_us, &lasted_ms))
        log_event(LOG_INFO, "outage_over", "executor", ex->incarnation.id, "lasted_ms",
                  LOG_INT(lasted_ms), NULL);
}

int64_t server_due_us(const struct executor *ex)
{
    int64_t lived_us = ex->incarnation.up_us + LIVED_US;
    return ex->memory->outage.since_us != 0 && ex->turn.now_us < lived_us ? lived_us : 0;
}

/* One line a queue: people look for it after a fail-over, a restore or a crash. */
static void log_change(const struct lane *lane, int64_t timeline_was)
{
    const struct server_memory *memory = lane->ex->memory;
    int i = (int)(lane - lane->ex->lanes);
    int64_t was = memory->cursors[i], timeline = memory->server.timeline;
    if (was >= 0 && memory->timelines[i] < timeline)
        timeline_was = memory->timelines[i];
    if (timeline_was > 0 && timeline_was < timeline && was < 0)
        log_event(LOG_WARN, "failed_over", "queue", lane->queue.name, "timeline_was",
                  LOG_INT(timeline_was), "timeline", LOG_INT(timeline), "cursor",
                  LOG_INT(lane->stream.cursor), NULL);
    else if (timeline_was > 0 && timeline_was < timeline)
        log_event(LOG_WARN, "failed_over", "queue", lane->queue.name, "timeline_was",
                  LOG_INT(timeline_was), "timeline", LOG_INT(timeline), "cursor_was", LOG_INT(was),
                  "cursor", LOG_INT(lane->stream.cursor), NULL);
    else if (was > lane->stream.cursor)
        log_event(LOG_WARN, "cursor_went_back", "queue", lane->queue.name, "cursor_was",
                  LOG_INT(was), "cursor", LOG_INT(lane->stream.cursor), NULL);
}

enum rc server_recognise(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    const struct db_server *is = db_server(ex->control.db);
    DB_RESULT_AUTO *row = NULL;
    queue_set_foreign(&lane->queue, false);
    const char *const params[] = {DB_INT(lane->queue.id), DB_INT(ex->incarnation.executor_no),
                                  *is->system_id ? is->system_id : NULL, DB_INT(is->database),
                                  DB_INT(is->timeline)};
    enum rc rc = db_run(ex->control.db, &sql_executor_server, params, &row, err);
    if (rc != RC_OK)
        return rc;
    if (db_word(row, 0, EXECUTOR_SERVER_VERDICT) != EXECUTOR_SERVER_IS_OTHER) {
        log_change(lane, db_int(row, 0, EXECUTOR_SERVER_TIMELINE_WAS));
        return RC_OK;
    }
    queue_set_halted(&lane->queue);
    queue_set_foreign(&lane->queue, true);
    stream_turn(&lane->stream, SOURCE_STOPPED);
    log_event(LOG_ERROR, "queue_halted", "queue", lane->queue.name, "reason", "other_server",
              "detail", db_text(row, 0, EXECUTOR_SERVER_DETAIL), NULL);
    return RC_OK;
}

/* Where each lane was is compared when the next incarnation reads its row: a cursor that went back
 * is the sign of commits that a crash or a fail-over has lost (tests/e2e/crash.sh). */
void server_remember(struct executor *ex)
{
    /* Otherwise the next one inherits from the one before: this one has nothing to leave, and no
     * work. */
    if (ex->incarnation.inherited)
        memcpy(ex->memory->predecessor, ex->incarnation.id, sizeof ex->memory->predecessor);
    for (int i = 0; i < ex->lane_count; i++) {
        if (ex->lanes[i].queue.id == 0 || ex->lanes[i].queue.foreign)
            continue;
        ex->memory->cursors[i] = ex->lanes[i].stream.cursor;
        ex->memory->timelines[i] = ex->memory->server.timeline;
    }
}

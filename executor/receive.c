/* Records of the partition are decoded into the lane's buffer. A record that does not decode is
 * kept as rejected, and claimed as such. The file also begins and ends a lane's stream.
 *
 * Begin with receive() and take_records(). The consumer reads from offsets that this file names
 * (assign), never as a member of a group: the cursor in the queue's row is the only truth, and a
 * rebalance could not be made to agree with it. identity.c judges whether the topic is still the
 * right one; this file carries its verdict out (lane_follow). */
#include "executor/receive.h"

#include "executor/alive.h"
#include "executor/counts.h"
#include "executor/event.h"
#include "executor/executor.h"
#include "executor/keep.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/queue.h"
#include "executor/record.h"
#include "executor/requests.h"
#include "executor/server.h"
#include "executor/signals.h"
#include "executor/turn.h"
#include "executor/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/remedies.h"
#include "base/utf8.h"
#include "db/db.h"
#include "db/parameter.h"
#include "kafka/consumer.h"
#include "kafka/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FETCH_WAIT_MS and FETCH_WAIT_MANY_MS are fetch.wait.max.ms of librdkafka (CONFIGURATION.md
 * there), measured in bench/notes/idle.md. BROKER_PATIENCE_MS is longer than a broker that answers
 * at all needs at the start of a lane. */
#define BROKER_PATIENCE_MS 3000
#define RANGE_US           (10 * 1000 * 1000LL) /* outside the log again so soon: wait a moment */
#define RANGE_MS           1000
#define FETCH_WAIT_MS      "1000"
#define FETCH_WAIT_MANY_MS "500"

static enum rc read_lane(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = queue_read(lane->ex->control.db, &lane->queue, &row, err);
    if (rc != RC_OK)
        return rc;
    stream_read(&lane->stream, row);
    identity_read(lane, row);
    return RC_OK;
}

/* A topic of another cluster, or with another number of partitions, is not this queue's stream. If
 * no broker answers now, librdkafka keeps trying; the fingerprint is checked in any case. This is
 * the only time that control itself asks a broker and waits. */
static enum rc check_topic(struct lane *lane, struct err *err)
{
    struct err why = {0};
    int partitions = 0;
    STR_AUTO detail = {0};
    enum rc rc = kafka_consumer_partitions(lane->ex->services.consumer, lane->queue.topic,
                                           BROKER_PATIENCE_MS, &partitions, &why);
    if (rc != RC_OK) {
        log_err(LOG_WARN, "topic_not_checked", lane->queue.name, &why);
        return RC_OK;
    }
    const char *reason = identity_shape(
        lane, kafka_consumer_cluster_id(lane->ex->services.consumer), partitions, &detail);
    return reason == NULL ? RC_OK : lane_halt(lane, reason, detail.data, err);
}

/* halt_no is the number under which the trouble was found. An operator who accepts the topic raises
 * it, so a finding from before the decision changes no row and halts nothing
 * (tests/e2e/topic_accept_test.c). */
enum rc lane_halt(struct lane *lane, const char *reason, const char *found, struct err *err)
{
    STR_AUTO text = {0};
    utf8_escape(&text, found); /* of a topic or a broker: any bytes */
    const char *detail = text.data != NULL ? text.data : "";
    identity_clear(&lane->identity);
    enum rc rc = db_run(
        lane->ex->control.db, &sql_executor_halt,
        (const char *const[]){DB_INT(lane->queue.id), reason, detail, DB_INT(lane->queue.halt_no)},
        NULL, err);
    if (rc == RC_NONE) { /* an operator has decided about the queue meanwhile */
        lane_restart(lane);
        return RC_OK;
    }
    if (rc != RC_OK)
        return rc;
    queue_set_halted(&lane->queue);
    stream_turn(&lane->stream, SOURCE_STOPPED);
    log_event(LOG_ERROR, "queue_halted", "queue", lane->queue.name, "reason", reason, "detail",
              detail, NULL);
    return RC_OK;
}

static enum rc read_and_recognise(struct lane *lane, struct err *err)
{
    enum rc rc = read_lane(lane, err);
    if (rc == RC_OK)
        rc = server_recognise(lane, err);
    if (rc == RC_OK)
        keep_send(lane);
    /* At the start, and when an operator has accepted the server: the outbox has been waiting. */
    if (rc == RC_OK && !lane->queue.foreign)
        event_raise(lane, EVENT_RECOGNISED);
    return rc;
}

/* The source is assigned one record early, at the record that was claimed last, so that
 * check_identity() can compare it before anything behind it is claimed. */
static enum rc begin(struct lane *lane, bool checked, struct err *err)
{
    if (lane->queue.halted) { /* nothing is read until an operator has decided */
        stream_turn(&lane->stream, SOURCE_STOPPED);
        return RC_OK;
    }
    event_raise(lane, EVENT_ASSIGNED);
    bool check = checked && lane->stream.check_offset >= 0;
    identity_begin(lane);
    stream_begin(&lane->stream, check, lane->ex->turn.now_us);
    enum rc rc = kafka_source_assign(lane->stream.source,
                                     check ? lane->stream.check_offset : lane->stream.cursor, err);
    if (rc == RC_OK)
        log_event(LOG_INFO, "assigned", "queue", lane->queue.name, "topic", lane->queue.topic,
                  "offset", LOG_INT(lane->stream.cursor), NULL);
    return rc;
}

static enum rc assign(struct lane *lane, bool checked, struct err *err)
{
    stream_clear(&lane->stream);
    enum rc rc = read_and_recognise(lane, err);
    return rc == RC_OK ? begin(lane, checked, err) : rc;
}

/* Reads the queue's row again and starts at its cursor. */
static enum rc lane_assign(struct lane *lane, struct err *err)
{
    return assign(lane, true, err);
}

/* The queue's row was changed: reads the settings that matter at once. */
enum rc lane_reread(struct lane *lane, struct err *err)
{
    bool decided = false;
    enum rc rc = queue_reread(lane->ex->control.db, &lane->queue, &decided, err);
    if (rc != RC_OK)
        return rc;
    keep_send(lane);
    return decided && !lane->queue.halted ? lane_assign(lane, err) : RC_OK;
}

/* At the end of a topic a fetch waits long at the broker, because an idle client costs little more
 * than its fetches. Two exceptions: --until-idle waits for the first empty fetch, which shows the
 * end; and with many queues, a busy queue whose buffer was full for a moment waits for the fetch
 * that was sent without it. */
enum rc consumer_open(struct executor *ex, struct err *err)
{
    struct kafka_properties props = {0};
    kafka_properties_copy(&props, ex->options->kafka);
    enum rc rc = RC_OK;
    const char *wait_ms = ex->options->queue_count == 1 ? FETCH_WAIT_MS : FETCH_WAIT_MANY_MS;
    if (!ex->options->until_idle && kafka_properties_get(&props, "fetch.wait.max.ms") == NULL)
        rc = kafka_properties_set(&props, "fetch.wait.max.ms", wait_ms, err);
    if (rc == RC_OK)
        rc = kafka_consumer_open(&props, signals_fd(), &ex->services.consumer, err);
    if (rc == RC_OK)
        counts_begin(ex);
    kafka_properties_done(&props);
    return rc;
}

static enum rc note_attempts(struct lane *lane, struct err *err)
{
    if (lane->queue.foreign)
        return RC_OK;
    return db_run(
        lane->ex->control.db, &sql_executor_attempts,
        (const char *const[]){DB_INT(lane->queue.id), DB_INT(lane->ex->options->max_attempts)},
        NULL, err);
}

/* LISTEN comes before the second reading of the row (read_and_recognise). PostgreSQL delivers the
 * notifications of transactions that commit after LISTEN has committed (manual, LISTEN), so a
 * change is either in the row that is read or is notified; the other order would leave a gap.
 *
 * The source is opened last but for the watcher, which cannot fail: a lane without a source lacks
 * these steps, and lane_renew does them again. */
static enum rc lane_join(struct lane *lane, struct err *err)
{
    enum rc rc = read_lane(lane, err);
    if (rc != RC_OK)
        return rc;
    STR_AUTO listen = {0};
    str_format(&listen, "LISTEN lockstep_%d", lane->queue.id);
    rc = db_script(lane->ex->control.db, listen.data, NULL, err);
    if (rc == RC_OK)
        rc = kafka_source_open(lane->ex->services.consumer, lane->queue.topic,
                               lane->queue.partition, &lane->stream.source, err);
    if (rc == RC_OK)
        identity_watch(lane);
    return rc;
}

enum rc lane_open(struct lane *lane, struct err *err)
{
    stream_open(&lane->stream);
    event_raise(lane, EVENT_LANE_OPENED);
    enum rc rc = lane_join(lane, err);
    if (rc == RC_OK)
        rc = read_and_recognise(lane, err);
    if (rc == RC_OK &&
        !lane->queue.halted) /* later the watcher checks, so that control never waits for Kafka */
        rc = check_topic(lane, err);
    if (rc == RC_OK)
        rc = requests_read(lane, err);
    return rc == RC_OK ? note_attempts(lane, err) : rc;
}

enum rc lane_start(struct lane *lane, struct err *err)
{
    return begin(lane, true, err);
}

void lane_restart(struct lane *lane)
{
    stream_clear(&lane->stream);
    stream_turn(&lane->stream, SOURCE_STOPPED);
    queue_set_stale(&lane->queue, true);
    turn_again(&lane->ex->turn);
}

enum rc lane_renew(struct lane *lane, struct err *err)
{
    enum rc rc = lane->stream.source == NULL ? lane_join(lane, err) : RC_OK;
    if (rc == RC_OK)
        rc = lane_assign(lane, err);
    if (rc == RC_OK)
        rc = note_attempts(lane, err);
    queue_set_stale(&lane->queue, rc != RC_OK);
    return rc;
}

void lane_close(struct lane *lane)
{
    free(lane->paused.runs);
    stream_close(&lane->stream);
}

/* The record that was claimed last must still be at its offset; otherwise this is another topic. A
 * later offset than the one asked for means that the record is gone: offsets have gaps, and a fetch
 * begins at the next record that there is. Only retention removes a record from the front, so this
 * proves nothing against the topic. */
static enum rc check_identity(struct lane *lane, const struct kafka_record *record, struct err *err)
{
    unsigned char digest[16];
    STR_AUTO hex = {0};
    kafka_record_digest(record, digest);
    db_bytea(&hex, digest, sizeof digest);
    stream_turn(&lane->stream, SOURCE_READING);
    if (record->offset > lane->stream.check_offset) {
        int64_t low, high;
        kafka_source_watermarks(lane->stream.source, &low, &high);
        log_event(LOG_WARN, "fingerprint_skipped", "queue", lane->queue.name, "offset",
                  LOG_INT(lane->stream.check_offset), "low", LOG_INT(low), "reason",
                  "retention removed the last claimed record", NULL);
        return RC_OK;
    }
    if (strcmp(hex.data + 2, lane->stream.check_digest) == 0 &&
        record->timestamp_ms == lane->stream.check_timestamp)
        return RC_OK;
    STR_AUTO detail = {0};
    str_format(
        &detail,
        "the record at offset %lld is not the one that was claimed: the topic was created again "
        "or replaced",
        (long long)record->offset);
    return lane_halt(lane, "fingerprint", detail.data, err);
}

/* The stream stopped for good: the queue is halted with the reason. A position outside the log has
 * several causes; the watcher's next check of the topic finds the right one. auto.offset.reset is
 * `error`, so librdkafka reports such a position as _AUTO_OFFSET_RESET instead of moving to an end
 * of the log, which would skip messages or claim them again. */
static enum rc source_failed(struct lane *lane, const struct err *why, struct err *err)
{
    static const struct {
        const char *code, *reason;
    } reasons[] = {
        {"UNKNOWN_TOPIC_OR_PART", "topic_deleted"},
        {"_UNKNOWN_TOPIC", "topic_deleted"},
        {"_UNKNOWN_PARTITION", "topic_deleted"},
        {"_BAD_MSG", "corrupt"},
        {"_BAD_COMPRESSION", "corrupt"},
        {"_PARTIAL", "corrupt"},
        {"_UNDERFLOW", "corrupt"},
        {"INVALID_MSG", "corrupt"},
    };
    if (strcmp(why->code, "_AUTO_OFFSET_RESET") == 0 ||
        strcmp(why->code, "OFFSET_OUT_OF_RANGE") == 0) {
        log_event(LOG_WARN, "position_outside_log", "queue", lane->queue.name, "detail",
                  why->message, "at", why->context, NULL);
        stream_turn(&lane->stream, SOURCE_ASKING);
        identity_ask(lane,
                     lane->ex->turn.now_us - lane->stream.assigned_us < RANGE_US ? RANGE_MS : 0);
        return RC_OK;
    }
    STR_AUTO detail = {0};
    const char *reason = "kafka";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(why->code, reasons[i].code) == 0)
            reason = reasons[i].reason;
    str_format(&detail, "%s: %s, %s (%s)", why->object, why->message, why->context, why->code);
    return lane_halt(lane, reason, detail.data, err);
}

static enum rc take_records(struct lane *lane, struct err *err)
{
    enum rc rc = RC_OK;
    stream_fill(&lane->stream);
    while (rc == RC_OK && lane->stream.state <= SOURCE_READING && !stream_full(&lane->stream)) {
        struct kafka_record record;
        struct err why = {0};
        enum rc polled = kafka_source_poll(lane->stream.source, &record, &why);
        if (polled == RC_FATAL)
            return source_failed(lane, &why, err);
        /* A broker that was away may have lost the tail of its log: the fingerprint comes first
         * again, and this record and those behind it are read once more. */
        if (kafka_source_cut(lane->stream.source)) {
            if (polled == RC_OK)
                kafka_record_free(&record);
            return lane_assign(lane, err);
        }
        if (polled != RC_OK)
            return RC_OK;
        if (lane->stream.state == SOURCE_CHECKING)
            rc = check_identity(lane, &record, err);
        if (rc == RC_OK && lane->stream.state == SOURCE_READING &&
            record.offset >= lane->stream.buffer_from)
            stream_append(&lane->stream, &record);
        kafka_record_free(&record);
    }
    return rc;
}

enum rc receive(struct lane *lane, struct err *err)
{
    int before = lane->stream.buffer_count;
    enum rc rc = take_records(lane, err);
    if (lane->stream.buffer_count > before)
        alive_stir(lane->ex->services.alive);
    return rc;
}

/* Transactions of producers leave control records on the topic, which a consumer never gets. Behind
 * the last run the cursor would stay in front of them, and lag would be shown where there is none.
 * The statement names the cursor that it moves, so that it does nothing if another executor has
 * claimed meanwhile. */
enum rc lane_end(struct lane *lane, struct err *err)
{
    int64_t end = kafka_source_end(lane->stream.source);
    if (!stream_at_end(&lane->stream) || lane->queue.halted || end <= lane->stream.cursor)
        return RC_OK;
    enum rc rc = db_run(
        lane->ex->control.db, &sql_executor_at_end,
        (const char *const[]){DB_INT(lane->queue.id), DB_INT(lane->stream.cursor), DB_INT(end)},
        NULL, err);
    if (rc == RC_OK)
        stream_drop(&lane->stream, end);
    return rc == RC_NONE ? RC_OK : rc;
}

/* A draining lane receives nothing. */
int64_t receive_due_us(const struct lane *lane)
{
    bool due = lane->stream.unread && lane->stream.buffer_count == 0 && !lane->ex->drain.draining;
    return due ? lane->ex->turn.now_us : 0;
}

enum rc lane_follow(const struct identity_finding *finding, struct err *err)
{
    struct lane *lane = finding->lane;
    switch (finding->verdict) {
    case IDENTITY_GOOD:
        return RC_OK;
    case IDENTITY_ASSIGN:
        return lane_assign(lane, err);
    case IDENTITY_ASSIGN_UNCHECKED:
        return assign(lane, false, err);
    case IDENTITY_HALT:
        return lane_halt(lane, finding->reason, finding->detail.data, err);
    }
    return RC_OK;
}

/* Is the topic still the one that the queue has claimed from? The watcher checks the topic now and
 * then, and after each doubt; this file compares its answer with the queue's row (cluster,
 * partitions, birthmark, ends of the log). A finding becomes a verdict only when a second check,
 * begun later, finds the same, and it halts the queue only if no operator has decided since
 * (halt_no). receive.c carries the verdict out. */
#include "executor/identity.h"

#include "executor/alive.h"
#include "executor/lag.h"
#include "executor/lane.h"
#include "executor/queue.h"
#include "executor/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/remedies.h"
#include "base/utf8.h"
#include "db/db.h"
#include "kafka/consumer.h"
#include "kafka/source.h"
#include "task/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* EXPIRED_S is far below offsets.retention.minutes of a broker (seven days by default), behind
 * which an absent mark proves nothing. SLOW_SIGN_US: a commit of the mark that took so long may
 * have been overtaken by a new topic of the same name, so the fingerprint is compared again. */
#define MARK_RENEW_S 3600
#define AGAIN_MS     1000
#define EXPIRED_S                                                                                  \
    (24 * 3600) /* offsets of a group expire if they are not renewed, after a week by default */
#define SLOW_SIGN_US (2 * 1000 * 1000LL)
#define BLOCKED_US   (5 * 1000 * 1000LL) /* a publisher's transaction is open for a moment */

static void ask(struct lane *lane, int delay_ms)
{
    watcher_check(lane->ex->services.watcher, lane, ++lane->identity.asked, delay_ms);
}

void identity_ask(struct lane *lane, int delay_ms)
{
    lane->identity.checked = false;
    ask(lane, delay_ms);
}

void identity_read(struct lane *lane, const struct db_result *row)
{
    struct identity *identity = &lane->identity;
    (void)snprintf(identity->cluster_id, sizeof identity->cluster_id, "%s",
                   db_text(row, 0, EXECUTOR_QUEUE_CLUSTER_ID));
    identity->partitions = (int)db_int(row, 0, EXECUTOR_QUEUE_PARTITIONS);
    identity->marked = !db_null(row, 0, EXECUTOR_QUEUE_MARK_AGE_S);
    (void)snprintf(identity->mark, sizeof identity->mark, "%s",
                   db_text(row, 0, EXECUTOR_QUEUE_MARK));
    identity->mark_age_s = db_int(row, 0, EXECUTOR_QUEUE_MARK_AGE_S);
    identity->renew_at_us =
        lane->ex->turn.now_us + (MARK_RENEW_S - identity->mark_age_s) * 1000 * 1000;
    identity->blocked_offset = db_null(row, 0, EXECUTOR_QUEUE_BLOCKED_OFFSET)
                                   ? -1
                                   : db_int(row, 0, EXECUTOR_QUEUE_BLOCKED_OFFSET);
}

void identity_watch(struct lane *lane)
{
    lane->identity.leader = -1;
    watcher_add(lane->ex->services.watcher, lane);
}

void identity_begin(struct lane *lane)
{
    lane->identity.suspect[0] = '\0';
    lane->identity.open_at = -1;
    identity_ask(lane, 0);
}

void identity_clear(struct identity *identity)
{
    identity->suspect[0] = '\0';
}

bool identity_known(const struct identity *identity)
{
    return identity->checked && identity->suspect[0] == '\0';
}

static enum rc assign(struct identity_finding *to)
{
    to->verdict = IDENTITY_ASSIGN;
    return RC_OK;
}

/* The cursor as it is in the queue's row now. *ret_decided: the queue is halted, or an operator has
 * decided about it since the lane began. */
static enum rc reread_cursor(struct lane *lane, int64_t *ret_cursor, bool *ret_decided,
                             struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = queue_row(lane->ex->control.db, &lane->queue, &row, err);
    if (rc != RC_OK)
        return rc;
    *ret_cursor = db_int(row, 0, EXECUTOR_QUEUE_NEXT_OFFSET);
    *ret_decided = !db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON) ||
                   db_int(row, 0, EXECUTOR_QUEUE_HALT_NO) != lane->queue.halt_no;
    return RC_OK;
}

const char *identity_shape(const struct lane *lane, const char *cluster_id, int partitions,
                           struct str *detail)
{
    if (*cluster_id != '\0' && lane->identity.cluster_id[0] != '\0' &&
        strcmp(cluster_id, lane->identity.cluster_id) != 0) {
        str_format(detail, "the queue belongs to cluster %s, this is cluster %s",
                   lane->identity.cluster_id, cluster_id);
        return "other_cluster";
    }
    if (partitions == 0 ||
        (partitions > lane->queue.partition &&
         (lane->identity.partitions != 1 || partitions == lane->identity.partitions)))
        return NULL;
    if (partitions <= lane->queue.partition)
        str_format(detail, "topic %s has %d partitions, this queue is partition %d of it",
                   lane->queue.topic, partitions, lane->queue.partition);
    else
        str_format(detail, "topic %s has %d partitions now, it had 1", lane->queue.topic,
                   partitions);
    return "partitions";
}

static const char *wrong_mark(const struct lane *lane, const struct kafka_check *check,
                              struct str *detail)
{
    bool expired = check->mark[0] == '\0' && lane->identity.mark_age_s > EXPIRED_S;
    if (!lane->identity.marked || !check->mark_known ||
        strcmp(check->mark, lane->identity.mark) == 0)
        return NULL;
    if (check->partitions == 0) {
        str_format(detail, "topic %s does not exist any more, its birthmark went with it",
                   lane->queue.topic);
        return "topic_deleted";
    }
    if (expired)
        return NULL;
    str_format(detail, "the birthmark %s that topic %s had is gone%s%s", lane->identity.mark,
               lane->queue.topic,
               check->mark[0] ? ", another one is there: " : ": it was deleted and created again",
               check->mark);
    return "topic_replaced";
}

/* cursor: as it was before the check. All claimed records lie below it. */
static const char *wrong_range(const struct lane *lane, const struct kafka_check *check,
                               int64_t cursor, struct str *detail)
{
    if (check->partitions <= lane->queue.partition)
        return NULL;
    if (check->high < cursor) {
        str_format(detail,
                   "the log of topic %s ends at offset %lld, the queue has claimed up to %lld",
                   lane->queue.topic, (long long)check->high, (long long)cursor);
        return "truncated";
    }
    if (lane->stream.state == SOURCE_ASKING && check->low > cursor) {
        str_format(detail,
                   "topic %s begins at offset %lld, the queue has claimed up to %lld: %lld offsets "
                   "between them are gone",
                   lane->queue.topic, (long long)check->low, (long long)cursor,
                   (long long)(check->low - cursor));
        return "retention";
    }
    return NULL;
}

static const char *wrong(const struct lane *lane, const struct kafka_check *check, int64_t cursor,
                         struct str *detail)
{
    const char *reason = identity_shape(lane, check->cluster_id, check->partitions, detail);
    if (reason == NULL)
        reason = wrong_mark(lane, check, detail);
    if (reason == NULL)
        reason = wrong_range(lane, check, cursor, detail);
    return reason;
}

/* The first check that finds a reason remembers the cursor; a second check, begun later, decides.
 * Why two: metadata of a broker that has just started, or of a topic that is being created, may
 * lack the topic or its partitions for a moment, and a check may have begun before a claim moved
 * the cursor. */
static enum rc suspect(struct lane *lane, const char *reason, struct identity_finding *to,
                       struct err *err)
{
    bool again = strcmp(lane->identity.suspect, reason) == 0, decided;
    if (again) {
        to->verdict = IDENTITY_HALT;
        to->reason = reason;
        return RC_OK;
    }
    (void)snprintf(lane->identity.suspect, sizeof lane->identity.suspect, "%s", reason);
    enum rc rc = reread_cursor(lane, &lane->identity.suspect_cursor, &decided, err);
    if (rc == RC_OK && decided)
        return assign(to);
    ask(lane, AGAIN_MS);
    return rc;
}

/* The source stopped because its position was outside the log, but now the position is good. Either
 * another executor has claimed further, or retention deleted only the last claimed record: then the
 * fingerprint cannot be checked any more. */
static enum rc position(struct lane *lane, const struct kafka_check *check,
                        struct identity_finding *to)
{
    if (check->low <= lane->stream.check_offset || lane->stream.check_offset < 0 ||
        check->low > lane->stream.cursor)
        return assign(to);
    log_event(LOG_WARN, "fingerprint_skipped", "queue", lane->queue.name, "offset",
              LOG_INT(lane->stream.check_offset), "low", LOG_INT(check->low), "reason",
              "retention removed the last claimed record", NULL);
    to->verdict = IDENTITY_ASSIGN_UNCHECKED;
    return RC_OK;
}

/* The first check of a new queue records the cluster and the number of partitions; later checks
 * compare with them (identity_shape). */
static enum rc learn(struct lane *lane, const struct kafka_check *check, struct err *err)
{
    bool cluster = lane->identity.cluster_id[0] == '\0' && check->cluster_id[0] != '\0';
    bool partitions = lane->identity.partitions == 0 && check->partitions > 0;
    if (!cluster && !partitions)
        return RC_OK;
    if (cluster)
        (void)snprintf(lane->identity.cluster_id, sizeof lane->identity.cluster_id, "%s",
                       check->cluster_id);
    if (partitions)
        lane->identity.partitions = check->partitions;
    return db_run(lane->ex->control.db, &sql_executor_learn,
                  (const char *const[]){DB_INT(lane->queue.id), cluster ? check->cluster_id : NULL,
                                        partitions ? DB_INT(check->partitions) : NULL},
                  NULL, err);
}

static enum rc mark_seen(struct lane *lane, const char *mark, struct identity_finding *to,
                         struct err *err)
{
    enum rc rc =
        db_run(lane->ex->control.db, &sql_executor_mark_seen,
               (const char *const[]){DB_INT(lane->queue.id), mark, DB_INT(lane->queue.halt_no)},
               NULL, err);
    if (rc == RC_NONE) /* another executor wrote another mark first, or an operator has decided */
        return assign(to);
    if (mark != lane->identity.mark) /* a new one, not the known one renewed */
        (void)snprintf(lane->identity.mark, sizeof lane->identity.mark, "%s", mark);
    lane->identity.marked = rc == RC_OK;
    lane->identity.mark_age_s = 0;
    lane->identity.renew_at_us = lane->ex->turn.now_us + MARK_RENEW_S * 1000 * 1000LL;
    return rc;
}

/* The mark is durable in PostgreSQL before it is committed to Kafka. In the other order a crash
 * could lose the row, and the mark on the topic would then look like the mark of another topic. */
static enum rc mark_start(struct lane *lane, struct identity_finding *to, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(lane->ex->control.db, &sql_executor_mark_start,
                        (const char *const[]){DB_INT(lane->queue.id), DB_INT(lane->queue.halt_no)},
                        &row, err);
    if (rc == RC_NONE)
        return assign(to);
    if (rc == RC_OK)
        watcher_sign(lane->ex->services.watcher, lane, db_text(row, 0, EXECUTOR_MARK_START_MARK),
                     true);
    return rc;
}

/* A mark that this queue does not know yet was written by another executor and is adopted. A topic
 * without a mark gets one. A known mark is renewed before the broker forgets it. */
static enum rc mark(struct lane *lane, const struct watcher_mail *report,
                    struct identity_finding *to, struct err *err)
{
    const struct kafka_check *check = &report->check;
    if (!check->mark_known) {
        if (!lane->identity.mark_trouble)
            log_err(LOG_WARN, "birthmark_not_read", lane->queue.name, &check->mark_err);
        lane->identity.mark_trouble = true;
        return RC_OK;
    }
    lane->identity.mark_trouble = false;
    if (check->partitions <= lane->queue.partition)
        return RC_OK;
    if (!lane->identity.marked && check->mark[0] != '\0' && uuid_valid(check->mark))
        return mark_seen(lane, check->mark, to, err);
    if (!lane->identity.marked)
        return mark_start(lane, to, err);
    if (report->is_signed) {
        enum rc rc = mark_seen(lane, lane->identity.mark, to, err);
        return rc == RC_OK && report->took_us > SLOW_SIGN_US ? assign(to) : rc;
    }
    if (check->mark[0] == '\0')
        log_event(LOG_WARN, "birthmark_expired", "queue", lane->queue.name, "age_s",
                  LOG_INT(lane->identity.mark_age_s), NULL);
    if (check->mark[0] == '\0' || lane->ex->turn.now_us >= lane->identity.renew_at_us)
        watcher_sign(lane->ex->services.watcher, lane, lane->identity.mark, check->mark[0] == '\0');
    return RC_OK;
}

static enum rc note_blocked(struct lane *lane, int64_t offset, int64_t for_us, struct err *err)
{
    char seconds[32], hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_EXPLAIN, lane->queue.name);
    (void)snprintf(seconds, sizeof seconds, "%.3f", (double)for_us / 1e6);
    lane->identity.blocked_offset = offset;
    if (offset >= 0)
        log_event(LOG_WARN, "blocked_by_transaction", "queue", lane->queue.name, "offset",
                  LOG_INT(offset), "seconds", seconds, "reason",
                  "an open transaction of some producer holds back what lies there and behind it",
                  "hint", hint, NULL);
    else
        log_event(LOG_INFO, "transaction_ended", "queue", lane->queue.name, NULL);
    return db_run(
        lane->ex->control.db, &sql_executor_blocked,
        (const char *const[]){DB_INT(lane->queue.id), offset >= 0 ? DB_INT(offset) : NULL, seconds},
        NULL, err);
}

/* The lane is at the last offset that a consumer may read, and the log continues behind it: a
 * producer has an open transaction there. A consumer with read_committed gets nothing behind the
 * last stable offset (Kafka protocol, fetch response: last_stable_offset), while the high watermark
 * is already behind it. */
static enum rc blocked(struct lane *lane, const struct kafka_check *check, struct err *err)
{
    int64_t end = kafka_source_end(lane->stream.source), now_us = lane->ex->turn.now_us;
    if (!stream_at_end(&lane->stream) || check->high <= end) {
        lane->identity.open_at = -1;
        bool over =
            lane->identity.blocked_offset >= 0 &&
            (stream_at_end(&lane->stream) || lane->stream.cursor > lane->identity.blocked_offset);
        return over ? note_blocked(lane, -1, 0, err) : RC_OK;
    }
    if (lane->identity.open_at != end) {
        lane->identity.open_at = end;
        lane->identity.open_since_us = now_us;
    }
    if (now_us - lane->identity.open_since_us < BLOCKED_US || lane->identity.blocked_offset == end)
        return RC_OK;
    return note_blocked(lane, end, now_us - lane->identity.open_since_us, err);
}

/* The partition has another leader. An unclean election may have cut the log and filled it again;
 * librdkafka 2.0.2 does not notice that, but the fingerprint does. receive.c sees it by the first
 * record of that leader; here it is seen although none comes. */
static bool led_elsewhere(struct lane *lane, const struct kafka_check *check)
{
    int leader = lane->identity.leader;
    if (check->leader >= 0)
        lane->identity.leader = check->leader;
    return check->leader >= 0 && leader >= 0 && check->leader != leader;
}

/* A stream that asks needs the cursor as it is now: other executors may have claimed since, and a
 * log would look short or emptied against an old cursor. The faults of the topic come first, then
 * the doubt that only the fingerprint can settle (led_elsewhere), and only a topic that has passed
 * both gets its birthmark written or renewed. */
static enum rc take_check(struct lane *lane, const struct watcher_mail *report,
                          struct identity_finding *to, struct err *err)
{
    bool suspected = lane->identity.suspect[0] != '\0';
    int64_t cursor = suspected ? lane->identity.suspect_cursor : lane->stream.cursor;
    if (lane->stream.state == SOURCE_ASKING && !suspected) {
        bool decided;
        enum rc rc = reread_cursor(lane, &cursor, &decided, err);
        if (rc != RC_OK || decided)
            return rc != RC_OK ? rc : assign(to);
    }
    const char *reason = wrong(lane, &report->check, cursor, &to->detail);
    if (reason != NULL)
        return suspect(lane, reason, to, err);
    lane->identity.suspect[0] = '\0';
    lane->identity.checked = true;
    if (report->check.partitions <= lane->queue.partition)
        return RC_OK;
    if (lane->stream.state == SOURCE_ASKING)
        return position(lane, &report->check, to);
    if (led_elsewhere(lane, &report->check))
        return assign(to);
    enum rc rc = learn(lane, &report->check, err);
    if (rc == RC_OK && lane->stream.state == SOURCE_READING) /* the fingerprint comes first */
        rc = mark(lane, report, to, err);
    if (rc == RC_OK && to->verdict == IDENTITY_GOOD)
        rc = blocked(lane, &report->check, err);
    return rc;
}

/* Operators see in the executor's row that it lives and cannot read the topic of a queue, whose
 * rights were withdrawn, say. If it can read none of all its topics, it cannot reach Kafka, and so
 * claims nothing. */
static void note_trouble(struct lane *lane, const struct watcher_mail *report)
{
    struct executor *ex = lane->ex;
    const char *trouble = NULL;
    bool all = true;
    lane->identity.unanswered[0] = '\0';
    if (report->rc != RC_OK)
        utf8_format(lane->identity.unanswered, sizeof lane->identity.unanswered, "%s%s%s",
                    report->err.object, *report->err.object ? ": " : "", report->err.message);
    for (int i = 0; i < ex->lane_count; i++) {
        const struct lane *other = &ex->lanes[i];
        if (other->queue.gone)
            continue;
        if (other->identity.unanswered[0] == '\0')
            all = false;
        else if (trouble == NULL)
            trouble = other->identity.unanswered;
    }
    alive_topic_trouble(ex->services.alive, (int)(lane - ex->lanes),
                        lane->queue.gone ? "" : lane->identity.unanswered);
    alive_trouble(ex->services.alive, ALIVE_KAFKA, all ? trouble : NULL);
}

enum rc identity_report(struct mail *mail, struct identity_finding *ret_finding, struct err *err)
{
    struct watcher_mail *report = (struct watcher_mail *)mail;
    struct lane *lane = report->lane;
    enum rc rc = RC_OK;
    *ret_finding = (struct identity_finding){.lane = lane};
    note_trouble(lane, report);
    if (report->rc == RC_OK && report->check.partitions > 0)
        lag_seen(&lane->lag, report->check.high);
    /* `asked` numbers the questions. An answer to an older one may have begun before the last
     * assign, so it says nothing about the stream as it is. */
    if (lane->stream.source != NULL && !lane->queue.halted && !lane->queue.stale &&
        report->asked == lane->identity.asked) {
        if (report->rc == RC_OK)
            rc = take_check(lane, report, ret_finding, err);
        else if (lane->identity.suspect[0] == '\0')
            lane->identity.checked =
                true; /* Kafka does not answer: the stream has its own checks */
    }
    free(report);
    return rc;
}

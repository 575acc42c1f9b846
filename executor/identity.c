/* Whether the topic is still this queue's: what the watcher saw of it, compared with what the queue knows. Metadata has hiccups
 * and a look may be older than a claim, so a finding counts when the next look has it, too. A verdict halts the queue only if
 * no person has decided since (halt_no). */
#include "executor/alive.h"
#include "executor/lane.h"
#include "executor/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/remedies.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 1000
#define EXPIRED_S                                                                                  \
    (24 * 3600) /* offsets of a group that nobody renews expire, after a week by default */
#define SLOW_SIGN_US (2 * 1000 * 1000LL)
#define BLOCKED_US   (5 * 1000 * 1000LL) /* a publisher's transaction is open for a moment */

bool identity_known(const struct lane *lane)
{
    return lane->looked && lane->suspect[0] == '\0';
}

void identity_ask(struct lane *lane, int delay_ms)
{
    watcher_look(lane->ex->watcher, lane, ++lane->asked, delay_ms);
}

/* The queue's row: what others may have changed since. */
static enum rc reread_cursor(struct lane *lane, int64_t *ret_cursor, bool *ret_decided,
                             struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = lane_row(lane, &row, err);
    if (rc != RC_OK)
        return rc;
    *ret_cursor = db_int(row, 0, EXECUTOR_QUEUE_NEXT_OFFSET);
    *ret_decided = !db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON) ||
                   db_int(row, 0, EXECUTOR_QUEUE_HALT_NO) != lane->halt_no;
    return RC_OK;
}

const char *identity_shape(const struct lane *lane, const char *cluster_id, int partitions,
                           struct str *detail)
{
    if (*cluster_id != '\0' && lane->cluster_id[0] != '\0' &&
        strcmp(cluster_id, lane->cluster_id) != 0) {
        str_format(detail, "the queue belongs to cluster %s, this is cluster %s", lane->cluster_id,
                   cluster_id);
        return "other_cluster";
    }
    if (partitions == 0 ||
        (partitions > lane->partition && (lane->partitions != 1 || partitions == lane->partitions)))
        return NULL;
    if (partitions <= lane->partition)
        str_format(detail, "topic %s has %d partitions, this queue is partition %d of it",
                   lane->topic, partitions, lane->partition);
    else
        str_format(detail, "topic %s has %d partitions now, it had 1", lane->topic, partitions);
    return "partitions";
}

static const char *wrong_mark(const struct lane *lane, const struct kafka_look *look,
                              struct str *detail)
{
    bool expired = look->mark[0] == '\0' && lane->mark_age_s > EXPIRED_S;
    if (!lane->marked || !look->mark_known || strcmp(look->mark, lane->mark) == 0)
        return NULL;
    if (look->partitions == 0) {
        str_format(detail, "topic %s does not exist any more, its birthmark went with it",
                   lane->topic);
        return "topic_deleted";
    }
    if (expired)
        return NULL;
    str_format(detail, "the birthmark %s that topic %s had is gone%s%s", lane->mark, lane->topic,
               look->mark[0] ? ", another one is there: " : ": it was deleted and made anew",
               look->mark);
    return "topic_replaced";
}

/* cursor: nothing that was claimed lies at or behind it, at the time before the look. */
static const char *wrong_range(const struct lane *lane, const struct kafka_look *look,
                               int64_t cursor, struct str *detail)
{
    if (look->partitions <= lane->partition)
        return NULL;
    if (look->high < cursor) {
        str_format(detail,
                   "the log of topic %s ends at offset %lld, the queue has claimed up to %lld",
                   lane->topic, (long long)look->high, (long long)cursor);
        return "truncated";
    }
    if (lane->state == SOURCE_ASKING && look->low > cursor) {
        str_format(detail,
                   "topic %s begins at offset %lld, the queue has claimed up to %lld: %lld offsets "
                   "between them are gone",
                   lane->topic, (long long)look->low, (long long)cursor,
                   (long long)(look->low - cursor));
        return "retention";
    }
    return NULL;
}

static const char *wrong(const struct lane *lane, const struct kafka_look *look, int64_t cursor,
                         struct str *detail)
{
    const char *reason = identity_shape(lane, look->cluster_id, look->partitions, detail);
    if (reason == NULL)
        reason = wrong_mark(lane, look, detail);
    if (reason == NULL)
        reason = wrong_range(lane, look, cursor, detail);
    return reason;
}

/* The first look that finds it remembers where the cursor was, the second one, begun later, decides. */
static enum rc suspect(struct lane *lane, const char *reason, const char *detail, struct err *err)
{
    bool again = strcmp(lane->suspect, reason) == 0, decided;
    if (again)
        return lane_halt(lane, reason, detail, err);
    (void)snprintf(lane->suspect, sizeof lane->suspect, "%s", reason);
    enum rc rc = reread_cursor(lane, &lane->suspect_cursor, &decided, err);
    if (rc == RC_OK && decided)
        return lane_assign(lane, err);
    identity_ask(lane, AGAIN_MS);
    return rc;
}

/* The source stood still for its position, but the position is good now: somebody has claimed further meanwhile, or retention
 * took the last claimed record only, whose fingerprint cannot be checked any more. */
static enum rc position(struct lane *lane, const struct kafka_look *look, struct err *err)
{
    if (look->low <= lane->check_offset || lane->check_offset < 0 || look->low > lane->cursor)
        return lane_assign(lane, err);
    log_event(LOG_WARN, "fingerprint_skipped", "queue", lane->name, "offset",
              LOG_INT(lane->check_offset), "low", LOG_INT(look->low), "reason",
              "retention removed the last claimed record", NULL);
    return lane_assign_unchecked(lane, err);
}

static enum rc learn(struct lane *lane, const struct kafka_look *look, struct err *err)
{
    bool cluster = lane->cluster_id[0] == '\0' && look->cluster_id[0] != '\0';
    bool partitions = lane->partitions == 0 && look->partitions > 0;
    if (!cluster && !partitions)
        return RC_OK;
    if (cluster)
        (void)snprintf(lane->cluster_id, sizeof lane->cluster_id, "%s", look->cluster_id);
    if (partitions)
        lane->partitions = look->partitions;
    return db_run(lane->ex->control, &sql_executor_learn,
                  (const char *const[]){DB_INT(lane->queue_id), cluster ? look->cluster_id : NULL,
                                        partitions ? DB_INT(look->partitions) : NULL},
                  NULL, err);
}

static enum rc mark_seen(struct lane *lane, const char *mark, struct err *err)
{
    enum rc rc = db_run(lane->ex->control, &sql_executor_mark_seen,
                        (const char *const[]){DB_INT(lane->queue_id), mark, DB_INT(lane->halt_no)},
                        NULL, err);
    if (rc == RC_NONE) /* others were quicker, with another one, or a person has decided */
        return lane_assign(lane, err);
    if (mark != lane->mark) /* it is not only renewed */
        (void)snprintf(lane->mark, sizeof lane->mark, "%s", mark);
    lane->marked = rc == RC_OK;
    lane->mark_age_s = 0;
    lane->renew_at_us = lane->ex->now_us + MARK_RENEW_S * 1000 * 1000LL;
    return rc;
}

static enum rc mark_start(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc =
        db_run(lane->ex->control, &sql_executor_mark_start,
               (const char *const[]){DB_INT(lane->queue_id), DB_INT(lane->halt_no)}, &row, err);
    if (rc == RC_NONE)
        return lane_assign(lane, err);
    if (rc == RC_OK)
        watcher_sign(lane->ex->watcher, lane, db_text(row, 0, EXECUTOR_MARK_START_MARK), true);
    return rc;
}

static enum rc mark(struct lane *lane, const struct watcher_mail *said, struct err *err)
{
    const struct kafka_look *look = &said->look;
    if (!look->mark_known) {
        if (!lane->mark_trouble)
            log_err(LOG_WARN, "birthmark_not_read", lane->name, &look->mark_err);
        lane->mark_trouble = true;
        return RC_OK;
    }
    lane->mark_trouble = false;
    if (look->partitions <= lane->partition)
        return RC_OK;
    if (!lane->marked && look->mark[0] != '\0' && uuid_valid(look->mark))
        return mark_seen(lane, look->mark, err);
    if (!lane->marked)
        return mark_start(lane, err);
    if (said->is_signed) {
        enum rc rc = mark_seen(lane, lane->mark, err);
        return rc == RC_OK && said->took_us > SLOW_SIGN_US ? lane_assign(lane, err) : rc;
    }
    if (look->mark[0] == '\0')
        log_event(LOG_WARN, "birthmark_expired", "queue", lane->name, "age_s",
                  LOG_INT(lane->mark_age_s), NULL);
    if (look->mark[0] == '\0' || lane->ex->now_us >= lane->renew_at_us)
        watcher_sign(lane->ex->watcher, lane, lane->mark, look->mark[0] == '\0');
    return RC_OK;
}

static enum rc tell_blocked(struct lane *lane, int64_t offset, int64_t for_us, struct err *err)
{
    char seconds[32], hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_EXPLAIN, lane->name);
    (void)snprintf(seconds, sizeof seconds, "%.3f", (double)for_us / 1e6);
    lane->blocked_offset = offset;
    if (offset >= 0)
        log_event(LOG_WARN, "blocked_by_transaction", "queue", lane->name, "offset",
                  LOG_INT(offset), "seconds", seconds, "reason",
                  "an open transaction of some producer holds back what lies there and behind it",
                  "hint", hint, NULL);
    else
        log_event(LOG_INFO, "transaction_ended", "queue", lane->name, NULL);
    return db_run(
        lane->ex->control, &sql_executor_blocked,
        (const char *const[]){DB_INT(lane->queue_id), offset >= 0 ? DB_INT(offset) : NULL, seconds},
        NULL, err);
}

/* At the end of what may be read, and the log goes on: a transaction that nobody has ended. */
static enum rc blocked(struct lane *lane, const struct kafka_look *look, struct err *err)
{
    int64_t end = kafka_source_end(lane->source), now_us = lane->ex->now_us;
    if (!lane_at_end(lane) || look->high <= end) {
        lane->held_at = -1;
        bool over =
            lane->blocked_offset >= 0 && (lane_at_end(lane) || lane->cursor > lane->blocked_offset);
        return over ? tell_blocked(lane, -1, 0, err) : RC_OK;
    }
    if (lane->held_at != end) {
        lane->held_at = end;
        lane->held_since_us = now_us;
    }
    if (now_us - lane->held_since_us < BLOCKED_US || lane->blocked_offset == end)
        return RC_OK;
    return tell_blocked(lane, end, now_us - lane->held_since_us, err);
}

/* The brokers were away, or another one leads: an unclean election may have cut the log and filled it again, which librdkafka
 * 2.0.2 does not see. The fingerprint does. */
static bool interrupted(struct lane *lane, const struct kafka_look *look)
{
    int outages = kafka_consumer_outages(lane->ex->consumer), leader = lane->leader;
    bool elsewhere = look->leader >= 0 && leader >= 0 && look->leader != leader;
    bool was_away = outages != lane->outages;
    if (look->leader >= 0)
        lane->leader = look->leader;
    lane->outages = outages;
    return elsewhere || was_away;
}

static enum rc take_look(struct lane *lane, const struct watcher_mail *said, struct err *err)
{
    STR_AUTO detail = {0};
    bool suspected = lane->suspect[0] != '\0';
    int64_t cursor = suspected ? lane->suspect_cursor : lane->cursor;
    if (lane->state == SOURCE_ASKING && !suspected) {
        bool decided;
        enum rc rc = reread_cursor(lane, &cursor, &decided, err);
        if (rc != RC_OK || decided)
            return rc != RC_OK ? rc : lane_assign(lane, err);
    }
    const char *reason = wrong(lane, &said->look, cursor, &detail);
    if (reason != NULL)
        return suspect(lane, reason, detail.data, err);
    lane->suspect[0] = '\0';
    lane->looked = true;
    if (said->look.partitions <= lane->partition)
        return RC_OK;
    if (lane->state == SOURCE_ASKING)
        return position(lane, &said->look, err);
    if (interrupted(lane, &said->look))
        return lane_assign(lane, err);
    enum rc rc = learn(lane, &said->look, err);
    if (rc == RC_OK && lane->state == SOURCE_READING) /* the fingerprint comes first */
        rc = mark(lane, said, err);
    if (rc == RC_OK && !lane->halted)
        rc = blocked(lane, &said->look, err);
    return rc;
}

/* What operators are told: an executor without Kafka lives, and claims nothing. */
static void tell_trouble(struct lane *lane, const struct watcher_mail *said)
{
    const char *trouble = NULL;
    lane->unanswered[0] = '\0';
    if (said->rc != RC_OK)
        utf8_format(lane->unanswered, sizeof lane->unanswered, "%s%s%s", said->err.object,
                    *said->err.object ? ": " : "", said->err.message);
    for (int i = 0; i < lane->ex->lane_count && trouble == NULL; i++)
        if (lane->ex->lanes[i].unanswered[0] != '\0')
            trouble = lane->ex->lanes[i].unanswered;
    alive_trouble(lane->ex->alive, ALIVE_KAFKA, trouble);
}

enum rc identity_report(struct mail *mail, struct err *err)
{
    struct watcher_mail *said = (struct watcher_mail *)mail;
    struct lane *lane = said->lane;
    enum rc rc = RC_OK;
    tell_trouble(lane, said);
    if (lane->source != NULL && !lane->halted && !lane->anew && said->asked == lane->asked) {
        if (said->rc == RC_OK)
            rc = lane_confine(lane, take_look(lane, said, err), err);
        else if (lane->suspect[0] == '\0')
            lane->looked = true; /* Kafka does not answer: the stream has its own checks */
    }
    free(said);
    return rc;
}

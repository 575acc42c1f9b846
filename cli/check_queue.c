/* check: one queue and its topic, in this order: its row, the shape of the topic, its birthmark,
 * open transactions, the cursor within the log. Each fault has a line with its remedy; a queue
 * without a fault has one line. control/topic.c judges the settings of a topic, for queue create,
 * too. */
#include "cli/check.h"
#include "cli/find.h"

#include "base/remedies.h"
#include "kafka/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KAFKA_MS  5000
#define YOUNG_S   5  /* a transaction that any producer may have */
#define HANGING_S 60 /* librdkafka's and Java's transaction.timeout.ms */

struct subject {
    struct check *check;
    struct kafka_admin *admin;
    struct queue_row queue;
    char name[100];
    int known_partitions;
    char mark[40];
    struct topic_ends ends;
    struct kafka_topic_info info;
    bool same; /* it is the topic that the queue was made on, as far as its birthmark says */
    bool well; /* no line was printed for it; check_list has printed that it is halted or paused */
    char hint[400];
};
/* A remedy with the queue's name in it, until the next one. */
#define FOR_QUEUE(subject, remedy)                                                                 \
    ((void)snprintf((subject)->hint, sizeof(subject)->hint, remedy, (subject)->queue.name),        \
     (subject)->hint)

#define REPORT(subject, grade, hint, ...)                                                          \
    ((subject)->well = false,                                                                      \
     check_report((subject)->check, (grade), (subject)->name, (hint), __VA_ARGS__))

static void failed(struct subject *subject, const struct err *err)
{
    subject->well = false;
    check_failed(subject->check, subject->name, err);
}

static bool read_row(struct subject *subject)
{
    struct err err;
    DB_RESULT_AUTO *row = NULL;
    if (db_run(subject->check->cli->db, &sql_queue_check,
               (const char *const[]){DB_INT(subject->queue.queue_id)}, &row, &err) != RC_OK) {
        failed(subject, &err);
        return false;
    }
    subject->known_partitions = (int)db_int(row, 0, QUEUE_CHECK_PARTITIONS);
    (void)snprintf(subject->mark, sizeof subject->mark, "%s", db_text(row, 0, QUEUE_CHECK_MARK));
    subject->well = db_bool(row, 0, QUEUE_CHECK_IS_WELL);
    return true;
}

static struct topic_place place(const struct subject *subject)
{
    return (struct topic_place){
        subject->queue.topic, subject->queue.partition,
        kafka_properties_get(&subject->check->cli->kafka, "bootstrap.servers")};
}

static void judge_shape(struct subject *subject)
{
    const struct queue_row *queue = &subject->queue;
    const struct kafka_topic_info *info = &subject->info;
    if (*queue->cluster_id != '\0' && strcmp(queue->cluster_id, info->cluster_id) != 0)
        REPORT(subject, TOPIC_FAIL, "Does --brokers name the cluster that the queue was made on?",
               "the cluster is %s, the queue was made on %s", info->cluster_id, queue->cluster_id);
    /* A queue may be one partition of a larger topic: create asked for that in so many words. */
    /* Kafka's producers spread keys over partitions, and the queue reads only one of them. */
    if (subject->known_partitions == 1 && info->partitions > 1)
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_SHAPE),
               "topic %s has %d partitions now, it had 1", queue->topic, info->partitions);
    struct topic_finding findings[TOPIC_FINDINGS];
    const struct topic_place where = place(subject);
    int count = topic_judge(info, &where, false, findings);
    for (int i = 0; i < count; i++)
        REPORT(subject, findings[i].grade, findings[i].hint, "topic %s: %s", queue->topic,
               findings[i].text);
}

/* false: this is another topic, which has nothing to do with the cursor. */
static bool judge_mark(struct subject *subject)
{
    struct err err;
    struct kafka_watch *watch = NULL;
    struct kafka_check found;
    /* The topic has no birthmark yet: there is nothing to compare. */
    if (subject->mark[0] == '\0')
        return true;
    enum rc rc = kafka_watch_open(&subject->check->cli->kafka, KAFKA_MARK_GROUP, &watch, &err);
    if (rc == RC_OK)
        rc = kafka_watch_check(watch, subject->queue.topic, subject->queue.partition, KAFKA_MS,
                               &found, &err);
    kafka_watch_close(watch);
    if (rc != RC_OK)
        failed(subject, &err);
    else if (!found.mark_known)
        REPORT(subject, TOPIC_WARN, "Executors need Read on this group.",
               "the topic's birthmark cannot be read from group %s: %s", KAFKA_MARK_GROUP,
               found.mark_err.message);
    else if (strcmp(found.mark, subject->mark) != 0) {
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_ANEW),
               "the topic's birthmark is gone: it was deleted and created again");
        return false;
    }
    return true;
}

static void judge_open(struct subject *subject)
{
    const struct topic_ends *ends = &subject->ends;
    struct timespec now;
    char hint[600];
    /* Equal: no transaction is open. Otherwise read_committed readers wait at the last stable
     * offset. */
    if (ends->stable >= ends->high)
        return;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t age_s = ends->open_since_ms < 0 ? 0 : (int64_t)now.tv_sec - ends->open_since_ms / 1000;
    const struct topic_place where = place(subject);
    (void)snprintf(hint, sizeof hint, REMEDY_KAFKA_ABORT, where.brokers, where.topic,
                   where.partition, ends->stable);
    if (age_s >= YOUNG_S)
        REPORT(subject, age_s >= HANGING_S ? TOPIC_FAIL : TOPIC_WARN, hint,
               "blocked for %" PRId64
               " s by an open transaction: nothing at or behind offset %" PRId64
               " of topic %s can be read (its end is %" PRId64 ")",
               age_s, ends->stable, subject->queue.topic, ends->high);
}

static void judge_cursor(struct subject *subject)
{
    const struct queue_row *queue = &subject->queue;
    const struct topic_ends *ends = &subject->ends;
    /* Retention or DeleteRecords has removed records that were never claimed. */
    if (queue->next_offset < ends->low)
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_RETENTION),
               "the cursor %" PRId64 " is below the log's beginning %" PRId64
               ": messages were deleted before they were claimed",
               queue->next_offset, ends->low);
    else if (queue->next_offset > ends->high)
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_TRUNCATED),
               "the cursor %" PRId64 " is behind the log's end %" PRId64, queue->next_offset,
               ends->high);
}

static bool check_topic(struct subject *subject)
{
    struct err err;
    const struct queue_row *queue = &subject->queue;
    enum rc rc = kafka_topic_describe(subject->admin, queue->topic, KAFKA_MS, &subject->info, &err);
    if (rc == RC_NONE)
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_GONE),
               "topic %s does not exist", queue->topic);
    else if (rc != RC_OK)
        failed(subject, &err);
    if (rc != RC_OK)
        return false;
    judge_shape(subject);
    subject->same = judge_mark(subject);
    rc = queue->partition < subject->info.partitions
             ? topic_ends(&subject->check->cli->kafka, queue->topic, queue->partition, KAFKA_MS,
                          &subject->ends, &err)
             : RC_NONE;
    if (rc == RC_NONE)
        REPORT(subject, TOPIC_FAIL, FOR_QUEUE(subject, REMEDY_TOPIC_ANEW),
               "topic %s has %d partition%s, and the queue reads partition %d", queue->topic,
               subject->info.partitions, subject->info.partitions == 1 ? "" : "s",
               queue->partition);
    else if (rc != RC_OK)
        failed(subject, &err);
    return rc == RC_OK;
}

void check_queue(struct check *check, struct kafka_admin *admin, const char *name)
{
    struct err err;
    struct subject subject = {.check = check, .admin = admin, .well = true};
    (void)snprintf(subject.name, sizeof subject.name, "queue %s", name);
    if (find_queue(check->cli, name, &subject.queue, &err) != RC_OK) {
        failed(&subject, &err);
        return;
    }
    if (!read_row(&subject) || !check_topic(&subject))
        return;
    judge_open(&subject);
    /* In another topic the cursor means nothing. */
    if (subject.same)
        judge_cursor(&subject);
    if (subject.well)
        check_report(check, TOPIC_OK, subject.name, NULL,
                     "topic %s, partition %d of %d, cursor %" PRId64 " of %" PRId64 "%s",
                     subject.queue.topic, subject.queue.partition, subject.info.partitions,
                     subject.queue.next_offset, subject.ends.high,
                     subject.mark[0] != '\0' ? ", birthmark intact" : ", no birthmark yet");
}

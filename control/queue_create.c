/* The steps of `queue create` and of the console's form: queue_plan() without a server,
 * queue_is_new() in PostgreSQL, queue_place() with Kafka, queue_make() in PostgreSQL. Kafka comes
 * before the row, because a queue whose topic is not fit must not exist, not even for a moment.
 * birthmark.c follows when the row is committed. A topic that was made stays if a later step fails:
 * the command can be repeated. */
#include "control/queue_create.h"

#include "base/ascii.h"
#include "base/number.h"
#include "base/remedies.h"
#include "config/config.h"
#include "control/queue_lists.h"
#include "kafka/place.h"

#include <stdio.h>
#include <string.h>

/** The name is a part of transactional ids, consumer groups and [queue:NAME], so it has only the
 * characters of a topic's name. */
static enum rc check_name(const char *name, struct err *err)
{
    size_t len = strlen(name);
    bool good = len > 0 && len <= 63 && ascii_alnum(name[0]);
    for (size_t i = 0; good && i < len; i++)
        good = (name[i] > ' ' && ascii_alnum(name[i])) || strchr("._-", name[i]) != NULL;
    if (good)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_USAGE, name,
                   "Use letters, digits, '.', '_' and '-', at most 63, a letter or digit first.",
                   "a queue cannot have this name");
}

/* What is given, else [queue:NAME] of the configuration file, else the table's default. */
static void fill(const struct config *config, struct queue_wish *wish)
{
    const struct {
        const char **setting, *key;
    } settings[] = {{&wish->topic, "topic"},
                    {&wish->partition, "partition"},
                    {&wish->max_readers, "max_readers"},
                    {&wish->on_failure, "on_failure"},
                    {&wish->runs, "runs"},
                    {&wish->max_attempts, "max_attempts"},
                    {&wish->lookahead, "lookahead"},
                    {&wish->dead_letters, "dead_letters"},
                    {&wish->external_lease, "external_lease"},
                    {&wish->retry_intervals, "retry_intervals"},
                    {&wish->retry_on, "retry_on"}};
    char section[80];
    (void)snprintf(section, sizeof section, "queue:%s", wish->name);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (*settings[i].setting == NULL)
            *settings[i].setting = config_get_text(config, section, settings[i].key);
    if (*wish->topic == '\0')
        wish->topic = wish->name;
    /* NULL: the setting of the executors, which may change without the queue. */
    if (*wish->max_attempts == '\0' || strcmp(wish->max_attempts, "default") == 0)
        wish->max_attempts = NULL;
}

enum rc queue_plan(const struct config *config, const struct queue_wish *wish,
                   struct queue_plan *ret_plan, struct err *err)
{
    /* Without a partition the queue is the whole topic, which then may have only one. */
    struct queue_plan plan = {.wish = *wish, .whole = wish->partition == NULL};
    int64_t partition = 0;
    enum rc rc = check_name(wish->name, err);
    if (rc != RC_OK)
        return rc;
    fill(config, &plan.wish);
    rc = number_parse(wish->name, "partition", plan.wish.partition,
                      (struct number_range){0, INT32_MAX}, &partition, err);
    plan.partition = (int)partition;
    if (rc == RC_OK && wish->from_offset != NULL && wish->from_end)
        rc = err_set(err, RC_REJECT, ERR_USAGE, "--from-end", "Give one of the two.",
                     "the first offset is given, too");
    if (rc == RC_OK)
        rc = queue_check_lists(plan.wish.retry_intervals, plan.wish.retry_on, err);
    if (rc == RC_OK)
        *ret_plan = plan;
    return rc;
}

static enum rc refuse_taken(const char *name, struct err *err)
{
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_SHOW, name);
    return err_set(err, RC_REJECT, ERR_FAILED, name, hint, "there is a queue of this name already");
}

enum rc queue_is_new(struct db *db, const struct queue_plan *plan, struct err *err)
{
    const char *name = plan->wish.name;
    enum rc rc = db_run(db, &sql_queue_find, (const char *const[]){name}, NULL, err);
    return rc == RC_OK ? refuse_taken(name, err) : rc == RC_NONE ? RC_OK : rc;
}

/* The log goes from low to high. An offset outside would halt the queue at its first fetch
 * (auto.offset.reset is `error`), so it is refused here. */
static enum rc choose_offset(struct queue_plan *plan, int64_t low, int64_t high, struct err *err)
{
    const char *text = plan->wish.from_offset;
    int64_t wanted = 0;
    enum kafka_place place = plan->wish.from_end ? KAFKA_LATEST : KAFKA_EARLIEST;
    /* The caller has checked the text. */
    if (text != NULL)
        (void)kafka_place_parse(text, &place, &wanted);
    if (place == KAFKA_OFFSET && (wanted > high || wanted < low))
        return err_set(err, RC_REJECT, ERR_USAGE, plan->wish.topic,
                       "Choose an offset inside, or leave it out.",
                       "offset %lld is outside the log, which goes from %lld to %lld",
                       (long long)wanted, (long long)low, (long long)high);
    plan->offset = place == KAFKA_LATEST ? high : place == KAFKA_OFFSET ? wanted : low;
    /* Offsets, not messages: markers of transactions are among them. */
    plan->there = high - plan->offset;
    return RC_OK;
}

struct placing {
    struct kafka_admin *admin;
    const struct kafka_properties *kafka;
    int timeout_ms;
    struct queue_plan *plan;
};

static enum rc ensure_topic(const struct placing *placing, struct err *err)
{
    struct queue_plan *plan = placing->plan;
    const char *topic = plan->wish.topic;
    enum rc rc = kafka_topic_describe(placing->admin, topic, placing->timeout_ms, &plan->info, err);
    if (rc != RC_NONE)
        return rc;
    if (!plan->wish.create_topic) {
        char hint[500];
        (void)snprintf(hint, sizeof hint, REMEDY_KAFKA_TOPIC,
                       kafka_properties_get(placing->kafka, "bootstrap.servers"), topic);
        return err_set(err, RC_REJECT, ERR_CONFIG, topic, hint, "there is no topic of this name");
    }
    /* Before the topic is made, whose log will be empty. */
    rc = choose_offset(plan, 0, 0, err);
    if (rc != RC_OK)
        return rc;
    /* One partition, because order holds within a partition only. */
    rc = kafka_topic_create(placing->admin, topic, 1, plan->wish.replication, placing->timeout_ms,
                            err);
    plan->topic_made = rc == RC_OK;
    /* RC_NONE: another process has made it a moment ago, and its settings are judged like those of
     * any topic. */
    if (rc == RC_OK || rc == RC_NONE)
        rc = kafka_topic_describe(placing->admin, topic, placing->timeout_ms, &plan->info, err);
    if (rc == RC_NONE)
        return err_set(err, RC_RETRY, ERR_KAFKA, topic, "Run the command again.",
                       "the topic was made but the cluster does not show it yet");
    return rc;
}

/* Judges the topic by the table of topic.c; warnings are kept, the first failure ends it. */
static enum rc judge(const struct placing *placing, struct err *err)
{
    struct queue_plan *plan = placing->plan;
    struct topic_finding findings[TOPIC_FINDINGS];
    const struct topic_place where = {plan->wish.topic, plan->partition,
                                      kafka_properties_get(placing->kafka, "bootstrap.servers")};
    int count = topic_judge(&plan->info, &where, plan->whole, findings);
    for (int i = 0; i < count; i++) {
        if (findings[i].grade == TOPIC_FAIL)
            return err_set(err, RC_REJECT, ERR_CONFIG, plan->wish.topic, findings[i].hint, "%s",
                           findings[i].text);
        if (findings[i].grade == TOPIC_WARN)
            plan->warnings[plan->warning_count++] = findings[i];
    }
    return RC_OK;
}

static enum rc read_log(const struct placing *placing, struct err *err)
{
    struct queue_plan *plan = placing->plan;
    int64_t low = 0, high = 0;
    enum rc rc = kafka_watermarks(placing->admin, plan->wish.topic, plan->partition,
                                  placing->timeout_ms, &low, &high, err);
    return rc == RC_OK ? choose_offset(plan, low, high, err) : rc;
}

enum rc queue_place(const struct kafka_properties *kafka, int timeout_ms, struct queue_plan *plan,
                    struct err *err)
{
    struct placing placing = {.kafka = kafka, .timeout_ms = timeout_ms, .plan = plan};
    enum rc rc = kafka_admin_open(kafka, &placing.admin, err);
    if (rc == RC_OK)
        rc = ensure_topic(&placing, err);
    if (rc == RC_OK)
        rc = judge(&placing, err);
    if (rc == RC_OK)
        rc = read_log(&placing, err);
    kafka_admin_close(placing.admin);
    return rc;
}

enum rc queue_make(struct db *db, const struct queue_plan *plan, struct err *err)
{
    const struct queue_wish *wish = &plan->wish;
    const char *const params[] = {[QUEUE_CREATE_P_NAME] = wish->name,
                                  [QUEUE_CREATE_P_TOPIC] = wish->topic,
                                  [QUEUE_CREATE_P_PARTITION] = wish->partition,
                                  [QUEUE_CREATE_P_FROM_OFFSET] = DB_INT(plan->offset),
                                  [QUEUE_CREATE_P_CLUSTER_ID] =
                                      *plan->info.cluster_id ? plan->info.cluster_id : NULL,
                                  [QUEUE_CREATE_P_MAX_READERS] = wish->max_readers,
                                  [QUEUE_CREATE_P_ON_FAILURE] = wish->on_failure,
                                  [QUEUE_CREATE_P_RUNS] = wish->runs,
                                  [QUEUE_CREATE_P_MAX_ATTEMPTS] = wish->max_attempts,
                                  [QUEUE_CREATE_P_LOOKAHEAD] = wish->lookahead,
                                  [QUEUE_CREATE_P_DEAD_LETTERS] = wish->dead_letters,
                                  [QUEUE_CREATE_P_PARTITIONS] = DB_INT(plan->info.partitions),
                                  [QUEUE_CREATE_P_EXTERNAL_LEASE] = wish->external_lease,
                                  [QUEUE_CREATE_P_RETRY_INTERVALS] = wish->retry_intervals,
                                  [QUEUE_CREATE_P_RETRY_ON] = wish->retry_on,
                                  [QUEUE_CREATE_P_REASON] = wish->reason};
    enum rc rc = db_run(db, &sql_queue_create, params, NULL, err);
    /* No row: the statement inserts nothing if the name is taken, also by a command that ran at the
     * same time. */
    return rc == RC_NONE ? refuse_taken(wish->name, err) : rc;
}

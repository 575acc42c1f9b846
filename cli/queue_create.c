#include "base/ascii.h"
#include "base/remedies.h"
#include "cli/birthmark.h"
#include "cli/commands.h"
#include "cli/queue_keep.h"
#include "cli/topic.h"

#include <stdio.h>
#include <string.h>

#define KAFKA_MS 10000

struct creation {
    const char *name, *topic;
    int partition;
    int64_t offset, there; /* there: offsets of the log from there on */
    struct kafka_topic_info info;
};

/* An option, else [queue:NAME] of the configuration file, else the table's default. */
static const char *setting(const struct cli *cli, const char *name, const char *option,
                           const char *key)
{
    char section[80];
    const char *given = cli_text(cli, option);
    (void)snprintf(section, sizeof section, "queue:%s", name);
    return given ? given : config_get_text(cli->config, section, key);
}

static enum rc check_name(const char *name, struct err *err)
{
    size_t len = strlen(name);
    bool good = len > 0 && len <= 63 && ascii_alnum(name[0]);
    for (size_t i = 0; good && i < len; i++)
        good = (name[i] > ' ' && ascii_alnum(name[i])) || strchr("._-", name[i]) != NULL;
    if (good)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_USAGE, name,
                   "Letters, digits, '.', '_' and '-', at most 63, a letter or digit first.",
                   "a queue cannot have this name");
}

static enum rc ensure_topic(struct cli *cli, struct kafka_admin *admin, struct creation *creation,
                            struct err *err)
{
    enum rc rc = kafka_topic_describe(admin, creation->topic, KAFKA_MS, &creation->info, err);
    if (rc != RC_NONE)
        return rc;
    if (!cli_has(cli, "create-topic")) {
        char hint[500];
        (void)snprintf(hint, sizeof hint, REMEDY_KAFKA_TOPIC,
                       kafka_properties_get(&cli->kafka, "bootstrap.servers"), creation->topic);
        return err_set(err, RC_REJECT, ERR_CONFIG, creation->topic, hint,
                       "there is no topic of this name");
    }
    int replication = (int)cli_int(cli, "replication", -1);
    rc = kafka_topic_create(admin, creation->topic, 1, replication, KAFKA_MS, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: topic created, one partition, no retention\n", creation->topic);
    if (rc == RC_OK || rc == RC_NONE)
        rc = kafka_topic_describe(admin, creation->topic, KAFKA_MS, &creation->info, err);
    if (rc == RC_NONE)
        return err_set(err, RC_RETRY, ERR_KAFKA, creation->topic, "Run the command again.",
                       "the topic was made but the cluster does not show it yet");
    return rc;
}

/* Judges the topic by the table of cli/topic.c; warnings are said, the first failure ends it. */
static enum rc judge(struct cli *cli, const struct creation *creation, struct err *err)
{
    bool whole = !cli_has(cli, "partition");
    struct topic_finding findings[TOPIC_FINDINGS];
    const struct topic_place where = {creation->topic, creation->partition,
                                      kafka_properties_get(&cli->kafka, "bootstrap.servers")};
    int count = topic_judge(&creation->info, &where, whole, findings);
    for (int i = 0; i < count; i++) {
        if (findings[i].grade == TOPIC_FAIL)
            return err_set(err, RC_REJECT, ERR_CONFIG, creation->topic, findings[i].hint, "%s",
                           findings[i].text);
        if (findings[i].grade == TOPIC_WARN)
            cli_say(cli, "lockstep: warning: %s: %s\n  hint: %s\n", creation->topic,
                    findings[i].text, findings[i].hint);
    }
    return RC_OK;
}

static enum rc choose_offset(struct cli *cli, struct kafka_admin *admin, struct creation *creation,
                             struct err *err)
{
    const char *text = cli_text(cli, "from-offset");
    int64_t low = 0, high = 0, wanted = -1;
    bool latest = cli_has(cli, "from-end") || (text != NULL && strcmp(text, "latest") == 0);
    if (text != NULL && cli_has(cli, "from-end"))
        return err_set(err, RC_REJECT, ERR_USAGE, "queue create", "Give one of them.",
                       "--from-offset and --from-end contradict each other");
    if (text != NULL && !latest && strcmp(text, "earliest") != 0)
        wanted = cli_int(cli, "from-offset", -1);
    enum rc rc =
        kafka_watermarks(admin, creation->topic, creation->partition, KAFKA_MS, &low, &high, err);
    if (rc != RC_OK)
        return rc;
    if (wanted > high || (wanted >= 0 && wanted < low))
        return err_set(err, RC_REJECT, ERR_USAGE, creation->topic,
                       "Choose an offset inside, or leave it out.",
                       "offset %lld is outside the log, which goes from %lld to %lld",
                       (long long)wanted, (long long)low, (long long)high);
    creation->offset = latest ? high : wanted >= 0 ? wanted : low;
    creation->there = high - creation->offset;
    return RC_OK;
}

static enum rc prepare(struct cli *cli, struct creation *creation, struct err *err)
{
    struct kafka_admin *admin = NULL;
    enum rc rc = kafka_admin_open(&cli->kafka, &admin, err);
    if (rc == RC_OK)
        rc = ensure_topic(cli, admin, creation, err);
    if (rc == RC_OK)
        rc = judge(cli, creation, err);
    if (rc == RC_OK)
        rc = choose_offset(cli, admin, creation, err);
    kafka_admin_close(admin);
    return rc;
}

static void say_made(const struct cli *cli, const struct creation *creation)
{
    cli_say(cli, "lockstep: %s: queue made over partition %d of topic %s, from offset %lld\n",
            creation->name, creation->partition, creation->topic, (long long)creation->offset);
    if (creation->there > 0)
        cli_say(cli,
                "lockstep: %s: the topic has up to %lld records from there on: executors run them; "
                "--from-end begins after them\n",
                creation->name, (long long)creation->there);
}

enum rc command_queue_create(struct cli *cli, struct err *err)
{
    const char *name = cli->arguments[0];
    enum rc rc = check_name(name, err);
    if (rc != RC_OK)
        return rc;
    struct creation creation = {.name = name, .topic = setting(cli, name, "topic", "topic")};
    if (*creation.topic == '\0')
        creation.topic = name;
    const char *partition = setting(cli, name, "partition", "partition");
    int64_t number = 0;
    rc = number_parse(name, "partition", partition, (struct number_range){0, INT32_MAX}, &number,
                      err);
    creation.partition = (int)number;
    const char *attempts = setting(cli, name, "max-attempts", "max_attempts");
    const char *intervals = setting(cli, name, "retry-intervals", "retry_intervals");
    const char *retry_on = setting(cli, name, "retry-on", "retry_on");
    if (rc == RC_OK)
        rc = queue_keep_check(cli, err);
    if (rc == RC_OK)
        rc = queue_check_lists(intervals, retry_on, err);
    if (rc == RC_OK)
        rc = prepare(cli, &creation, err);
    if (rc != RC_OK)
        return rc;
    const char *params[] = {name,
                            creation.topic,
                            partition,
                            DB_INT(creation.offset),
                            *creation.info.cluster_id ? creation.info.cluster_id : NULL,
                            setting(cli, name, "max-readers", "max_readers"),
                            setting(cli, name, "on-failure", "on_failure"),
                            setting(cli, name, "runs", "runs"),
                            *attempts && strcmp(attempts, "default") != 0 ? attempts : NULL,
                            setting(cli, name, "lookahead", "lookahead"),
                            setting(cli, name, "dead-letters", "dead_letters"),
                            DB_INT(creation.info.partitions),
                            setting(cli, name, "external-lease", "external_lease"),
                            intervals,
                            retry_on};
    rc = db_run(cli->db, &sql_queue_create, params, NULL, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_SHOW, name);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, name, hint,
                       "there is a queue of this name already");
    if (rc == RC_OK) {
        say_made(cli, &creation);
        birthmark_make(cli, &cli->kafka, name, creation.topic, creation.partition);
    }
    const char *events = setting(cli, name, "events", "events");
    if (rc == RC_OK && strcmp(events, "on") == 0)
        rc = queue_set_events(cli, name, events, err);
    if (rc == RC_OK && queue_keep_given(cli))
        rc = queue_keep_set(cli, name, err);
    return rc;
}

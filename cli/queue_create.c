/* queue create, in this order: check the options, plan by the configuration, check that the name is
 * free, look at the topic or make it, insert the row, write the birthmark, set events and
 * retention. control/queue_create.c has the plan, which the console uses, too.
 *
 * Kafka is asked before the row is inserted: a queue without its topic would be halted by the first
 * executor. The birthmark, events and retention follow the row, each in a transaction of its own;
 * if one fails, the queue is there, and queue set repeats the missing settings. */
#include "control/queue_create.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/queue_keep.h"
#include "control/birthmark.h"

#include <stdio.h>
#include <string.h>

/* For each request; creating a topic waits for its controller. */
#define KAFKA_MS 10000

static void say_made(const struct cli *cli, const struct queue_plan *plan)
{
    const char *name = plan->wish.name, *topic = plan->wish.topic;
    cli_say(cli, "lockstep: %s: queue made over partition %d of topic %s, from offset %lld\n", name,
            plan->partition, topic, (long long)plan->offset);
    if (plan->there > 0)
        cli_say(
            cli,
            "lockstep: %s: the topic has up to %lld record%s from there on: executors run them; "
            "--from-end begins after them\n",
            name, (long long)plan->there, NUMBER_S(plan->there));
}

/* Printed even if the queue is refused afterwards: a topic that was created here stays. */
static void say_topic(const struct cli *cli, const struct queue_plan *plan)
{
    if (plan->topic_made)
        cli_say(cli, "lockstep: %s: topic created, one partition, its records kept without limit\n",
                plan->wish.topic);
    for (int i = 0; i < plan->warning_count; i++)
        cli_say(cli, "lockstep: warning: %s: %s\n  hint: %s\n", plan->wish.topic,
                plan->warnings[i].text, plan->warnings[i].hint);
}

/* The queue is there already, so a Kafka that does not answer any more is a warning: the first
 * executor writes the birthmark. */
static void mark(struct cli *cli, const struct queue_plan *plan)
{
    struct err err = {0};
    if (birthmark_make(cli->db, &cli->kafka, plan->wish.name, plan->wish.topic, plan->partition,
                       &err) != RC_OK)
        cli_say(cli,
                "lockstep: %s: the topic has no birthmark yet, the first executor writes it: %s\n",
                plan->wish.name, err.message);
}

enum rc command_queue_create(struct cli *cli, struct err *err)
{
    const char *name = cli->arguments[0];
    const struct queue_wish wish = {.name = name,
                                    .topic = cli_text(cli, "topic"),
                                    .partition = cli_text(cli, "partition"),
                                    .max_readers = cli_text(cli, "max-readers"),
                                    .on_failure = cli_text(cli, "on-failure"),
                                    .runs = cli_text(cli, "runs"),
                                    .max_attempts = cli_text(cli, "max-attempts"),
                                    .lookahead = cli_text(cli, "lookahead"),
                                    .dead_letters = cli_text(cli, "dead-letters"),
                                    .external_lease = cli_text(cli, "external-lease"),
                                    .retry_intervals = cli_text(cli, "retry-intervals"),
                                    .retry_on = cli_text(cli, "retry-on"),
                                    .from_offset = cli_text(cli, "from-offset"),
                                    .from_end = cli_has(cli, "from-end"),
                                    .create_topic = cli_has(cli, "create-topic"),
                                    .replication = (int)cli_int(cli, "replication", -1)};
    struct queue_plan plan = {0};
    enum rc rc = queue_keep_check(cli, err);
    if (rc == RC_OK)
        rc = queue_plan(cli->config, &wish, &plan, err);
    if (rc == RC_OK)
        rc = queue_is_new(cli->db, &plan, err);
    if (rc != RC_OK)
        return rc;
    /* Finds the partition and the first offset, and creates the topic if that is asked for. */
    rc = queue_place(&cli->kafka, KAFKA_MS, &plan, err);
    say_topic(cli, &plan);
    if (rc == RC_OK)
        rc = queue_make(cli->db, &plan, err);
    if (rc != RC_OK)
        return rc;
    say_made(cli, &plan);
    mark(cli, &plan);
    char section[80];
    (void)snprintf(section, sizeof section, "queue:%s", name);
    const char *events = cli_text(cli, "events");
    /* Without the option [queue:NAME] events counts, as for retention. */
    if (events == NULL)
        events = config_get_text(cli->config, section, "events");
    if (strcmp(events, "on") == 0)
        rc = queue_set_events(cli, name, events, err);
    if (rc == RC_OK && queue_keep_given(cli))
        rc = queue_keep_set(cli, name, err);
    return rc;
}

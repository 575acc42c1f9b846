/* dev broker: librdkafka's mock cluster as a process, for trials without Kafka. Its first line on
 * stdout is its address. It has no transactions that isolate and no fencing, so trials of these
 * need a real broker.
 *
 * It runs in the foreground until a signal comes, and its data is gone then. */
#include "cli/commands.h"
#include "cli/stop.h"
#include "kafka/mock.h"

#include <stdio.h>
#include <string.h>

/* "NAME" or "NAME:PARTITIONS"; a topic's name holds no colon. */
static enum rc make_topic(struct kafka_mock *mock, const char *text, struct err *err)
{
    FREE_AUTO char *name = xstrdup(text);
    char *colon = strchr(name, ':');
    int64_t partitions = 1;
    if (colon != NULL) {
        *colon++ = '\0';
        enum rc rc = number_parse("dev broker", "the number of partitions of --topic", colon,
                                  (struct number_range){1, 100}, &partitions, err);
        if (rc != RC_OK)
            return rc;
    }
    enum rc rc = kafka_mock_topic(mock, name, (int)partitions, err);
    return rc == RC_NONE ? RC_OK : rc;
}

enum rc command_dev_broker(struct cli *cli, struct err *err)
{
    struct kafka_mock *mock = NULL;
    const char *topic;
    stop_catch();
    enum rc rc = kafka_mock_open(&mock, err);
    for (int i = 0; rc == RC_OK && (topic = cli_repeated(cli, "topic", i)) != NULL; i++)
        rc = make_topic(mock, topic, err);
    if (rc == RC_OK) {
        /* Flushed at once by table_check: a script reads the address while the broker runs. */
        (void)puts(kafka_mock_brokers(mock));
        rc = table_check(stdout, err);
        cli_say(cli, "lockstep: an embedded broker in memory, without isolation and fencing, for "
                     "trying things out; "
                     "--brokers leads to a real Kafka\n");
    }
    while (rc == RC_OK && !stop_requested())
        stop_wait(60000);
    kafka_mock_close(mock);
    return rc == RC_NONE ? RC_OK : rc;
}

#include "cli/commands.h"
#include "cli/stop.h"
#include "kafka/mock.h"

#include <stdio.h>

enum rc command_dev_broker(struct cli *cli, struct err *err)
{
    struct kafka_mock *mock = NULL;
    const char *topic;
    stop_catch();
    enum rc rc = kafka_mock_open(&mock, err);
    for (int i = 0; rc == RC_OK && (topic = cli_repeated(cli, "topic", i)) != NULL; i++) {
        rc = kafka_mock_topic(mock, topic, 1, err);
        rc = rc == RC_NONE ? RC_OK : rc;
    }
    if (rc == RC_OK) {
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

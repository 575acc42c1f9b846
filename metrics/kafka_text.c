/* librdkafka's statistics (STATISTICS.md of librdkafka names the fields) as metrics. Only brokers
 * with a number are shown: the bootstrap addresses would double them. A field that this version of
 * librdkafka does not have is 0, and a text that cannot be parsed shows nothing: metrics are no
 * reason for an error. */
#include "metrics/names.h"
#include "metrics/tally_text.h"
#include "metrics/text.h"

#include <cjson/cJSON.h>

#include <stdio.h>
#include <string.h>

static double number(const cJSON *object, const char *field)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void client(const cJSON *root, struct str *text)
{
    static const struct {
        const char *name, *field;
    } of[] = {{"lockstep_kafka_messages_received_total", "rxmsgs"},
              {"lockstep_kafka_received_bytes_total", "rx_bytes"},
              {"lockstep_kafka_sent_bytes_total", "tx_bytes"},
              {"lockstep_kafka_requests_total", "tx"},
              {"lockstep_kafka_operations_waiting", "replyq"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        text_family(text, of[i].name);
        text_number(text, of[i].name, NULL, number(root, of[i].field));
    }
}

/* One family over all brokers that have a number; the bootstrap addresses and the coordinator's
 * connection have none. */
static void brokers(const cJSON *root, const char *name, const char *direction,
                    double (*value)(const cJSON *broker), struct str *text)
{
    const cJSON *broker;
    cJSON_ArrayForEach(broker, cJSON_GetObjectItemCaseSensitive(root, "brokers"))
    {
        char id[24];
        const cJSON *source = cJSON_GetObjectItemCaseSensitive(broker, "source");
        if (number(broker, "nodeid") < 0 ||
            (cJSON_IsString(source) && strcmp(source->valuestring, "logical") == 0))
            continue;
        /* cJSON has numbers as doubles; a broker's id is an int32, which a double holds exactly. */
        (void)snprintf(id, sizeof id, "%.0f", number(broker, "nodeid"));
        const struct text_labels labels = {{id, direction}};
        text_number(text, name, &labels, value(broker));
    }
}

static double is_up(const cJSON *broker)
{
    const cJSON *state = cJSON_GetObjectItemCaseSensitive(broker, "state");
    return cJSON_IsString(state) && strcmp(state->valuestring, "UP") == 0 ? 1 : 0;
}

/** librdkafka gives microseconds, Prometheus wants seconds. */
static double round_trip_s(const cJSON *broker)
{
    return number(cJSON_GetObjectItemCaseSensitive(broker, "rtt"), "avg") / 1e6;
}

static double tx_errors(const cJSON *broker)
{
    return number(broker, "txerrs");
}

static double rx_errors(const cJSON *broker)
{
    return number(broker, "rxerrs");
}

static double timeouts(const cJSON *broker)
{
    return number(broker, "req_timeouts");
}

static void partitions(const cJSON *root, const char *name, const char *field, struct str *text)
{
    const cJSON *topic, *partition;
    text_family(text, name);
    cJSON_ArrayForEach(topic, cJSON_GetObjectItemCaseSensitive(root, "topics"))
    {
        cJSON_ArrayForEach(partition, cJSON_GetObjectItemCaseSensitive(topic, "partitions"))
        {
            /* Only partitions that the executor reads; librdkafka also lists others of the topic.
             */
            const cJSON *desired = cJSON_GetObjectItemCaseSensitive(partition, "desired");
            if (!cJSON_IsTrue(desired))
                continue;
            const struct text_labels labels = {{topic->string, partition->string}};
            text_number(text, name, &labels, number(partition, field));
        }
    }
}

void tally_kafka_text(const char *json, struct str *text)
{
    cJSON *root = cJSON_Parse(json);
    if (root == NULL)
        return;
    client(root, text);
    text_family(text, "lockstep_kafka_broker_up");
    brokers(root, "lockstep_kafka_broker_up", NULL, is_up, text);
    text_family(text, "lockstep_kafka_broker_round_trip_seconds");
    brokers(root, "lockstep_kafka_broker_round_trip_seconds", NULL, round_trip_s, text);
    text_family(text, "lockstep_kafka_broker_errors_total");
    brokers(root, "lockstep_kafka_broker_errors_total", "sent", tx_errors, text);
    brokers(root, "lockstep_kafka_broker_errors_total", "received", rx_errors, text);
    text_family(text, "lockstep_kafka_broker_request_timeouts_total");
    brokers(root, "lockstep_kafka_broker_request_timeouts_total", NULL, timeouts, text);
    partitions(root, "lockstep_kafka_fetch_queue_messages", "fetchq_cnt", text);
    partitions(root, "lockstep_kafka_fetch_queue_bytes", "fetchq_size", text);
    cJSON_Delete(root);
}

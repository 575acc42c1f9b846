/* The embedded broker: librdkafka's mock cluster in this process, for `lockstep dev` and for tests.
 * It keeps nothing on disk, and transactions, isolation and settings of topics are not those of a
 * broker; the promises are tested against real ones. One broker listens on a free port of
 * 127.0.0.1. */
#include "kafka/mock.h"

#include "base/str.h"
#include "kafka/error.h"
#include "kafka/handle.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdlib.h>

struct kafka_mock {
    rd_kafka_t *rk; /* only carries the cluster */
    rd_kafka_mock_cluster_t *cluster;
};

enum rc kafka_mock_open(struct kafka_mock **ret_mock, struct err *err)
{
    char text[256] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t *rk = NULL;
    rd_kafka_conf_set_log_cb(conf, kafka_handle_log);
    if (rd_kafka_conf_set(conf, "client.id", "lockstep", text, sizeof text) == RD_KAFKA_CONF_OK)
        rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text); /* takes conf on success */
    if (rk == NULL) {
        rd_kafka_conf_destroy(conf);
        return err_set(err, RC_FATAL, ERR_KAFKA, "mock cluster", "", "%s", text);
    }
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(rk, 1);
    if (cluster == NULL) {
        rd_kafka_destroy(rk);
        return err_set(err, RC_FATAL, ERR_KAFKA, "mock cluster", "Free a port on 127.0.0.1.",
                       "librdkafka could not start its mock cluster");
    }
    *ret_mock = xcalloc(1, sizeof **ret_mock);
    **ret_mock = (struct kafka_mock){rk, cluster};
    return RC_OK;
}

void kafka_mock_close(struct kafka_mock *mock)
{
    if (mock == NULL)
        return;
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->rk);
    free(mock);
}

const char *kafka_mock_brokers(const struct kafka_mock *mock)
{
    return rd_kafka_mock_cluster_bootstraps(mock->cluster);
}

enum rc kafka_mock_topic(struct kafka_mock *mock, const char *topic, int partitions,
                         struct err *err)
{
    rd_kafka_resp_err_t code = rd_kafka_mock_topic_create(mock->cluster, topic, partitions, 1);
    if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return RC_NONE;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? RC_OK : kafka_err(err, code, topic, NULL);
}

/** The next requests of this kind (Kafka protocol, API Keys) are answered with the error, and then
 * no more. */
enum rc kafka_mock_inject(struct kafka_mock *mock, int api_key, int count, int error_code,
                          struct err *err)
{
    if (count < 1)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "mock cluster", "", "count %d is below 1",
                       count);
    for (int i = 0; i < count; i++)
        rd_kafka_mock_push_request_errors(mock->cluster, (int16_t)api_key, 1,
                                          (rd_kafka_resp_err_t)error_code);
    return RC_OK;
}

enum rc kafka_mock_reachable(struct kafka_mock *mock, bool reachable, struct err *err)
{
    rd_kafka_resp_err_t code = reachable ? rd_kafka_mock_broker_set_up(mock->cluster, -1)
                                         : rd_kafka_mock_broker_set_down(mock->cluster, -1);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? RC_OK : kafka_err(err, code, "mock cluster", NULL);
}

/* Topics for administration: description, settings, creation, deletion. The controller answers a
 * create or delete before the other brokers know of it, so settle() waits until their metadata
 * agree; a producer that comes earlier would be refused. Positions in a partition are in
 * watermarks.c and times.c. A broker that does not answer one part (ACL, mock cluster) leaves the
 * values of that part unknown. */
#include "kafka/admin.h"
#include "base/clock.h"
#include "base/remedies.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kafka/error.h"
#include "kafka/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rc kafka_admin_open(const struct kafka_properties *props, struct kafka_admin **ret_admin,
                         struct err *err)
{
    struct kafka_handle *handle;
    enum rc rc = kafka_handle_open(props, KAFKA_ADMIN, NULL, NULL, NULL, &handle, err);
    if (rc != RC_OK)
        return rc;
    *ret_admin = xcalloc(1, sizeof **ret_admin);
    (*ret_admin)->handle = handle;
    return RC_OK;
}

void kafka_admin_close(struct kafka_admin *admin)
{
    if (admin == NULL)
        return;
    kafka_handle_close(admin->handle);
    free(admin);
}

int kafka_left_ms(int64_t until_us)
{
    /* Rounded up: a wait of 0 ms for the last part of a millisecond would spin. */
    int64_t left = (until_us - clock_boot_us() + 999) / 1000;
    return left > 0 ? (int)left : 0;
}

static enum rc failed(struct kafka_admin *admin, rd_kafka_resp_err_t code, const char *text,
                      const char *topic, int timeout_ms, struct err *err)
{
    if (kafka_err_no_answer(code))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    return kafka_err(err, code, topic, text);
}

/* Recognises the mock cluster by its id. It makes every topic that is requested by name (with 4
 * partitions), and lets admin requests wait until they time out. */
static enum rc meet(struct kafka_admin *admin, const char *topic, int timeout_ms, struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    if (admin->met)
        return RC_OK;
    rd_kafka_resp_err_t code = kafka_metadata(admin->handle, false, NULL, timeout_ms, &metadata);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failed(admin, code, NULL, topic, timeout_ms, err);
    rd_kafka_metadata_destroy(metadata);
    char *id = rd_kafka_clusterid(admin->handle->rk, 0);
    admin->mock = id != NULL && strncmp(id, "mockCluster", strlen("mockCluster")) == 0;
    admin->met = true;
    if (id != NULL)
        rd_kafka_mem_free(admin->handle->rk, id);
    return RC_OK;
}

enum rc kafka_admin_meet(struct kafka_admin *admin, int timeout_ms, struct err *err)
{
    return meet(admin, "", timeout_ms, err);
}

static enum rc mock_cannot(const char *topic, struct err *err)
{
    char hint[400];
    utf8_format(hint, sizeof hint, REMEDY_DEV_TOPIC, topic);
    enum rc rc =
        err_set(err, RC_FATAL, ERR_KAFKA, topic, hint,
                "the embedded broker can neither create nor delete topics for its clients");
    err_code(err, rd_kafka_err2name(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE));
    return rc;
}

static const struct rd_kafka_metadata_topic *topic_in(const struct rd_kafka_metadata *metadata,
                                                      const char *topic)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, topic) == 0)
            return &metadata->topics[i];
    return NULL;
}

/* Partitions and replicas of a topic; RC_NONE: it does not exist. Without a leader for each it is
 * RC_RETRY. */
static enum rc find_topic(struct kafka_admin *admin, const char *topic, int timeout_ms,
                          struct kafka_topic_info *ret_info, struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    enum rc rc = meet(admin, topic, timeout_ms, err);
    if (rc != RC_OK)
        return rc;
    /* Naming the topic, even to rd_kafka_topic_new alone, would make it on the mock. */
    rd_kafka_resp_err_t code = kafka_metadata(admin->handle, admin->mock,
                                              admin->mock ? NULL : topic, timeout_ms, &metadata);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failed(admin, code, NULL, topic, timeout_ms, err);
    rc = RC_NONE;
    const struct rd_kafka_metadata_topic *found = topic_in(metadata, topic);
    if (found != NULL) {
        code = found->err;
        for (int i = 0; code == RD_KAFKA_RESP_ERR_NO_ERROR && i < found->partition_cnt; i++)
            if (found->partitions[i].leader < 0)
                /* A topic that was made a moment ago has partitions before it has leaders. */
                code = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        ret_info->partitions = found->partition_cnt;
        ret_info->replication = found->partition_cnt > 0 ? found->partitions[0].replica_cnt : 0;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR && found->partition_cnt > 0)
            rc = RC_OK;
        else if (code != RD_KAFKA_RESP_ERR_NO_ERROR &&
                 code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
            rc = kafka_err(err, code, topic, NULL);
    }
    rd_kafka_metadata_destroy(metadata);
    return rc;
}

static int64_t number(const char *text)
{
    int64_t value;
    return text != NULL && int64_parse(text, strlen(text), &value) ? value : -1;
}

/** Keeps the settings that Lockstep checks or shows; a topic has more than thirty. */
static void take_setting(struct kafka_topic_info *info, const char *name, const char *value)
{
    if (value == NULL)
        return;
    if (strcmp(name, "cleanup.policy") == 0)
        (void)snprintf(info->cleanup_policy, sizeof info->cleanup_policy, "%s", value);
    else if (strcmp(name, "unclean.leader.election.enable") == 0)
        (void)snprintf(info->unclean_leader_election, sizeof info->unclean_leader_election, "%s",
                       value);
    else if (strcmp(name, "max.message.bytes") == 0)
        info->max_message_bytes = number(value);
    else if (strcmp(name, "retention.ms") == 0)
        info->retention_ms = number(value);
    else if (strcmp(name, "retention.bytes") == 0)
        info->retention_bytes = number(value);
    else if (strcmp(name, "min.insync.replicas") == 0)
        info->min_insync_replicas = number(value);
}

static void take_settings(rd_kafka_event_t *event, struct kafka_topic_info *info)
{
    size_t resource_count = 0, count = 0;
    const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
    if (result == NULL || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return; /* the mock cluster cannot, an ACL may forbid: the values stay unknown */
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_DescribeConfigs_result_resources(result, &resource_count);
    if (resource_count != 1)
        return;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[0], &count);
    for (size_t i = 0; i < count; i++)
        take_setting(info, rd_kafka_ConfigEntry_name(entries[i]),
                     rd_kafka_ConfigEntry_value(entries[i]));
}

/* A request of one kind: its options and the queue on which the answer comes. */
struct request {
    rd_kafka_AdminOptions_t *options;
    rd_kafka_queue_t *queue;
};

static struct request request_new(struct kafka_admin *admin, rd_kafka_admin_op_t kind,
                                  int timeout_ms)
{
    char text[256];
    struct request request = {rd_kafka_AdminOptions_new(admin->handle->rk, kind),
                              rd_kafka_queue_new(admin->handle->rk)};
    /* request_timeout bounds the answer, operation_timeout the work of the controller; describing
     * has no work. */
    (void)rd_kafka_AdminOptions_set_request_timeout(request.options, timeout_ms, text, sizeof text);
    if (kind != RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS)
        (void)rd_kafka_AdminOptions_set_operation_timeout(request.options, timeout_ms, text,
                                                          sizeof text);
    return request;
}

/* The answer, or NULL when none came in time; ends the request. */
static rd_kafka_event_t *request_answer(struct request *request, int timeout_ms)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(request->queue, timeout_ms);
    rd_kafka_queue_destroy(request->queue);
    rd_kafka_AdminOptions_destroy(request->options);
    return event;
}

static void describe_settings(struct kafka_admin *admin, const char *topic, int timeout_ms,
                              struct kafka_topic_info *info)
{
    struct request request = request_new(admin, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_ms);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_DescribeConfigs(admin->handle->rk, &resource, 1, request.options, request.queue);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_event_t *event = request_answer(&request, timeout_ms);
    if (event == NULL)
        return;
    take_settings(event, info);
    rd_kafka_event_destroy(event);
}

enum rc kafka_topic_describe(struct kafka_admin *admin, const char *topic, int timeout_ms,
                             struct kafka_topic_info *ret_info, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    struct kafka_topic_info info = {.max_message_bytes = -1,
                                    .retention_ms = -1,
                                    .retention_bytes = -1,
                                    .min_insync_replicas = -1};
    enum rc rc = find_topic(admin, topic, timeout_ms, &info, err);
    if (rc != RC_OK)
        return rc;
    char *id = rd_kafka_clusterid(admin->handle->rk, 0); /* the metadata brought it */
    if (id != NULL) {
        (void)snprintf(info.cluster_id, sizeof info.cluster_id, "%s", id);
        rd_kafka_mem_free(admin->handle->rk, id);
    }
    /* The settings get the rest of the time. Without them the description is still useful. */
    if (kafka_left_ms(until_us) > 0 && !admin->mock)
        describe_settings(admin, topic, kafka_left_ms(until_us), &info);
    *ret_info = info;
    return RC_OK;
}

/* The one topic's outcome inside the answer to a create or delete. */
static enum rc outcome(struct kafka_admin *admin, rd_kafka_event_t *event, const char *topic,
                       int timeout_ms, struct err *err)
{
    if (event == NULL)
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    size_t count = 0;
    const rd_kafka_CreateTopics_result_t *created = rd_kafka_event_CreateTopics_result(event);
    const rd_kafka_DeleteTopics_result_t *deleted = rd_kafka_event_DeleteTopics_result(event);
    const rd_kafka_topic_result_t **topics = NULL;
    if (created != NULL)
        topics = rd_kafka_CreateTopics_result_topics(created, &count);
    else if (deleted != NULL)
        topics = rd_kafka_DeleteTopics_result_topics(deleted, &count);
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    const char *text = rd_kafka_event_error_string(event);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && count == 1) {
        code = rd_kafka_topic_result_error(topics[0]);
        text = rd_kafka_topic_result_error_string(topics[0]);
    }
    enum rc rc = RC_OK;
    /* The wish is fulfilled already, perhaps by an earlier try whose answer was lost. */
    if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS ||
        (deleted != NULL && code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART))
        rc = RC_NONE;
    else if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        rc = failed(admin, code, text, topic, timeout_ms, err);
    rd_kafka_event_destroy(event);
    return rc;
}

/* Waits until the metadata of the brokers agree with the answer of the controller. */
static enum rc settle(struct kafka_admin *admin, const char *topic, enum rc wanted,
                      int64_t until_us, struct err *err)
{
    struct kafka_topic_info info = {0};
    enum rc rc;
    do {
        rc = find_topic(admin, topic, kafka_left_ms(until_us) + 1, &info, err);
        if (rc == wanted)
            return RC_OK;
        (void)rd_kafka_poll(admin->handle->rk, 20);
    } while (kafka_left_ms(until_us) > 0);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, topic,
                   "Try again in a moment: the brokers are busy.",
                   "the controller has done it, the brokers do not know it yet");
}

enum rc kafka_topic_create(struct kafka_admin *admin, const char *topic, int partitions,
                           int replication, int timeout_ms, struct err *err)
{
    char text[512] = "";
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    enum rc rc = meet(admin, topic, timeout_ms, err);
    if (rc != RC_OK)
        return rc;
    if (admin->mock)
        return mock_cannot(topic, err);
    rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(
        topic, partitions, replication > 0 ? replication : -1, text, sizeof text);
    if (wanted == NULL)
        return err_set(err, RC_FATAL, ERR_USAGE, topic, "", "%s", text);
    /* A compacted topic would lose tasks, and one with a retention would lose those that wait for
     * long. */
    (void)rd_kafka_NewTopic_set_config(wanted, "cleanup.policy", "delete");
    (void)rd_kafka_NewTopic_set_config(wanted, "retention.ms", "-1");
    struct request request = request_new(admin, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout_ms);
    rd_kafka_CreateTopics(admin->handle->rk, &wanted, 1, request.options, request.queue);
    rd_kafka_NewTopic_destroy(wanted);
    rc = outcome(admin, request_answer(&request, timeout_ms), topic, timeout_ms, err);
    return rc == RC_OK ? settle(admin, topic, RC_OK, until_us, err) : rc;
}

enum rc kafka_topic_delete(struct kafka_admin *admin, const char *topic, int timeout_ms,
                           struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    enum rc rc = meet(admin, topic, timeout_ms, err);
    if (rc != RC_OK)
        return rc;
    if (admin->mock)
        return mock_cannot(topic, err);
    rd_kafka_DeleteTopic_t *unwanted = rd_kafka_DeleteTopic_new(topic);
    struct request request = request_new(admin, RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout_ms);
    rd_kafka_DeleteTopics(admin->handle->rk, &unwanted, 1, request.options, request.queue);
    rd_kafka_DeleteTopic_destroy(unwanted);
    rc = outcome(admin, request_answer(&request, timeout_ms), topic, timeout_ms, err);
    return rc == RC_OK ? settle(admin, topic, RC_NONE, until_us, err) : rc;
}

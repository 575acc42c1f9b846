/* One check of a topic, for the executor's watcher: metadata, watermarks, birthmark. Begin with
 * kafka_watch_check(). The birthmark is metadata of a committed offset: a broker deletes committed
 * offsets of a partition together with its topic, so a topic of the same name that was made again
 * has none. */
#include "kafka/watch.h"

#include "base/str.h"
#include "base/utf8.h"
#include "kafka/admin.h"
#include "kafka/error.h"
#include "kafka/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kafka_watch {
    struct kafka_admin admin;
    char *group;
};

enum rc kafka_watch_open(const struct kafka_properties *props, const char *group,
                         struct kafka_watch **ret_watch, struct err *err)
{
    struct kafka_properties own = {0};
    struct kafka_handle *handle = NULL;
    kafka_properties_copy(&own, props);
    enum rc rc = kafka_properties_set(&own, "group.id", group, err);
    if (rc == RC_OK)
        rc = kafka_handle_open(&own, KAFKA_ADMIN, NULL, NULL, NULL, &handle, err);
    kafka_properties_done(&own);
    if (rc != RC_OK)
        return rc;
    struct kafka_watch *watch = xcalloc(1, sizeof *watch);
    watch->admin.handle = handle;
    /* The consumer of the same process logs that the cluster is away. */
    kafka_handle_hush(handle);
    watch->group = xstrdup(group);
    *ret_watch = watch;
    return RC_OK;
}

void kafka_watch_close(struct kafka_watch *watch)
{
    if (watch == NULL)
        return;
    kafka_handle_close(watch->admin.handle);
    free(watch->group);
    free(watch);
}

static enum rc failed(struct kafka_watch *watch, rd_kafka_resp_err_t code, const char *object,
                      int timeout_ms, struct err *err)
{
    return kafka_err_no_answer(code)
               ? kafka_handle_no_answer(watch->admin.handle, object, timeout_ms, err)
               : kafka_err(err, code, object, NULL);
}

static enum rc check_topic(struct kafka_watch *watch, const char *topic, int partition,
                           int timeout_ms, struct kafka_check *check, struct err *err)
{
    rd_kafka_t *rk = watch->admin.handle->rk;
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code =
        kafka_metadata(watch->admin.handle, false, topic, timeout_ms, &metadata);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failed(watch, code, topic, timeout_ms, err);
    check->leader = -1;
    if (metadata->topic_cnt == 1) {
        const struct rd_kafka_metadata_topic *found = &metadata->topics[0];
        code = found->err;
        check->partitions = found->partition_cnt;
        for (int i = 0; i < found->partition_cnt; i++)
            if (found->partitions[i].id == partition)
                check->leader = found->partitions[i].leader;
    }
    rd_kafka_metadata_destroy(metadata);
    char *id = rd_kafka_clusterid(rk, 0); /* the metadata brought it */
    if (id != NULL) {
        (void)snprintf(check->cluster_id, sizeof check->cluster_id, "%s", id);
        rd_kafka_mem_free(rk, id);
    }
    /* A topic that does not exist is a result of the check, not an error. */
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        check->partitions = 0;
    else if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failed(watch, code, topic, timeout_ms, err);
    return RC_OK;
}

/* Another client of the group may have written any bytes. */
static void read_mark(struct kafka_check *check, const void *bytes, size_t len)
{
    STR_AUTO mark = {0};
    utf8_add(&mark, bytes, len, sizeof check->mark - 1);
    utf8_copy(check->mark, sizeof check->mark, mark.data);
}

static enum rc check_mark(struct kafka_watch *watch, const char *topic, int partition,
                          int timeout_ms, struct kafka_check *check, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = rd_kafka_committed(watch->admin.handle->rk, list, timeout_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = list->elems[0].err;
    /* Of a topic that is not there, or not there any more, nothing is committed. */
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
        code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        code = RD_KAFKA_RESP_ERR_NO_ERROR;
    check->mark_known = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (check->mark_known && list->elems[0].offset >= 0 && list->elems[0].metadata_size > 0)
        read_mark(check, list->elems[0].metadata, list->elems[0].metadata_size);
    rd_kafka_topic_partition_list_destroy(list);
    if (check->mark_known)
        return RC_OK;
    /* A birthmark that cannot be read leaves the rest of the check useful; only a client without an
     * answer ends it. */
    enum rc rc = failed(watch, code, watch->group, timeout_ms, &check->mark_err);
    if (rc == RC_LOST && err != NULL)
        *err = check->mark_err;
    return rc == RC_LOST ? rc : RC_OK;
}

enum rc kafka_watch_check(struct kafka_watch *watch, const char *topic, int partition,
                          int timeout_ms, struct kafka_check *ret_check, struct err *err)
{
    struct kafka_check check = {.low = -1, .high = -1};
    while (rd_kafka_poll(watch->admin.handle->rk, 0) > 0) { /* its errors and logs */
    }
    enum rc rc = check_topic(watch, topic, partition, timeout_ms, &check, err);
    if (rc == RC_OK && check.partitions > partition)
        rc = kafka_watermarks(&watch->admin, topic, partition, timeout_ms, &check.low, &check.high,
                              err);
    if (rc == RC_OK)
        rc = check_mark(watch, topic, partition, timeout_ms, &check, err);
    if (rc == RC_OK) {
        kafka_handle_alive(watch->admin.handle);
        *ret_check = check;
    }
    return rc;
}

enum rc kafka_watch_sign(struct kafka_watch *watch, const char *topic, int partition,
                         int64_t offset, const char *mark, int timeout_ms, struct err *err)
{
    rd_kafka_t *rk = watch->admin.handle->rk;
    rd_kafka_queue_t *answers = rd_kafka_queue_new(rk);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *place = rd_kafka_topic_partition_list_add(list, topic, partition);
    place->offset = offset;
    place->metadata = xstrdup(mark); /* the list owns it */
    place->metadata_size = strlen(mark);
    /* With a queue of its own, because a synchronous rd_kafka_commit has no time-out. */
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(rk, list, answers, NULL, NULL);
    rd_kafka_topic_partition_list_destroy(list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(answers, timeout_ms);
        code = event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        list = event != NULL ? rd_kafka_event_topic_partition_list(event) : NULL;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR && list != NULL && list->cnt == 1)
            code = list->elems[0].err;
        if (event != NULL)
            rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(answers);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? RC_OK
                                              : failed(watch, code, watch->group, timeout_ms, err);
}

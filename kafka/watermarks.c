/* rd_kafka_query_watermark_offsets may wait far beyond its time-out in 2.0.2 (a leader that is
 * away), so it runs on a thread of its own that is left behind when the time is over. It holds a
 * count of the handle: whoever ends last destroys it. */
#include "base/str.h"
#include "kafka/admin.h"
#include "kafka/error.h"

#include <stdlib.h>
#include <time.h>

struct query {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int users; /* the asking thread and the query's own; the last one frees */
    bool done;
    struct kafka_handle *handle;
    char *topic;
    int partition, timeout_ms;
    int64_t low, high;
    rd_kafka_resp_err_t code;
};

static struct query *query_new(struct kafka_handle *handle, const char *topic, int partition,
                               int timeout_ms)
{
    struct query *query = xcalloc(1, sizeof *query);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&query->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_mutex_init(&query->lock, NULL);
    query->users = 2;
    query->handle = kafka_handle_hold(handle);
    query->topic = xstrdup(topic);
    query->partition = partition;
    query->timeout_ms = timeout_ms;
    return query;
}

/* Called with the lock held; releases it. */
static void query_leave(struct query *query)
{
    bool last = --query->users == 0;
    (void)pthread_mutex_unlock(&query->lock);
    if (!last)
        return;
    kafka_handle_close(query->handle);
    (void)pthread_cond_destroy(&query->changed);
    (void)pthread_mutex_destroy(&query->lock);
    free(query->topic);
    free(query);
}

static void *run(void *argument)
{
    struct query *query = argument;
    int64_t low = -1, high = -1;
    rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
        query->handle->rk, query->topic, query->partition, &low, &high, query->timeout_ms);
    (void)pthread_mutex_lock(&query->lock);
    query->low = low;
    query->high = high;
    query->code = code;
    query->done = true;
    (void)pthread_cond_signal(&query->changed);
    query_leave(query);
    return NULL;
}

/* Called with the lock held. */
static void await(struct query *query, int timeout_ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    while (!query->done && pthread_cond_timedwait(&query->changed, &query->lock, &until) == 0) {
    }
}

enum rc kafka_watermarks(struct kafka_admin *admin, const char *topic, int partition,
                         int timeout_ms, int64_t *ret_low, int64_t *ret_high, struct err *err)
{
    pthread_t thread;
    struct query *query = query_new(admin->handle, topic, partition, timeout_ms);
    (void)pthread_mutex_lock(&query->lock);
    if (pthread_create(&thread, NULL, run, query) != 0) {
        query->users = 1;
        query_leave(query);
        return err_set(err, RC_RETRY, ERR_INTERNAL, topic, "see ulimit -u",
                       "no thread can be started");
    }
    (void)pthread_detach(thread);
    await(query, timeout_ms);
    bool done = query->done;
    rd_kafka_resp_err_t code = query->code;
    int64_t low = query->low, high = query->high;
    query_leave(query);
    if (!done || kafka_err_no_answer(code))
        return kafka_handle_no_answer(admin->handle, topic, timeout_ms, err);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_err(err, code, topic, NULL);
    *ret_low = low;
    *ret_high = high;
    return RC_OK;
}

/* settle: reads the end of a topic to find the rows that a predecessor sent but did not note, so
 * that no record is sent twice. A row is found by its id in a header of the record. The end that
 * was seen is read completely, behind the fencing: only then can no record of a predecessor appear
 * any more. relay_read() also serves enqueue.c. */
#include "relay/relaying.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "kafka/consumer.h"
#include "kafka/source.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* READ_MS: without any progress, so a long topic may take longer. */
#define READ_MS  10000
#define SLICE_MS 100

/* Records of this queue's rows on the topic. */
struct found {
    const char *queue;
    struct str uids; /* an array parameter */
    int64_t count, seq;
};

static void text_of(const struct kafka_header *header, char *to, size_t size)
{
    size_t len = header->value != NULL && header->value_len < size ? header->value_len : 0;
    if (len > 0)
        memcpy(to, header->value, len);
    to[len] = '\0';
}

/* Any producer may write such headers: a record whose id is no UUID is not the relay's. */
static bool is_uuid(const char *text)
{
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (text[i] == '\0' ||
            (dash ? text[i] != '-' : strchr("0123456789abcdef", text[i]) == NULL))
            return false;
    }
    return text[36] == '\0';
}

/* Only the last header of a name counts: those before it may be the original's own, of a dead
 * letter of a dead letter. */
static void see(void *context, const struct kafka_record *record)
{
    struct found *found = context;
    char queue[64] = "", uid[37] = "", seq[24] = "";
    struct kafka_header header;
    int64_t number;
    for (size_t i = 0; kafka_record_header(record, i, &header); i++) {
        if (strcmp(header.name, "lockstep-queue") == 0)
            text_of(&header, queue, sizeof queue);
        else if (strcmp(header.name, "lockstep-outbox-id") == 0)
            text_of(&header, uid, sizeof uid);
        else if (strcmp(header.name, "lockstep-relay-seq") == 0)
            text_of(&header, seq, sizeof seq);
    }
    if (strcmp(queue, found->queue) != 0 || !is_uuid(uid) ||
        !int64_parse(seq, strlen(seq), &number) || number > INT64_MAX / 2)
        return; /* of another queue, or of another producer */
    db_array_text(&found->uids, uid, 36);
    found->count++;
    found->seq = number > found->seq ? number : found->seq;
}

/* Reads until the end that was seen is reached. An open transaction of another producer there holds
 * readers back. */
static enum rc read_on(const struct relay *relay, struct kafka_source *source, int wake_fd,
                       const char *topic, int64_t high, relay_see_fn *see_record, void *context,
                       struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)READ_MS * 1000;
    while (clock_boot_us() < until_us && !relay_out_of_time(relay)) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(source, &record, err);
        if (rc == RC_OK) {
            if (record.offset < high)
                see_record(context, &record);
            kafka_record_free(&record);
            until_us = clock_boot_us() + (int64_t)READ_MS * 1000; /* there is progress */
        } else if (rc != RC_NONE) {
            return rc;
        } else if (kafka_source_end(source) >= high) {
            return RC_OK;
        } else {
            struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
            uint64_t count;
            if (poll(&wake, 1, SLICE_MS) > 0 && read(wake_fd, &count, sizeof count) < 0)
                continue; /* taken by a spurious wake-up */
        }
    }
    return err_set(err, RC_RETRY, ERR_TIMEOUT, topic,
                   "End the open transaction of another producer on this topic, or wait if the "
                   "broker is slow.",
                   "the end of the topic, offset %lld, is not reached", (long long)high);
}

enum rc relay_read(const struct relay *relay, const struct relay_kind *kind, int64_t from,
                   int64_t high, relay_see_fn *see_record, void *context, struct err *err)
{
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct kafka_consumer *consumer = NULL;
    struct kafka_source *source = NULL;
    enum rc rc = kafka_consumer_open(relay->kafka, wake_fd, &consumer, err);
    if (rc == RC_OK)
        rc = kafka_source_open(consumer, kind->topic, kind->partition, &source, err);
    if (rc == RC_OK)
        rc = kafka_source_assign(source, from, err);
    if (rc == RC_OK)
        rc = read_on(relay, source, wake_fd, kind->topic, high, see_record, context, err);
    kafka_source_close(source);
    kafka_consumer_close(consumer);
    (void)close(wake_fd);
    return rc;
}

/* Records that no row explains mean a database that was set back: the rows will be made again, and
 * their records sent a second time. This is logged and cannot be prevented here. */
static enum rc settle(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                      const struct found *found, int64_t high, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(relay->db, &sql_relay_settle,
                        (const char *const[]){DB_INT(queue->queue_id), kind->name, found->uids.data,
                                              DB_INT(found->seq), DB_INT(high)},
                        &row, err);
    if (rc != RC_OK)
        return rc;
    int64_t rows = db_int(row, 0, RELAY_SETTLE_FOUND);
    kind_settled(kind, db_int(row, 0, RELAY_SETTLE_SENT_SEQ), high);
    if (rows > 0)
        log_event(LOG_INFO, "relay_settled", "queue", queue->name, "topic", kind->topic, "records",
                  LOG_INT(rows), NULL);
    if (rows < found->count)
        log_event(LOG_WARN, "relay_ahead", "queue", queue->name, "topic", kind->topic, "records",
                  LOG_INT(found->count - rows), "reason",
                  "the topic has records of which the database knows nothing: it was set back",
                  NULL);
    probe("relay.settled");
    return RC_OK;
}

enum rc relay_settle(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                     int64_t low, int64_t high, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(relay->db, &sql_relay_begin,
                        (const char *const[]){DB_INT(queue->queue_id), kind->name}, &row, err);
    if (rc != RC_OK)
        return rc;
    int64_t from = db_int(row, 0, RELAY_BEGIN_NEXT_OFFSET);
    if (from < low || from > high) /* retention deleted it, or the topic was created again */
        from = low;
    struct found found = {.queue = queue->name};
    db_array_start(&found.uids);
    if (from < high)
        rc = relay_read(relay, kind, from, high, see, &found, err);
    db_array_end(&found.uids);
    if (rc == RC_OK)
        rc = settle(relay, queue, kind, &found, high, err);
    str_done(&found.uids);
    return rc;
}

#include "producer/tail.h"

#include "base/clock.h"
#include "kafka/consumer.h"
#include "task/message.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TAIL_WAIT_MS  30000
#define SLICE_MS      100
#define END_MAX_BYTES 400 /* of an end message; so that not every task must be parsed */

static bool is_end(const struct kafka_record *record)
{
    MESSAGE_AUTO *msg = NULL;
    struct err ignored;
    return record->value_len <= END_MAX_BYTES &&
           message_parse(record->value, record->value_len, MESSAGE_RECORD, &msg, &ignored) ==
               RC_OK &&
           msg->type == MESSAGE_END;
}

static void see(struct tail *tail, const char *run, const struct kafka_record *record)
{
    char of[37];
    int64_t seq;
    if (record->value == NULL ||
        message_peek(record->value, record->value_len, of, &seq) != RC_OK || strcmp(of, run) != 0)
        return;
    tail->next_seq = seq + 1;
    tail->last_offset = record->offset;
    tail->ended = is_end(record);
}

static enum rc read_to_end(struct kafka_source *source, int wake_fd, const char *run,
                           struct tail *tail, struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)TAIL_WAIT_MS * 1000;
    while (clock_boot_us() < until_us) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(source, &record, err);
        if (rc == RC_OK) {
            see(tail, run, &record);
            kafka_record_free(&record);
        } else if (rc != RC_NONE) {
            return rc;
        } else if (kafka_source_end(source) >= 0) {
            return RC_OK;
        } else {
            struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
            uint64_t count;
            if (poll(&wake, 1, SLICE_MS) > 0 && read(wake_fd, &count, sizeof count) < 0)
                continue; /* taken by a spurious wake-up */
        }
    }
    return err_set(err, RC_RETRY, ERR_TIMEOUT, run, NULL, "the topic's end is not reached");
}

enum rc tail_read(const struct kafka_properties *kafka, const char *topic, int partition,
                  int64_t from_offset, const char *run, struct tail *ret_tail, struct err *err)
{
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct kafka_consumer *consumer = NULL;
    struct kafka_source *source = NULL;
    struct tail tail = {.next_seq = ret_tail->next_seq, .last_offset = -1};
    enum rc rc = kafka_consumer_open(kafka, wake_fd, &consumer, err);
    if (rc == RC_OK)
        rc = kafka_source_open(consumer, topic, partition, &source, err);
    if (rc == RC_OK)
        rc = kafka_source_assign(source, from_offset, err);
    if (rc == RC_OK)
        rc = read_to_end(source, wake_fd, run, &tail, err);
    if (source != NULL)
        kafka_source_close(source);
    if (consumer != NULL)
        kafka_consumer_close(consumer);
    (void)close(wake_fd);
    if (rc == RC_OK)
        *ret_tail = tail;
    return rc;
}

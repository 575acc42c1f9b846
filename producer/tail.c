/* Reads the end of the partition for the records of one run. Only a reading that has reached the
 * high watermark of its beginning is an answer: an open transaction hides records behind it, and
 * taking the last visible record for the end would publish tasks twice. */
#include "producer/tail.h"

#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/source.h"
#include "producer/blocked.h"
#include "task/message.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* TAIL_WAIT_MS is from record to record, for a caller that may cancel; for another one, which is
 * the relay's thread, it is for the whole reading. */
#define TAIL_WAIT_MS   30000
#define SLICE_MS       100
#define CHECK_EVERY_US 1000000 /* for an open transaction that may hide the end */
#define END_MAX_BYTES  400     /* of an end message; so that not every task must be parsed */

struct reading {
    const struct target *target;
    const struct progress *progress;
    const char *run;
    struct kafka_source *source;
    int wake_fd;
    int64_t end;      /* the high watermark */
    int64_t until_us; /* then it has taken too long */
    int64_t check_us;
    bool blocked;
    struct tail tail;
};

static void see_end(struct tail *tail, const struct kafka_record *record)
{
    MESSAGE_AUTO *msg = NULL;
    struct err ignored;
    if (record->value_len > END_MAX_BYTES ||
        message_parse(record->value, record->value_len, MESSAGE_RECORD, &msg, &ignored) != RC_OK ||
        msg->type != MESSAGE_END)
        return;
    tail->ended = true;
    tail->aborted = msg->aborted;
    tail->tasks = msg->end_tasks;
    tail->phases = msg->end_phases;
}

/* A seq below next_seq is a duplicate of a foreign writer and changes nothing; a gap is noted,
 * because the run cannot be resumed behind lost records. */
static void see(struct tail *tail, const char *run, const struct kafka_record *record)
{
    char of[37];
    int64_t seq;
    if (record->value == NULL || tail->ended ||
        message_peek(record->value, record->value_len, of, &seq) != RC_OK || strcmp(of, run) != 0 ||
        seq < tail->next_seq)
        return;
    if (seq > tail->next_seq && tail->missing < 0)
        tail->missing = tail->next_seq;
    tail->next_seq = seq + 1;
    tail->last_offset = record->offset;
    chain_add(&tail->chain, record->value, record->value_len);
    see_end(tail, record);
}

/** Nothing came for a while, and the end is not reached. Reports an open transaction of another
 * producer that hides it, and gives that lock_wait_ms to end; afterwards the reading has its whole
 * time again. */
static enum rc check_blocked(struct reading *r, struct err *err)
{
    int64_t now_us = clock_boot_us();
    struct kafka_open_transaction open;
    enum rc rc = progress_cancelled(r->progress, err);
    if (rc != RC_OK || now_us < r->check_us)
        return rc;
    rc = blocked_check(r->target, &open, err);
    r->check_us = clock_boot_us() + CHECK_EVERY_US;
    if (rc == RC_NONE && r->blocked) {
        r->blocked = false;
        r->until_us = r->check_us + (int64_t)TAIL_WAIT_MS * 1000;
    }
    if (rc != RC_OK)
        return rc == RC_NONE ? RC_OK : rc;
    if (!r->blocked) {
        r->blocked = true;
        r->until_us = now_us + (int64_t)r->progress->options->lock_wait_ms * 1000;
        blocked_report(r->target, r->progress, &open);
    }
    return now_us >= r->until_us ? blocked_err(r->target, &open, err) : RC_OK;
}

static enum rc read_to_end(struct reading *r, struct err *err)
{
    while (clock_boot_us() < r->until_us || r->blocked) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(r->source, &record, err);
        if (rc == RC_OK) {
            see(&r->tail, r->run, &record);
            kafka_record_free(&record);
            if (!r->blocked && r->progress->options->cancelled != NULL)
                r->until_us = clock_boot_us() + (int64_t)TAIL_WAIT_MS * 1000;
            rc = progress_cancelled(r->progress, err);
            if (rc != RC_OK)
                return rc;
        } else if (rc != RC_NONE) {
            return rc;
        } else if (kafka_source_end(r->source) >= r->end) {
            return RC_OK;
        } else {
            struct pollfd wake = {.fd = r->wake_fd, .events = POLLIN};
            uint64_t count;
            if (poll(&wake, 1, SLICE_MS) > 0 && read(r->wake_fd, &count, sizeof count) < 0)
                continue; /* taken by a spurious wake-up */
            rc = check_blocked(r, err);
            if (rc != RC_OK)
                return rc;
        }
    }
    char hint[160];
    (void)snprintf(hint, sizeof hint,
                   "Publish again when the broker answers faster, or give the run up: lockstep run "
                   "end %s",
                   r->run);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, r->run, hint, "the topic's end is not reached");
}

enum rc tail_read(const struct target *target, const struct progress *progress, int64_t from_offset,
                  const char *run, struct tail *ret_tail, struct err *err)
{
    int64_t now_us = clock_boot_us();
    struct reading r = {.target = target,
                        .progress = progress,
                        .run = run,
                        .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                        .until_us = now_us + (int64_t)TAIL_WAIT_MS * 1000,
                        .check_us = now_us + CHECK_EVERY_US,
                        .tail = *ret_tail};
    /* next_seq and chain are the caller's; all else is found by this reading. */
    r.tail.last_offset = r.tail.missing = r.tail.tasks = r.tail.phases = -1;
    struct kafka_consumer *consumer = NULL;
    int64_t low;
    enum rc rc = target_ends(target, &low, &r.end, err);
    if (rc == RC_OK)
        rc = kafka_consumer_open(target->kafka, r.wake_fd, &consumer, err);
    if (rc == RC_OK)
        rc = kafka_source_open(consumer, target->topic, target->partition, &r.source, err);
    if (rc == RC_OK)
        rc = kafka_source_assign(r.source, from_offset, err);
    if (rc == RC_OK)
        rc = read_to_end(&r, err);
    if (r.source != NULL)
        kafka_source_close(r.source);
    if (consumer != NULL)
        kafka_consumer_close(consumer);
    /* After the consumer, whose thread writes to it. */
    (void)close(r.wake_fd);
    if (rc == RC_OK)
        *ret_tail = r.tail;
    return rc;
}

void tail_ends(struct tail *tail)
{
    tail->next_seq++;
}

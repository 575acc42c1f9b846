/**
 * What: shared by the tests of publishing: all that the topic of the test holds, read back and
 *   compared.
 * Invariants: it is read to its end after the markers of all transactions have arrived.
 * Threads: the test's own.
 * Ownership: free_readback frees what read_topic returned.
 * Failure: the test fails with the error's text.
 */
#ifndef TESTS_E2E_PUBLISH_TOPIC_H
#define TESTS_E2E_PUBLISH_TOPIC_H

#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/source.h"
#include "kafka/stable.h"
#include "task/message.h"
#include "tests/e2e/publish.h"

#include <inttypes.h>
#include <poll.h>
#include <sys/eventfd.h>

struct readback {
    struct message **at;
    int64_t *offsets;
    int count, room;
};

static inline void read_record(struct readback *all, const struct kafka_record *record)
{
    struct err why;
    if (all->count == all->room) {
        all->room = all->room > 0 ? 2 * all->room : 64;
        all->at = xrealloc(all->at, (size_t)all->room, sizeof *all->at);
        all->offsets = xrealloc(all->offsets, (size_t)all->room, sizeof *all->offsets);
    }
    all->offsets[all->count] = record->offset;
    assert_ok(
        message_parse(record->value, record->value_len, MESSAGE_RECORD, &all->at[all->count], &why),
        &why);
    all->count++;
}

/** A commit is answered before its marker is on the partition, and until it is there nothing behind
 * the first record can be read. */
static inline void await_markers(void)
{
    struct kafka_open_transaction open;
    int64_t until_us = 0;
    enum rc rc = RC_OK;
    while (rc == RC_OK && support_again(&until_us))
        rc = kafka_open_transaction(&props, topic, 0, WAIT_MS, &open, &err);
    assert_rc(rc, RC_NONE, &err);
}

/** Everything that is committed, from the start to the end of the topic. */
static inline struct readback read_topic(void)
{
    await_markers();
    struct readback all = {0};
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_ok(kafka_consumer_open(&props, wake_fd, &consumer, &err), &err);
    assert_ok(kafka_source_open(consumer, topic, 0, &source, &err), &err);
    assert_ok(kafka_source_assign(source, 0, &err), &err);
    int64_t until_us = clock_boot_us() + WAIT_MS * 1000;
    while (clock_boot_us() < until_us) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(source, &record, &err);
        if (rc == RC_OK) {
            read_record(&all, &record);
            kafka_record_free(&record);
            until_us = clock_boot_us() + WAIT_MS * 1000; /* a slow machine reads a long topic */
            continue;
        }
        assert_rc(rc, RC_NONE, &err);
        if (kafka_source_end(source) >= 0)
            break;
        struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
        uint64_t count;
        if (poll(&wake, 1, 100) > 0)
            (void)!read(wake_fd, &count, sizeof count);
    }
    assert_true(kafka_source_end(source) >= 0);
    kafka_source_close(source);
    kafka_consumer_close(consumer);
    (void)close(wake_fd);
    return all;
}

static inline void free_readback(struct readback *all)
{
    for (int i = 0; i < all->count; i++)
        message_free(all->at[i]);
    free(all->at);
    free(all->offsets);
}

static inline void expect_empty_topic(void)
{
    struct readback all = read_topic();
    assert_int_equal(all.count, 0);
    free_readback(&all);
}

/** No run in the database, and no record. */
static inline void expect_nothing_published(void)
{
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING "
                                 "(queue_id) WHERE q.name = '%s'",
                                 queue),
                     0);
    expect_empty_topic();
}

/** "order<previous_order seq sql" of each record, the end as "end TASKS PHASES". */
static inline void expect_topic(const char *expected)
{
    struct readback all = read_topic();
    STR_AUTO text = {0};
    for (int i = 0; i < all.count; i++) {
        const struct message *msg = all.at[i];
        assert_string_equal(msg->run, result.run);
        if (msg->type == MESSAGE_END)
            str_format(&text, "%" PRId64 ":end %" PRId64 " %" PRId64 "%s\n", msg->seq,
                       msg->end_tasks, msg->end_phases, msg->aborted ? " aborted" : "");
        else
            str_format(&text, "%" PRId64 ":%" PRId64 "<%" PRId64 " %s\n", msg->seq,
                       msg->previous_order, msg->order, msg->statements[0].sql);
    }
    assert_string_equal(text.data != NULL ? text.data : "", expected);
    free_readback(&all);
}

static inline void expect_cancelled_row(void)
{
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.run WHERE run_id = '%s' AND "
                                 "status = 'Cancelled' AND ended_at IS NOT NULL AND error <> ''",
                                 result.run),
                     1);
}

#endif

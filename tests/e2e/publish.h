/**
 * What: what the tests of publishing share: a queue with a topic of its own for each test, publish_run on its options, all that
 *   the topic holds read back, and callbacks that note what they are told and may act once.
 * Invariants: a test's queue, topic and file are its own; the database is the executable's.
 * Threads: the test's own.
 * Ownership: begin and end make and remove the file and the session.
 * Failure: the test fails with the error's text.
 *
 * A test that includes this is linked with producer and task only if it includes one of their headers itself.
 */
#ifndef TESTS_E2E_PUBLISH_H
#define TESTS_E2E_PUBLISH_H

#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/producer.h"
#include "kafka/source.h"
#include "kafka/stable.h"
#include "producer/publish.h"
#include "task/message.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAIT_MS 30000

static const char *conninfo, *queue, *topic;
static struct kafka_properties props;
static struct db *db;
static struct err err;
static struct publish_options options;
static struct publish_result result;
static char path[64];

static inline void make_queue(const char *topic_name, int partition)
{
    queue = support_name("q");
    topic = topic_name;
    support_exec(db, "INSERT INTO lockstep.queue (name, topic, partition) VALUES ('%s', '%s', %d)",
                 queue, topic, partition);
    options = (struct publish_options){.conninfo = conninfo,
                                       .kafka = &props,
                                       .queue = queue,
                                       .path = path,
                                       .wait_timeout_ms = WAIT_MS};
}

static inline int begin_all(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    conninfo = support_database();
    support_properties(&props);
    return 0;
}

static inline int end_all(void **state)
{
    (void)state;
    kafka_properties_done(&props);
    return 0;
}

static inline int begin(void **state)
{
    (void)state;
    db = support_db();
    (void)snprintf(path, sizeof path, "/tmp/publish_test.XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        return -1;
    make_queue(support_topic(), 0);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    (void)unlink(path);
    db_close(db);
    support_no_advisory_locks();
    return 0;
}

static inline void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline enum rc publish(void)
{
    return publish_run(&options, &result, &err);
}

/* ---- what the topic holds ---- */

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

/** A commit is answered before its marker is on the partition, and until it is there nothing behind the first record can be read. */
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

/* ---- what callbacks saw ---- */

struct seen {
    struct str text;
    int faults, calls;
    enum publish_stage act_at; /* the progress callback does act once at this stage of a run */
    void (*act)(struct seen *seen, const struct publish_progress *progress);
    struct kafka_producer *rival;
};

static inline void on_fault(void *context, const struct publish_fault *fault)
{
    struct seen *seen = context;
    seen->faults++;
    str_format(&seen->text, "%" PRId64 " %s\n", fault->line, fault->path);
}

static inline void on_phase(void *context, const struct publish_phase *phase)
{
    struct seen *seen = context;
    str_format(&seen->text, "%" PRId64 "<%" PRId64 " %" PRId64 "\n", phase->previous_order,
               phase->order, phase->tasks);
}

static inline void on_progress(void *context, const struct publish_progress *progress)
{
    struct seen *seen = context;
    if (progress->stage != seen->act_at || seen->act == NULL)
        return;
    if (seen->act_at != PUBLISH_LOCKING && progress->run[0] == '\0')
        return;
    seen->act(seen, progress);
}

static inline bool always(void *context)
{
    (void)context;
    return true;
}

static const char five_phases[] = "{\"order\":100,\"sql\":\"SELECT 1\"}\n"
                                  "{\"order\":100,\"sql\":\"SELECT 2\"}\n"
                                  "{\"order\":200,\"sql\":\"SELECT 3\"}\n"
                                  "{\"order\":9223372036854775807,\"sql\":\"SELECT 4\"}\n";
static const char five_phases_tagged[] = "0:0<100 SELECT 1\n"
                                         "1:0<100 SELECT 2\n"
                                         "2:100<200 SELECT 3\n"
                                         "3:200<9223372036854775807 SELECT 4\n"
                                         "4:end 4 3\n";

#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif

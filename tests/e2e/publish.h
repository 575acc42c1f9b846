/**
 * What: shared by the tests of publishing: a queue with a topic of its own for each test, and
 *   publish_run on its options. What the topic holds: publish_topic.h; callbacks: publish_seen.h.
 * Invariants: a test's queue, topic and file are its own; the database is the executable's.
 * Threads: the test's own.
 * Ownership: begin and end make and remove the file and the session.
 * Failure: the test fails with the error's text.
 *
 * A test that includes this is linked with producer and task only if it includes one of their
 * headers itself.
 */
#ifndef TESTS_E2E_PUBLISH_H
#define TESTS_E2E_PUBLISH_H

#include "kafka/kafka.h"
#include "producer/publish.h"
#include "tests/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A topic is deleted and made again, twice, and the remedy of queue show is run unchanged: the new
 * topic is read from its beginning, though rows of the same offsets are there: rejected messages,
 * duplicates of a run with an id, implicit runs. Before that: the birthmark of a topic that no
 * executor has read yet, whatever its bytes are.
 * ctest: nosan timeout=120 long */
#include "tests/support/support.h"

#include "kafka/kafka.h"
#include "kafka/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 30000

static struct db *db;
static const char *database, *queue;
static char log_file[64];
static pid_t executor;

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *fmt, ...)
{
    char command[8192];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    (void)setenv("LOCKSTEP_CONFIG", "/dev/null", 1);
    (void)setenv("TEST_DB", database, 1);
    (void)setenv("TEST_QUEUE", queue, 1);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t executor_start(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("sh", "sh", "-c",
                     "exec \"$LOCKSTEP_BIN\" executor run --queue \"$TEST_QUEUE\" --readers 2 -d "
                     "\"$TEST_DB\" -b \"$LOCKSTEP_TEST_BROKERS\" 2>>\"$TEST_LOG\"",
                     (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

/* The same offsets each time: a run with an id, no JSON, two implicit runs, a repetition. */
static void write_records(int reading)
{
    assert_int_equal(
        shell(
            "run=00000000-0000-4000-8000-00000000000%d; { "
            "echo '{\"run\":\"'$run'\",\"seq\":0,\"order\":1,\"previous_order\":0,\"sql\":\"INSERT "
            "INTO effect VALUES (%d)\"}'; echo '{\"order\":1,\"bad'; "
            "echo '{\"run\":\"'$run'\",\"seq\":0,\"order\":1,\"previous_order\":0,\"sql\":\"SELECT "
            "1\"}'; echo "
            "'{\"run\":\"'$run'\",\"seq\":1,\"type\":\"end\",\"tasks\":1,\"phases\":1}'; "
            "for n in 1 2; do echo '{\"order\":1,\"previous_order\":0,\"sql\":\"INSERT INTO effect "
            "VALUES (%d)\"}'; echo '{\"order\":2,\"previous_order\":1,\"sql\":\"INSERT INTO effect "
            "VALUES (%d)\"}'; done; } | kcat -P -b \"$LOCKSTEP_TEST_BROKERS\" -t \"$TEST_QUEUE\" "
            "-p 0",
            reading, reading, reading, reading),
        0);
    support_await(db, WAIT_MS, "SELECT count(*) = 5 FROM effect WHERE reading = %d", reading);
    support_await(db, WAIT_MS, "SELECT next_offset >= 8 FROM lockstep.queue");
    assert_int_equal(
        support_int(db, "SELECT count(*) FROM lockstep.rejected_message WHERE kafka_offset = 1"),
        reading);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.rejected_message WHERE "
                                     "kafka_offset = 2 AND reason = 'duplicate'"),
                     reading);
}

static void topic_anew(void)
{
    struct kafka_properties props;
    struct kafka_admin *admin = NULL;
    struct err err;
    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    assert_ok(kafka_topic_delete(admin, queue, WAIT_MS, &err), &err);
    enum rc rc = RC_RETRY;
    for (int64_t until_us = 0;
         rc != RC_OK && support_again(&until_us);) /* deleted in the background */
        rc = kafka_topic_create(admin, queue, 1, 1, WAIT_MS, &err);
    assert_ok(rc, &err);
    kafka_admin_close(admin);
    kafka_properties_done(&props);
}

static void make_queue(const char *prefix)
{
    queue = support_name(prefix);
    assert_int_equal(shell("\"$LOCKSTEP_BIN\" queue create \"$TEST_QUEUE\" --create-topic -q -d "
                           "\"$TEST_DB\" -b \"$LOCKSTEP_TEST_BROKERS\""),
                     0);
}

/* An executor finds the queue's topic replaced, with this in the detail. */
static void expect_replaced(const char *detail)
{
    assert_int_equal(shell("\"$LOCKSTEP_BIN\" executor run --queue \"$TEST_QUEUE\" --until-idle -d "
                           "\"$TEST_DB\" -b \"$LOCKSTEP_TEST_BROKERS\" 2>/dev/null"),
                     1);
    support_await(db, WAIT_MS,
                  "SELECT halted_reason = 'topic_replaced' FROM lockstep.queue WHERE name = '%s'",
                  queue);
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.queue WHERE name = '%s' AND "
                                 "strpos(halted_detail, '%s') > 0",
                                 queue, detail),
                     1);
    assert_int_equal(shell("\"$LOCKSTEP_BIN\" queue delete \"$TEST_QUEUE\" --yes -q -d "
                           "\"$TEST_DB\" -b \"$LOCKSTEP_TEST_BROKERS\" >/dev/null"),
                     0);
}

static void a_topic_made_anew_before_the_first_executor_is_found(void **state)
{
    (void)state;
    make_queue("early");
    topic_anew();
    assert_int_equal(shell("echo '{\"order\":1,\"previous_order\":0,\"sql\":\"INSERT INTO effect "
                           "VALUES (0)\"}' | kcat -P -b \"$LOCKSTEP_TEST_BROKERS\" -t "
                           "\"$TEST_QUEUE\" -p 0"),
                     0);
    expect_replaced("it was deleted and created again");
    assert_int_equal(support_int(db, "SELECT count(*) FROM effect"), 0);
}

/* Another client may commit to the group of the birthmarks: its bytes need be no text. */
static void a_birthmark_of_any_bytes_is_told_as_text(void **state)
{
    (void)state;
    struct kafka_properties props = {0};
    struct kafka_watch *watch = NULL;
    struct err err;
    make_queue("bytes");
    support_properties(&props);
    assert_ok(kafka_watch_open(&props, KAFKA_MARK_GROUP, &watch, &err), &err);
    assert_ok(kafka_watch_sign(watch, queue, 0, 0, "\xff\xfe and \xd0", WAIT_MS, &err), &err);
    kafka_watch_close(watch);
    kafka_properties_done(&props);
    expect_replaced("another one is there: ");
}

static void the_remedy_works_as_it_is_printed_again_and_again(void **state)
{
    (void)state;
    make_queue("accept");
    executor = executor_start();
    write_records(1);
    for (int reading = 2; reading <= 3; reading++) {
        support_await(db, WAIT_MS, "SELECT marked_at IS NOT NULL FROM lockstep.queue");
        topic_anew();
        support_await(db, WAIT_MS, "SELECT halted_reason IS NOT NULL FROM lockstep.queue");
        assert_int_equal(
            shell("command=$(\"$LOCKSTEP_BIN\" queue show \"$TEST_QUEUE\" -o json -d \"$TEST_DB\" "
                  "-b \"$LOCKSTEP_TEST_BROKERS\" | grep -o 'lockstep queue resume [^\"]*') && "
                  "echo \"$command\" && \"$LOCKSTEP_BIN\" ${command#lockstep } -d \"$TEST_DB\" -b "
                  "\"$LOCKSTEP_TEST_BROKERS\""),
            0);
        write_records(reading);
    }
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.run WHERE implicit"), 6);
    assert_int_equal(shell("grep -E 'incarnation_lost|claim_refused' %s", log_file), 1);
}

/* $1 of the program, with the rest of a command that is printed. */
#define TAKE                                                                                       \
    "take() { set -- $(cat); shift; \"$LOCKSTEP_BIN\" \"$@\" -d \"$TEST_DB\" -b "                  \
    "\"$LOCKSTEP_TEST_BROKERS\"; }; lockstep() { \"$LOCKSTEP_BIN\" \"$@\" -d \"$TEST_DB\" -b "     \
    "\"$LOCKSTEP_TEST_BROKERS\"; }; "

/* Kafka is asked, and may not be ready to answer at once. */
#define GONE                                                                                       \
    TAKE "for i in $(seq 60); do lockstep run explain $run >$TEST_LOG.said; grep -q '^nothing of " \
         "run .* went with the topic' $TEST_LOG.said && break; sleep 0.5; done; "                  \
         "cat $TEST_LOG.said; grep -q '^nothing of run .* went with the topic' $TEST_LOG.said && " \
         "! grep -q 'claimed yet' $TEST_LOG.said"

static void a_run_whose_records_went_with_the_topic_is_closed_as_it_is_printed(void **state)
{
    (void)state;
    make_queue("gone");
    (void)setenv("run", "00000000-0000-4000-8000-0000000000aa", 1);
    assert_int_equal(shell(TAKE
                           "echo '{\"order\":1,\"sql\":\"SELECT 1\"}' | lockstep publish -q --run "
                           "$run --queue \"$TEST_QUEUE\" -"),
                     0);
    topic_anew();
    assert_int_equal(shell(GONE), 0);
    assert_int_equal(shell("\"$LOCKSTEP_BIN\" executor run --queue \"$TEST_QUEUE\" --until-idle -d "
                           "\"$TEST_DB\" -b \"$LOCKSTEP_TEST_BROKERS\" 2>/dev/null"),
                     1); /* halted */
    assert_int_equal(shell(TAKE "lockstep queue show \"$TEST_QUEUE\" -o json | grep -o 'lockstep "
                                "queue resume [^\"]*' | take"),
                     0);
    assert_int_equal(
        shell(GONE " && grep -o 'lockstep run cancel [0-9a-f-]*' $TEST_LOG.said | take"), 0);
    support_await(db, WAIT_MS,
                  "SELECT status = 'Cancelled' AND ended_at IS NOT NULL FROM lockstep.run WHERE "
                  "run_id::text = '%s'",
                  getenv("run"));
    assert_int_equal(
        shell(TAKE
              "echo '{\"order\":1,\"sql\":\"SELECT 1\"}' | lockstep publish -q --queue "
              "\"$TEST_QUEUE\" - && lockstep executor run --queue \"$TEST_QUEUE\" --until-idle "
              "2>>$TEST_LOG; status=$?; rm -f $TEST_LOG.said; lockstep queue delete "
              "\"$TEST_QUEUE\" --yes -q >/dev/null; exit $status"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_made_anew_before_the_first_executor_is_found),
        cmocka_unit_test(a_birthmark_of_any_bytes_is_told_as_text),
        cmocka_unit_test(a_run_whose_records_went_with_the_topic_is_closed_as_it_is_printed),
        cmocka_unit_test(the_remedy_works_as_it_is_printed_again_and_again),
    };
    database = support_database();
    db = support_db();
    (void)snprintf(log_file, sizeof log_file, "/tmp/lockstep_%d.log", (int)getpid());
    (void)setenv("TEST_LOG", log_file, 1);
    support_exec(db, "CREATE TABLE effect (reading int)");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (executor > 0) {
        (void)kill(executor, SIGTERM);
        (void)waitpid(executor, NULL, 0);
    }
    if (failed != 0)
        (void)shell("tail -n 40 %s", log_file);
    (void)unlink(log_file);
    db_close(db);
    return failed;
}

/* The topic is not what it was: the queue halts loudly, nothing is run from it, and an operator
 * decides. The built binary does the work, on a real Kafka.
 * ctest: timeout=120 */
#include "tests/support/support.h"

#include "kafka/kafka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char queue[64];
static struct db *db;
static const char *database; /* each call of support_database makes a new one */

/* Runs the binary with before, the queue and after as arguments; its exit code. */
static int lockstep(const char *before, const char *after)
{
    char command[2048];
    (void)snprintf(
        command, sizeof command,
        "LOCKSTEP_CONFIG=/dev/null \"$LOCKSTEP_BIN\" %s %s %s -d '%s' -b %s -q 2>>/dev/null",
        before, queue, after, database, support_brokers());
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Publishes n tasks as a run of its own. */
static int publish(const char *n)
{
    char command[2048];
    (void)snprintf(command, sizeof command,
                   "for i in $(seq %s); do echo '{\"order\": 1, \"sql\": \"INSERT INTO effect "
                   "VALUES (1)\"}'; done |"
                   " LOCKSTEP_CONFIG=/dev/null \"$LOCKSTEP_BIN\" publish --queue %s - -d '%s' -b "
                   "%s -q >/dev/null",
                   n, queue, database, support_brokers());
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_all(void)
{
    return lockstep("executor run --queue", "--readers 2 --until-idle");
}

static void new_queue(void)
{
    (void)snprintf(queue, sizeof queue, "%s", support_name("identity"));
    assert_int_equal(lockstep("queue create", "--create-topic"), 0);
}

static void make_topic_anew(int partitions)
{
    struct kafka_properties props = {0};
    struct kafka_admin *admin;
    struct err err = {0};
    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    kafka_properties_done(&props);
    assert_ok(kafka_topic_delete(admin, queue, 10000, &err), &err);
    enum rc rc = RC_RETRY;
    for (int64_t until_us = 0;
         rc != RC_OK && support_again(&until_us);) /* the broker deletes in the background */
        rc = kafka_topic_create(admin, queue, partitions, 1, 10000, &err);
    kafka_admin_close(admin);
    assert_ok(rc, &err);
}

static void a_topic_made_anew_and_longer_than_the_cursor_halts_the_queue(void **state)
{
    (void)state;
    new_queue();
    assert_int_equal(publish("3"), 0);
    assert_int_equal(run_all(), 0);
    make_topic_anew(1);
    assert_int_equal(publish("20"), 0);
    assert_int_equal(run_all(), 1);
    assert_string_equal(
        support_text(db, "SELECT halted_reason FROM lockstep.queue ORDER BY queue_id DESC LIMIT 1"),
        "fingerprint");
    assert_int_equal(support_int(db, "SELECT count(*) FROM effect"), 3);
    assert_int_equal(lockstep("queue resume", "--accept-topic --from-offset 0 --reason test"), 0);
    assert_int_equal(run_all(), 0);
    assert_int_equal(support_int(db, "SELECT count(*) FROM effect"), 23);
    assert_int_equal(lockstep("queue resume", "--accept-topic"), 1); /* not halted any more */
}

static void a_topic_made_anew_and_shorter_than_the_cursor_halts_the_queue(void **state)
{
    (void)state;
    new_queue();
    assert_int_equal(publish("3"), 0);
    assert_int_equal(run_all(), 0);
    make_topic_anew(1);
    assert_int_equal(run_all(), 1);
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.queue WHERE halted_reason IS NOT "
                                 "NULL AND halted_detail <> ''"),
                     1);
}

static void a_second_partition_halts_the_queue(void **state)
{
    (void)state;
    new_queue();
    assert_int_equal(publish("3"), 0);
    assert_int_equal(run_all(), 0);
    make_topic_anew(2);
    assert_int_equal(run_all(), 1);
    assert_string_equal(
        support_text(db, "SELECT halted_reason FROM lockstep.queue ORDER BY queue_id DESC LIMIT 1"),
        "partitions");
}

static void another_cluster_halts_the_queue(void **state)
{
    (void)state;
    new_queue();
    support_exec(db, "UPDATE lockstep.queue SET cluster_id = 'another' WHERE name = '%s'", queue);
    assert_int_equal(run_all(), 1);
    assert_string_equal(
        support_text(db, "SELECT halted_reason FROM lockstep.queue ORDER BY queue_id DESC LIMIT 1"),
        "other_cluster");
}

static int setup(void **state)
{
    (void)state;
    if (db == NULL) {
        database = support_database();
        db = support_db();
    }
    support_exec(db, "CREATE TABLE IF NOT EXISTS effect (n int); TRUNCATE effect; UPDATE "
                     "lockstep.queue SET halted_reason = NULL");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_topic_made_anew_and_longer_than_the_cursor_halts_the_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_topic_made_anew_and_shorter_than_the_cursor_halts_the_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_partition_halts_the_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(another_cluster_halts_the_queue, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The topic goes: what is done to it while an executor reads it, or while none does, stops the
 * queue aloud, with the reason and the command that resolves it; an open transaction of somebody
 * else's is told and waited for. On a real Kafka.
 *
 * The live cases share one executor and are broken all at once, so that the seconds between two
 * looks pass once.
 * ctest: nosan timeout=180 */
#include "tests/e2e/topic.h"
#include "tests/support/support.h"

#include "base/clock.h"
#include "kafka/kafka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONG_AGO_MS (120 * 1000)

static struct db *db;
static const char *database;
static char log_file[64];

/* Runs `lockstep ARGS` on the test's servers; its exit code. Output goes to a file of that name,
 * NULL: nowhere. */
static int lockstep(const char *output, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int lockstep(const char *output, const char *fmt, ...)
{
    char command[4096], args[2048];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    (void)snprintf(command, sizeof command,
                   "LOCKSTEP_CONFIG=/dev/null \"$LOCKSTEP_BIN\" %s -d '%s' -b %s >%s 2>&1", args,
                   database, support_brokers(), output != NULL ? output : "/dev/null");
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t executor_start(const char *queues, const char *more)
{
    char command[4096];
    (void)snprintf(
        command, sizeof command,
        "LOCKSTEP_CONFIG=/dev/null exec \"$LOCKSTEP_BIN\" executor run %s --readers 2 %s "
        "-d '%s' -b %s 2>>%s",
        queues, more, database, support_brokers(), log_file);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static int executor_end(pid_t pid, int signal)
{
    int status = -1;
    if (signal != 0)
        (void)kill(pid, signal);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int until_idle(const char *queue)
{
    char option[128];
    (void)snprintf(option, sizeof option, "--queue %s", queue);
    return executor_end(executor_start(option, "--until-idle"), 0);
}

static void publish(const char *queue, int tasks)
{
    char command[2048];
    (void)snprintf(
        command, sizeof command,
        "for i in $(seq %d); do echo \"{\\\"order\\\": 1, \\\"sql\\\": \\\"INSERT INTO "
        "effect VALUES ('%s')\\\"}\"; done |"
        " LOCKSTEP_CONFIG=/dev/null \"$LOCKSTEP_BIN\" publish --queue %s - -d '%s' -b %s "
        "-q >/dev/null",
        tasks, queue, queue, database, support_brokers());
    assert_int_equal(system(command), 0);
}

static int64_t effects(const char *queue)
{
    return support_int(db, "SELECT count(*) FROM effect WHERE q = '%s'", queue);
}

static const char *new_queue(const char *prefix)
{
    const char *queue = support_name(prefix);
    assert_int_equal(lockstep(NULL, "queue create %s --create-topic -q", queue), 0);
    return queue;
}

static void await_marked(const char *queue)
{
    support_await(db, WAIT_MS, "SELECT marked_at IS NOT NULL FROM lockstep.queue WHERE name = '%s'",
                  queue);
}

static void await_halt(const char *queue, const char *reason)
{
    support_await(db, WAIT_MS,
                  "SELECT halted_reason IS NOT NULL FROM lockstep.queue WHERE name = '%s'", queue);
    assert_string_equal(
        support_text(db, "SELECT halted_reason FROM lockstep.queue WHERE name = '%s'", queue),
        reason);
}

/* What a person sees, and whether it names the command. */
static void assert_shown(const char *queue, const char *what)
{
    char output[80], command[512];
    (void)snprintf(output, sizeof output, "/tmp/lockstep_%d.shown", (int)getpid());
    assert_int_equal(lockstep(output, "queue show %s -o json -q", queue), 0);
    (void)snprintf(command, sizeof command, "jq -e '.queue | %s' %s >/dev/null", what, output);
    int status = system(command);
    if (status != 0) {
        (void)snprintf(command, sizeof command, "cat %s", output);
        (void)!system(command);
    }
    (void)unlink(output);
    assert_int_equal(status, 0);
}

/* `check` is 1, and its line about the queue has these words. */
static void assert_checked(const char *queue, const char *words)
{
    char output[80], command[512];
    (void)snprintf(output, sizeof output, "/tmp/lockstep_%d.check", (int)getpid());
    assert_int_equal(lockstep(output, "check"), 1);
    (void)snprintf(command, sizeof command,
                   "grep -A 1 'FAIL  queue %s ' %s | grep -q '%s' || { cat %s; false; }", queue,
                   output, words, output);
    int status = system(command);
    (void)unlink(output);
    assert_int_equal(status, 0);
}

/* The n-th `lockstep queue resume` that `lockstep FROM` prints for the queue. */
static const char *printed(const char *from, const char *queue, int n)
{
    static char text[512];
    char command[2048];
    (void)snprintf(command, sizeof command,
                   "LOCKSTEP_CONFIG=/dev/null \"$LOCKSTEP_BIN\" %s -d '%s' -b %s 2>&1 | grep -oP "
                   "'lockstep queue resume %s\\b(?:(?![;,.](?: |$)).)*' | sed -n %dp",
                   from, database, support_brokers(), queue, n);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    if (fgets(text, sizeof text, out) == NULL)
        fail_msg("lockstep %s prints no remedy %d for queue %s", from, n, queue);
    (void)pclose(out);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static const char *explained(const char *queue, int n)
{
    char from[200];
    (void)snprintf(from, sizeof from, "queue explain %s", queue);
    return printed(from, queue, n);
}

/* As it is printed. */
static void take(const char *remedy)
{
    if (lockstep(NULL, "%s", remedy + strlen("lockstep ")) != 0)
        fail_msg("refused: %s", remedy);
}

/* ---- live: an executor reads all of these, and then they are broken */

static void gone(const char *topic)
{
    delete_topic(topic);
}

static void anew_and_shorter(const char *topic)
{
    delete_topic(topic);
    make_topic(topic);
    write_loose(topic, 1);
}

/* Past the cursor, as quickly as it goes: librdkafka reads on from the old offset without an
 * error. */
static void anew_and_longer(const char *topic)
{
    delete_topic(topic);
    make_topic(topic);
    write_loose(topic, 40);
}

static const struct live {
    const char *name, *reason;
    void (*break_it)(const char *topic);
} lives[] = {
    {"gone", "topic_deleted", gone},
    {"shorter", "topic_replaced", anew_and_shorter},
    {"longer", "topic_replaced", anew_and_longer},
    {"partitions", "partitions", add_partition},
};
#define LIVE_COUNT ((int)(sizeof lives / sizeof lives[0]))

static const char *live_queues[LIVE_COUNT];
static pid_t live_executor;

static void start_live(void)
{
    char options[512] = "";
    for (int i = 0; i < LIVE_COUNT; i++) {
        live_queues[i] = new_queue(lives[i].name);
        (void)snprintf(options + strlen(options), sizeof options - strlen(options), " --queue %s",
                       live_queues[i]);
        publish(live_queues[i], 3);
    }
    live_executor = executor_start(options, "");
    for (int i = 0; i < LIVE_COUNT; i++)
        await_marked(live_queues[i]);
    for (int i = 0; i < LIVE_COUNT; i++)
        support_await(db, WAIT_MS, "SELECT count(*) = 3 FROM effect WHERE q = '%s'",
                      live_queues[i]);
    for (int i = 0; i < LIVE_COUNT; i++)
        lives[i].break_it(live_queues[i]);
}

static void a_topic_that_is_broken_under_a_live_executor_halts_the_queue_aloud(void **state)
{
    (void)state;
    for (int i = 0; i < LIVE_COUNT; i++)
        await_halt(live_queues[i], lives[i].reason);
    for (int i = 0; i < LIVE_COUNT; i++) {
        assert_shown(live_queues[i], ".halted_reason != null and .halted_detail != null and "
                                     ".halted_at != null and (.halted_remedy | contains(\"lockstep "
                                     "queue resume\"))");
        assert_checked(live_queues[i], "lockstep queue resume");
        assert_int_equal(
            support_int(db,
                        "SELECT count(*) FROM lockstep.event_log JOIN lockstep.queue "
                        "USING (queue_id) WHERE event = 'queue_halted' AND name = '%s'",
                        live_queues[i]),
            1);
    }
}

static void a_deleted_topic_that_is_made_again_goes_on_when_it_is_accepted(void **state)
{
    (void)state;
    const char *queue = live_queues[0];
    char remedy[512];
    (void)snprintf(remedy, sizeof remedy, "%s", explained(queue, 1));
    assert_string_equal(printed("check", queue, 2), remedy); /* REMEDY_TOPIC_GONE */
    make_topic(queue);
    take(remedy);
    publish(queue, 2);
    support_await(db, WAIT_MS, "SELECT count(*) = 5 FROM effect WHERE q = '%s'", queue);
}

static void a_topic_made_anew_is_read_from_where_a_person_says(void **state)
{
    (void)state;
    const char *queue = live_queues[1];
    char output[80];
    (void)snprintf(output, sizeof output, "/tmp/lockstep_%d.resume", (int)getpid());
    assert_int_equal(lockstep(output, "queue resume %s --accept-topic", queue), 2);
    char command[200];
    (void)snprintf(command, sizeof command, "grep -q 'goes from 0 to 1' %s", output);
    assert_int_equal(system(command), 0);
    (void)unlink(output);
    char remedy[512];
    (void)snprintf(remedy, sizeof remedy, "%s", explained(queue, 1));
    assert_string_equal(printed("check", queue, 2), remedy); /* REMEDY_TOPIC_ANEW */
    take(remedy);
    support_await(db, WAIT_MS, "SELECT count(*) = 4 FROM effect WHERE q = '%s'", queue);
    await_marked(queue);
}

static void a_halt_that_is_lifted_without_accepting_comes_back(void **state)
{
    (void)state;
    const char *queue = live_queues[3];
    assert_int_equal(lockstep(NULL, "queue resume %s --reason again", queue), 0);
    support_await(
        db, WAIT_MS,
        "SELECT count(*) = 2 FROM lockstep.event_log JOIN lockstep.queue USING (queue_id) "
        "WHERE event = 'queue_halted' AND name = '%s'",
        queue);
    await_halt(queue, "partitions");
    char remedy[512];
    (void)snprintf(remedy, sizeof remedy, "%s", explained(queue, 1));
    assert_string_equal(printed("check", queue, 2), remedy); /* REMEDY_TOPIC_SHAPE */
    take(remedy);
    support_await(db, WAIT_MS, "SELECT partitions = 2 FROM lockstep.queue WHERE name = '%s'",
                  queue);
    publish(queue, 2);
    support_await(db, WAIT_MS, "SELECT count(*) = 5 FROM effect WHERE q = '%s'", queue);
}

static void an_executor_of_broken_topics_ends_well(void **state)
{
    (void)state;
    int64_t from_us = clock_boot_us();
    assert_int_equal(executor_end(live_executor, SIGTERM), 0);
    live_executor = 0;
    assert_true(clock_boot_us() - from_us < 10000000);
}

/* ---- while no executor runs */

static void a_topic_made_anew_with_the_very_same_records_is_found_by_its_birthmark(void **state)
{
    (void)state;
    const char *queue = new_queue("same");
    char option[128];
    (void)snprintf(option, sizeof option, "--queue %s", queue);
    write_loose(queue, 3);
    pid_t executor = executor_start(option, "");
    await_marked(queue);
    support_await(db, WAIT_MS, "SELECT count(*) = 3 FROM effect WHERE q = '%s'", queue);
    assert_int_equal(executor_end(executor, SIGTERM), 0);
    delete_topic(queue);
    make_topic(queue);
    write_loose(queue, 8);
    assert_int_equal(until_idle(queue), 1);
    await_halt(queue, "topic_replaced");
    assert_int_equal(effects(queue), 3);
}

static void retention_that_ate_what_was_not_claimed_halts_the_queue(void **state)
{
    (void)state;
    const char *queue = new_queue("retention");
    publish(queue, 3); /* 0 to 2, the end 3, the marker 4 */
    assert_int_equal(until_idle(queue), 0);
    publish(queue, 3);
    cut_log(queue, 7);
    assert_checked(queue, "Publish the runs again");
    char remedy[512];
    (void)snprintf(remedy, sizeof remedy, "%s",
                   printed("check", queue, 1)); /* REMEDY_TOPIC_RETENTION */
    assert_int_equal(until_idle(queue), 1);
    await_halt(queue, "retention");
    assert_shown(queue, ".log_start == 7 and .next_offset == 5");
    assert_int_equal(effects(queue), 3);
    assert_string_equal(explained(queue, 1), remedy);
    take(remedy);
    assert_int_equal(until_idle(queue), 1); /* what is left of the run has no beginning */
    await_halt(queue, "unknown_run");
    take(explained(queue, 1));
    publish(queue, 2);
    assert_int_equal(until_idle(queue), 0);
    assert_int_equal(effects(queue), 5);
}

static void retention_that_took_only_what_was_claimed_is_no_trouble(void **state)
{
    (void)state;
    const char *queue = new_queue("kept");
    publish(queue, 3);
    assert_int_equal(until_idle(queue), 0);
    publish(queue, 3);
    cut_log(queue, 5);
    assert_int_equal(until_idle(queue), 0);
    assert_int_equal(effects(queue), 6);
}

/* ---- another producer's transaction */

static void an_open_transaction_is_told_with_its_age_and_waited_for(void **state)
{
    (void)state;
    const char *queue = new_queue("hanging");
    struct timespec now;
    char option[128];
    (void)clock_gettime(CLOCK_REALTIME, &now);
    publish(queue, 2);
    (void)snprintf(option, sizeof option, "--queue %s", queue);
    pid_t executor = executor_start(option, "");
    support_await(db, WAIT_MS, "SELECT count(*) = 2 FROM effect WHERE q = '%s'", queue);
    rd_kafka_t *rk = stranger(support_name("foreign"));
    assert_null(rd_kafka_init_transactions(rk, WAIT_MS));
    assert_null(rd_kafka_begin_transaction(rk));
    write_tasks(rk, queue, 1, (int64_t)now.tv_sec * 1000 - LONG_AGO_MS);
    write_loose(queue, 2); /* behind it, and committed */
    support_await(db, WAIT_MS,
                  "SELECT blocked_at IS NOT NULL FROM lockstep.queue WHERE name = '%s'", queue);
    assert_shown(queue, ".blocked_offset == 4 and .last_stable == 4 and .log_end == 7 and "
                        ".blocked_at != null and .blocked_s >= 120 and .halted_reason == null");
    assert_checked(queue, "kafka-transactions.sh");
    assert_int_equal(effects(queue), 2);
    assert_null(rd_kafka_abort_transaction(rk, WAIT_MS));
    rd_kafka_destroy(rk);
    support_await(db, WAIT_MS, "SELECT count(*) = 4 FROM effect WHERE q = '%s'", queue);
    support_await(db, WAIT_MS, "SELECT blocked_at IS NULL FROM lockstep.queue WHERE name = '%s'",
                  queue);
    assert_shown(queue, ".blocked_offset == null and .blocked_at == null");
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.event_log WHERE event = "
                                     "'blocked_by_transaction'"),
                     1);
    assert_int_equal(executor_end(executor, SIGTERM), 0);
}

static int setup(void **state)
{
    (void)state;
    database = support_database();
    db = support_db();
    support_exec(db, "CREATE TABLE effect (q text)");
    (void)snprintf(log_file, sizeof log_file, "/tmp/lockstep_%d.log", (int)getpid());
    start_live();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[200];
    if (live_executor > 0)
        (void)executor_end(live_executor, SIGKILL);
    (void)snprintf(command, sizeof command, "! grep kafka_close_abandoned %s", log_file);
    assert_int_equal(system(command), 0);
    (void)unlink(log_file);
    support_no_advisory_locks();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_that_is_broken_under_a_live_executor_halts_the_queue_aloud),
        cmocka_unit_test(a_deleted_topic_that_is_made_again_goes_on_when_it_is_accepted),
        cmocka_unit_test(a_topic_made_anew_is_read_from_where_a_person_says),
        cmocka_unit_test(a_halt_that_is_lifted_without_accepting_comes_back),
        cmocka_unit_test(an_executor_of_broken_topics_ends_well),
        cmocka_unit_test(a_topic_made_anew_with_the_very_same_records_is_found_by_its_birthmark),
        cmocka_unit_test(retention_that_ate_what_was_not_claimed_halts_the_queue),
        cmocka_unit_test(retention_that_took_only_what_was_claimed_is_no_trouble),
        cmocka_unit_test(an_open_transaction_is_told_with_its_age_and_waited_for),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

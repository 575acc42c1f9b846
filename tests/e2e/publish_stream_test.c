/* Publishing while reading: small transactions, constant memory, and the rest of a stream that
 * fails.
 * ctest: timeout=180 */
#include "producer/publish.h"
#include "task/message.h"
#include "tests/e2e/publish.h"
#include "tests/e2e/publish_seen.h"
#include "tests/e2e/publish_topic.h"
#include "tests/support/rc.h"
#include "tests/support/sanitized.h"

#include <sys/wait.h>

#define STREAMED      200000
#define STREAM_MAX_KB 50000

static void write_sorted_lines(FILE *file, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(fprintf(file, "{\"order\":%d,\"sql\":\"SELECT %d\"}\n", 1 + i / 100, i) > 0);
}

static void an_unsorted_line_ends_a_stream_as_aborted(void **state)
{
    (void)state;
    struct seen seen = {0};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_sorted_lines(file, 6000);
    assert_true(fputs("{\"order\":5,\"sql\":\"SELECT 1\"}\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    options.stream = true;
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.object, ":6001"));
    assert_non_null(strstr(err.message, "order 5 comes after 60"));
    assert_non_null(strstr(err.detail, "aborted"));
    assert_string_equal(seen.text.data, "6001 $.order\n");
    str_done(&seen.text);
    struct readback all = read_topic();
    assert_in_range(all.count, 2, 6000);
    assert_int_equal(result.tasks, all.count - 1);
    for (int i = 0; i < all.count; i++)
        assert_int_equal(all.at[i]->seq, i);
    assert_int_equal(all.at[all.count - 1]->type, MESSAGE_END);
    assert_true(all.at[all.count - 1]->aborted);
    free_readback(&all);
    assert_string_equal(
        support_text(db, "SELECT status FROM lockstep.run WHERE run_id = '%s'", result.run),
        "Publishing"); /* the executors end it */
}

static void a_bad_first_line_of_a_stream_leaves_nothing(void **state)
{
    (void)state;
    write_file("{\"order\":0,\"sql\":\"SELECT 1\"}\n");
    options.stream = true;
    assert_rc(publish(), RC_REJECT, &err);
    assert_string_equal(result.run, "");
    assert_non_null(strstr(err.object, ":1"));
    expect_empty_topic();
}

static const char good_line[] = "{\"order\":1,\"sql\":\"SELECT 1\"}\n";

/** Publishes one line of a pipe that stays open. */
static enum rc publish_from_pipe(const char *line, bool stream, bool (*cancelled)(void *))
{
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], line, strlen(line)), strlen(line));
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    options.path = "-";
    options.stream = stream;
    options.cancelled = cancelled;
    enum rc rc = publish();
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void)close(saved);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return rc;
}

static bool once_committed(void *context)
{
    (void)context;
    return support_int(db,
                       "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) "
                       "WHERE q.name = '%s' AND publish_acked_seq = 0",
                       queue) == 1;
}

static void a_stream_that_stalls_is_committed_and_when_cancelled_ended_as_aborted(void **state)
{
    (void)state;
    assert_rc(publish_from_pipe(good_line, true, once_committed), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    expect_topic("0:0<1 SELECT 1\n1:end -1 -1 aborted\n");
}

static void a_stream_cancelled_before_its_first_commit_leaves_nothing(void **state)
{
    (void)state;
    assert_rc(publish_from_pipe(good_line, true, always), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    expect_cancelled_row();
    expect_empty_topic();
}

static void a_finite_source_that_stalls_can_be_given_up(void **state)
{
    (void)state;
    assert_rc(publish_from_pipe(good_line, false, always), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    assert_string_equal(result.run, "");
    expect_empty_topic();
}

static bool once_told(void *context)
{
    return ((const struct seen *)context)->faults > 0;
}

static void what_is_wrong_with_a_finite_source_that_stalls_is_told_at_once(void **state)
{
    (void)state;
    struct seen seen = {0};
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish_from_pipe("oops\n", false, once_told), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    assert_string_equal(seen.text.data, "1 $\n");
    str_done(&seen.text);
}

/** The other process of the test below: streams its standard input; its exit code names the error.
 * */
static int stream_here(char **argv)
{
    struct err why;
    struct kafka_properties own = {0};
    struct publish_result told;
    if (kafka_properties_set(&own, "bootstrap.servers", argv[3], &why) != RC_OK)
        return 10;
    const struct publish_options stream = {.conninfo = argv[1],
                                           .kafka = &own,
                                           .queue = argv[2],
                                           .path = "-",
                                           .stream = true,
                                           .lock_wait_ms = 0};
    enum rc rc = publish_run(&stream, &told, &why);
    kafka_properties_done(&own);
    if (rc != RC_OK) {
        (void)fprintf(stderr, "%s %s: %s\n", rc_name(rc), why.object, why.message);
        return 11;
    }
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long peak_kb = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &peak_kb);
    if (status != NULL)
        (void)fclose(status);
    (void)fprintf(stderr, "peak %ld kB for %" PRId64 " tasks\n", peak_kb, told.tasks);
    if (!SANITIZED && peak_kb > STREAM_MAX_KB)
        return 12;
    return peak_kb > 0 ? 0 : 13;
}

static void a_long_stream_takes_constant_memory(void **state)
{
    (void)state;
    int ends[2];
    char self[256];
    assert_int_equal(pipe(ends), 0);
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(len > 0);
    self[len] = '\0';
    char *const argv[] = {self, (char *)(uintptr_t)conninfo, (char *)(uintptr_t)queue,
                          (char *)(uintptr_t)support_brokers(), NULL};
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(ends[0], STDIN_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execv(self, argv);
        _exit(14);
    }
    (void)close(ends[0]);
    FILE *file = fdopen(ends[1], "w");
    assert_non_null(file);
    write_sorted_lines(file, STREAMED);
    assert_int_equal(fclose(file), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);

    struct readback all = read_topic();
    assert_int_equal(all.count, STREAMED + 1);
    int gaps = 0; /* each transaction leaves one offset for its marker */
    for (int i = 0; i < all.count; i++) {
        assert_int_equal(all.at[i]->seq, i);
        gaps += i > 0 && all.offsets[i] != all.offsets[i - 1] + 1;
    }
    assert_in_range(gaps, STREAMED / 5000 - 1, STREAMED);
    assert_int_equal(all.at[STREAMED]->end_tasks, STREAMED);
    assert_int_equal(all.at[STREAMED]->end_phases, STREAMED / 100);
    free_readback(&all);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return stream_here(argv);
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(an_unsorted_line_ends_a_stream_as_aborted),
        WITH_QUEUE(a_bad_first_line_of_a_stream_leaves_nothing),
        WITH_QUEUE(a_stream_that_stalls_is_committed_and_when_cancelled_ended_as_aborted),
        WITH_QUEUE(a_stream_cancelled_before_its_first_commit_leaves_nothing),
        WITH_QUEUE(a_finite_source_that_stalls_can_be_given_up),
        WITH_QUEUE(what_is_wrong_with_a_finite_source_that_stalls_is_told_at_once),
        WITH_QUEUE(a_long_stream_takes_constant_memory),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

/* Publishing: every source makes the same run, tagged.
 * ctest: timeout=120 */
#include "producer/publish.h"
#include "task/message.h"
#include "tests/e2e/publish.h"
#include "tests/e2e/publish_topic.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void a_sorted_file_comes_out_tagged(void **state)
{
    (void)state;
    write_file(five_phases);
    options.name = "first";
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
    assert_int_equal(result.first_offset, 0);
    assert_int_equal(result.last_offset, 4);
    assert_int_equal(
        support_int(db,
                    "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) "
                    "WHERE run_id = '%s' AND q.name = '%s' AND run.name = 'first' AND "
                    "status = 'Publishing' AND published_at IS NOT NULL AND "
                    "publish_acked_seq = 4 AND publish_acked_offset = 4 AND "
                    "length(publish_digest) = 32 AND run.on_failure = 'stop'",
                    result.run, queue),
        1);
}

static void an_unsorted_file_comes_out_the_same(void **state)
{
    (void)state;
    write_file("{\"order\":200,\"sql\":\"SELECT 3\"}\n"
               "{\"order\":9223372036854775807,\"sql\":\"SELECT 4\"}\n"
               "{\"order\":100,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":100,\"sql\":\"SELECT 2\"}\n");
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_csv_file_comes_out_the_same(void **state)
{
    (void)state;
    write_file("sql,order\nSELECT 3,200\nSELECT 1,100\nSELECT 4,9223372036854775807\n"
               "SELECT 2,100\n");
    options.format = PUBLISH_CSV;
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_query_comes_out_the_same(void **state)
{
    (void)state;
    options.path = NULL;
    options.query = "SELECT * FROM (VALUES ('SELECT 3', 200), ('SELECT 1', 100), ('SELECT 4', "
                    "9223372036854775807), ('SELECT 2', 100)) AS v (sql, execution_order)";
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_sorted_stream_comes_out_the_same(void **state)
{
    (void)state;
    write_file(five_phases);
    options.stream = true;
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
}

/** The names of the columns end with the input, so the writer has ended when the source is open: to
 * open the pipe again would wait for another one. */
static void a_named_pipe_is_opened_once(void **state)
{
    (void)state;
    static const char names[] = "order,sql";
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int writer = open(path, O_WRONLY); /* waits for a reader */
        _exit(write(writer, names, sizeof names - 1) == (ssize_t)sizeof names - 1 ? 0 : 1);
    }
    assert_true(pid > 0);
    options.stream = true;
    options.format = PUBLISH_CSV;
    assert_rc(publish(), RC_REJECT, &err);
    assert_string_equal(err.message, "there is no task in the stream");
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_query_is_streamed_batch_by_batch(void **state)
{
    (void)state;
    options.path = NULL;
    options.query = "SELECT 1 + i / 1000 AS \"order\", 'SELECT ' || i AS sql "
                    "FROM generate_series(0, 2499) AS i";
    options.stream = true;
    assert_ok(publish(), &err);
    struct readback all = read_topic();
    assert_int_equal(all.count, 2501);
    for (int i = 0; i < 2500; i++) {
        char sql[32];
        (void)snprintf(sql, sizeof sql, "SELECT %d", i);
        assert_int_equal(all.at[i]->seq, i);
        assert_string_equal(all.at[i]->statements[0].sql, sql);
    }
    assert_int_equal(all.at[2500]->end_phases, 3);
    free_readback(&all);
}

static void a_member_of_lockstep_producer_may_publish(void **state)
{
    (void)state;
    const char *user = support_name("pub");
    support_exec(db, "CREATE ROLE %s LOGIN IN ROLE lockstep_producer", user);
    write_file(five_phases);
    options.conninfo = support_conninfo_as(user);
    enum rc rc = publish();
    options.conninfo = conninfo;
    options.path = NULL;
    options.query = "SELECT 1 AS \"order\", 'SELECT 1' AS sql";
    options.conninfo = support_conninfo_as(user);
    struct publish_result second;
    struct err why;
    enum rc second_rc = publish_run(&options, &second, &why);
    assert_ok(rc, &err);
    assert_ok(second_rc, &why);
    assert_string_equal(
        support_text(db, "SELECT published_by FROM lockstep.run WHERE run_id = '%s'", result.run),
        user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(a_sorted_file_comes_out_tagged),
        WITH_QUEUE(an_unsorted_file_comes_out_the_same),
        WITH_QUEUE(a_csv_file_comes_out_the_same),
        WITH_QUEUE(a_query_comes_out_the_same),
        WITH_QUEUE(a_sorted_stream_comes_out_the_same),
        WITH_QUEUE(a_named_pipe_is_opened_once),
        WITH_QUEUE(a_query_is_streamed_batch_by_batch),
        WITH_QUEUE(a_member_of_lockstep_producer_may_publish),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

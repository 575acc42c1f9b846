/* Publishing: looking before, and waiting for the run after.
 * ctest: timeout=120 */
#include "producer/publish.h"
#include "task/message.h"
#include "tests/e2e/publish.h"
#include "tests/e2e/publish_seen.h"
#include "tests/e2e/publish_topic.h"

static void a_dry_run_shows_the_phases_and_publishes_nothing(void **state)
{
    (void)state;
    struct seen seen = {0};
    write_file(five_phases);
    options.dry_run = options.wait = true;
    options.context = &seen;
    options.phase = on_phase;
    assert_ok(publish(), &err);
    assert_string_equal(seen.text.data, "0<100 2\n100<200 1\n200<9223372036854775807 1\n");
    str_done(&seen.text);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
    assert_string_equal(result.run, "");
    expect_nothing_published();
}

static void complete_run(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db,
                     "UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() "
                     "WHERE run_id = '%s'; SELECT pg_notify('lockstep_' || queue_id, 'run') FROM "
                     "lockstep.queue WHERE name = '%s'",
                     progress->run, queue);
}

static void fail_run(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db,
                     "UPDATE lockstep.run SET status = 'Failed', error = 'phase 200 failed', "
                     "ended_at = clock_timestamp() WHERE run_id = '%s'",
                     progress->run);
}

static void waiting_returns_when_the_run_is_completed(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = complete_run};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_ok(publish(), &err);
    assert_string_equal(result.status, "Completed");
}

static void waiting_tells_why_the_run_failed(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = fail_run};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.message, "phase 200 failed"));
    assert_string_equal(result.status, "Failed");
}

static void waiting_ends_with_its_time(void **state)
{
    (void)state;
    write_file(five_phases);
    options.wait = true;
    options.wait_timeout_ms = 1;
    assert_rc(publish(), RC_RETRY, &err);
    assert_int_equal(err.kind, ERR_TIMEOUT);
    assert_string_not_equal(result.run, "");
    expect_topic(five_phases_tagged);
}

#define SHORT_WAIT_MS 300

/* After the look at the time and before the waiting for news. */
static bool dawdle(void *context)
{
    struct seen *seen = context;
    if (strncmp(result.status, "Publish", 7) == 0 && seen->calls++ == 0)
        (void)poll(NULL, 0, SHORT_WAIT_MS + 50);
    return false;
}

static void waiting_ends_when_its_time_passes_between_looks(void **state)
{
    (void)state;
    struct seen seen = {0};
    write_file(five_phases);
    options.wait = true;
    options.wait_timeout_ms = SHORT_WAIT_MS;
    options.context = &seen;
    options.cancelled = dawdle;
    assert_rc(publish(), RC_RETRY, &err);
    assert_int_equal(err.kind, ERR_TIMEOUT);
}

static void end_waiters_session(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE "
                         "application_name = 'lockstep/producer' AND datname = current_database()");
    else
        fail_run(&(struct seen){0}, progress);
}

static void waiting_survives_the_loss_of_its_session(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = end_waiters_session};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_true(seen.calls >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(a_dry_run_shows_the_phases_and_publishes_nothing),
        WITH_QUEUE(waiting_returns_when_the_run_is_completed),
        WITH_QUEUE(waiting_tells_why_the_run_failed),
        WITH_QUEUE(waiting_ends_with_its_time),
        WITH_QUEUE(waiting_ends_when_its_time_passes_between_looks),
        WITH_QUEUE(waiting_survives_the_loss_of_its_session),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

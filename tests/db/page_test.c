/* The text of /metrics: the numbers of the installation, read from a database with every kind of
 * row. */
#include "base/clock.h"
#include "metrics/page.h"
#include "tests/support/support.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static void has(const struct str *text, const char *line)
{
    if (strstr(text->data, line) == NULL)
        fail_msg("no line \"%s\" in:\n%s", line, text->data);
}

static struct db *open_db(const char *where)
{
    struct err err;
    struct db *db;
    assert_ok(db_open(where, DB_CLI, &db, &err), &err);
    return db;
}

static void run(struct db *db, const char *script)
{
    struct err err;
    assert_ok(db_script(db, script, NULL, &err), &err);
}

/* Every kind of row that is counted. */
static const char world[] =
    "INSERT INTO lockstep.queue (name, topic, next_offset, max_readers) VALUES ('sales', 't', "
    "40, 7);"
    "INSERT INTO lockstep.queue (name, topic, paused) VALUES ('quiet', 'u', true);"
    "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, ended_at)"
    " SELECT gen_random_uuid(), 1, 'stop', s, e FROM (VALUES ('Running', NULL::timestamptz), "
    "('Running', NULL), ('Paused', NULL), ('Failed', now())) v (s, e);"
    "INSERT INTO lockstep.run_count VALUES (1, 'Completed', 12);"
    "INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, claimed_at) "
    "VALUES (1, 1, 10, 0, now() - interval '1 h');"
    "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, "
    "drain_at, heartbeat_at)"
    " SELECT gen_random_uuid(), 'h', 1, 'v', 5, '{sales}', d, h FROM (VALUES "
    "(NULL::timestamptz, now()), (now(), now()), (NULL, now() - interval '15 s')) v (d, h);"
    "INSERT INTO lockstep.queue (name, topic) VALUES ('part', 'v'), ('shut', 'w'), "
    "('free', 'x');"
    "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, trouble, "
    "trouble_kind)"
    " VALUES (gen_random_uuid(), 'h', 2, 'v', 5, '{part}', '1 of 5 readers', 'readers'),"
    " (gen_random_uuid(), 'h', 3, 'v', 5, '{part}', '5 of 5 readers', 'login');"
    "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, "
    "queue_trouble)"
    " VALUES (gen_random_uuid(), 'h', 4, 'v', 5, '{free,shut}', '{NULL,forbidden}');"
    "INSERT INTO lockstep.outbox (queue_id, kind, value, created_at) VALUES "
    "(1, 'x', 'a', now() - interval '5 min'), (1, 'x', 'b', now());"
    "INSERT INTO lockstep.enqueued (queue_id, run_no, run_id, messages, phases, bytes, "
    "floor_offset, enqueued_at)"
    " SELECT 1, 1, gen_random_uuid(), '{}', 1, 1, 0, now() - n * interval '10 min'"
    " FROM generate_series(1, 3) n;"
    "INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after) VALUES "
    "('nightly', 1, '{}', true, 'skip', '1 h'), ('fresh', 1, '{}', true, 'skip', '1 h');"
    "INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, outcome, source, dispatcher, "
    "status, ended_at)"
    " SELECT 1, t, 'fired', 's', 'd', s, t FROM (VALUES (timestamptz 'epoch' + interval '100 "
    "s', 'Completed'), ('epoch'::timestamptz + interval '200 s', 'Completed'),"
    " ('epoch'::timestamptz + interval '300 s', 'Failed')) v (t, s);"
    "INSERT INTO lockstep.job_alert (job, kind, seen_at, last_seen_at, opened_at) VALUES ('j', "
    "'missed', now(), now(), now());"
    "INSERT INTO lockstep.monitor_process (who, host, login, started_at, looked_at, every, "
    "ended_at)"
    " SELECT w, 'h', 'l', now(), now() - l, e, CASE WHEN w = 'm4' THEN now() END FROM (VALUES "
    "('m1', interval '10 min', interval '1 h'), ('m2', '10 min', '1 min'), ('m3', '3 h', '30 "
    "min'), "
    "('m4', '1 s', '1 h')) v (w, l, e);";

static void executors_count_for_their_queues(const struct str *text)
{
    has(text, "lockstep_executors{queue=\"sales\",state=\"running\"} 1\n");
    has(text, "lockstep_executors{queue=\"sales\",state=\"draining\"} 1\n");
    has(text, "lockstep_executors{queue=\"sales\",state=\"silent\"} 1\n");
    has(text, "lockstep_executors{queue=\"quiet\",state=\"running\"} 0\n");
    has(text, "lockstep_executors{queue=\"part\",state=\"running\"} 1\n");
    has(text, "lockstep_executors{queue=\"part\",state=\"troubled\"} 1\n");
    has(text, "lockstep_executors{queue=\"free\",state=\"running\"} 1\n");
    has(text, "lockstep_executors{queue=\"free\",state=\"troubled\"} 0\n");
    has(text, "lockstep_executors{queue=\"shut\",state=\"running\"} 0\n");
    has(text, "lockstep_executors{queue=\"shut\",state=\"troubled\"} 1\n");
}

static void the_numbers_of_the_installation_are_there(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    STR_AUTO text = {0};
    static const char *const queues[] = {"sales"};
    struct tally *tally = tally_new(queues, 1);
    run(db, world);
    assert_ok(
        page_open(
            &(struct page_options){.conninfo = where, .server = db_server(db), .tally = tally},
            &page, &err),
        &err);
    tally_high(tally_queue_at(tally, 0), 42);
    page_text(page, &text);
    has(&text, "lockstep_runs_total{queue=\"sales\",status=\"Completed\"} 12\n");
    has(&text, "lockstep_runs_total{queue=\"sales\",status=\"Failed\"} 0\n");
    has(&text, "lockstep_runs_total{queue=\"quiet\",status=\"PartiallyCompleted\"} 0\n");
    has(&text, "lockstep_runs_open{queue=\"sales\",status=\"Running\"} 2\n");
    has(&text, "lockstep_runs_open{queue=\"sales\",status=\"Paused\"} 1\n");
    assert_null(strstr(text.data, "runs_open{queue=\"sales\",status=\"Failed\"}"));
    has(&text, "lockstep_readers{queue=\"sales\",kind=\"target\"} 7\n");
    has(&text, "lockstep_readers{queue=\"sales\",kind=\"in_use\"} 0\n");
    has(&text, "lockstep_oldest_waiting_seconds{queue=\"sales\"} 36");
    has(&text, "lockstep_oldest_waiting_seconds{queue=\"quiet\"} 0\n");
    has(&text, "lockstep_queue_state{queue=\"quiet\",state=\"paused\"} 1\n");
    has(&text, "lockstep_queue_state{queue=\"sales\",state=\"running\"} 1\n");
    executors_count_for_their_queues(&text);
    has(&text, "lockstep_outbox_rows{queue=\"sales\"} 2\n");
    has(&text, "lockstep_outbox_oldest_seconds{queue=\"sales\"} 30");
    has(&text, "lockstep_outbox_oldest_seconds{queue=\"quiet\"} 0\n");
    has(&text, "lockstep_enqueued_runs{queue=\"sales\"} 3\n");
    has(&text, "lockstep_enqueued_oldest_seconds{queue=\"sales\"} 180");
    has(&text, "lockstep_enqueued_oldest_seconds{queue=\"quiet\"} 0\n");
    has(&text, "lockstep_monitors{state=\"alive\"} 1\n");
    has(&text, "lockstep_monitors{state=\"silent\"} 2\n");
    has(&text, "lockstep_monitors{state=\"ended\"} 1\n");
    has(&text, "lockstep_enqueued_runs{queue=\"quiet\"} 0\n");
    has(&text, "lockstep_lock_headroom_ratio 0.");
    has(&text, "lockstep_alerts_open{kind=\"missed\"} 1\n");
    has(&text, "lockstep_alerts_open{kind=\"stuck\"} 0\n");
    has(&text, "lockstep_queue_lag_messages{queue=\"sales\"} 2\n");
    has(&text, "lockstep_job_last_success_timestamp_seconds{job_name=\"nightly\"} 200.000\n");
    has(&text, "lockstep_job_created_timestamp_seconds{job_name=\"nightly\"} 1");
    has(&text, "lockstep_job_created_timestamp_seconds{job_name=\"fresh\"} 1");
    assert_null(strstr(text.data, "success_timestamp_seconds{job_name=\"fresh\"}"));
    has(&text, "lockstep_database_up 1\n");
    has(&text, "lockstep_build_info{version=\"");
    has(&text, "process_resident_memory_bytes ");
    page_close(page);
    tally_free(tally);
    db_close(db);
}

static void many_readers_in_a_second_ask_the_database_once(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    assert_ok(
        page_open(&(struct page_options){.conninfo = where, .server = db_server(db)}, &page, &err),
        &err);
    int64_t from_us = clock_boot_us();
    STR_AUTO first = {0};
    page_text(page, &first);
    run(db, "INSERT INTO lockstep.queue (name, topic) VALUES ('another', 't')");
    STR_AUTO second = {0};
    page_text(page, &second);
    if (clock_boot_us() - from_us < 1000000)
        assert_null(strstr(second.data, "another"));
    page_close(page);
    db_close(db);
}

static void jobs_that_cannot_be_read_are_left_out_and_the_rest_is_answered(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    STR_AUTO text = {0};
    run(db, world);
    run(db, "ALTER TABLE lockstep.job_occurrence RENAME TO elsewhere");
    assert_ok(
        page_open(&(struct page_options){.conninfo = where, .server = db_server(db)}, &page, &err),
        &err);
    page_text(page, &text);
    has(&text, "lockstep_database_up 1\n");
    has(&text, "lockstep_runs_total{queue=\"sales\",status=\"Completed\"} 12\n");
    assert_null(strstr(text.data, "lockstep_job_last_success_timestamp_seconds"));
    page_close(page);
    db_close(db);
}

/* Whether a page shows the job, once no more than `seconds` have passed. */
static bool shows_job_in_time(struct page *page, bool shown, int seconds)
{
    int64_t until_us = clock_boot_us() + seconds * 1000000LL;
    while (clock_boot_us() < until_us) {
        STR_AUTO text = {0};
        page_text(page, &text);
        has(&text, "lockstep_database_up 1\n");
        if ((strstr(text.data, "success_timestamp_seconds{job_name=\"nightly\"}") != NULL) == shown)
            return true;
        (void)poll(NULL, 0, 20);
    }
    return false;
}

static void jobs_that_can_no_longer_be_read_are_not_shown_for_ever(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    run(db, world);
    assert_ok(
        page_open(
            &(struct page_options){.conninfo = where, .server = db_server(db), .jobs_ms = 100},
            &page, &err),
        &err);
    assert_true(shows_job_in_time(page, true, 1));
    run(db, "ALTER TABLE lockstep.job_occurrence RENAME TO elsewhere");
    assert_true(shows_job_in_time(page, false, 20));
    run(db, "ALTER TABLE lockstep.elsewhere RENAME TO job_occurrence");
    assert_true(shows_job_in_time(page, true, 20));
    page_close(page);
    db_close(db);
}

static void without_a_database_the_rest_is_answered(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    STR_AUTO text = {0};
    STR_AUTO ready = {0};
    assert_ok(
        page_open(&(struct page_options){.conninfo = "host=/nowhere", .server = db_server(db)},
                  &page, &err),
        &err);
    page_text(page, &text);
    has(&text, "lockstep_database_up 0\n");
    has(&text, "process_open_fds ");
    assert_null(strstr(text.data, "lockstep_runs_open"));
    assert_false(page_ready(page, &ready));
    has(&ready, "database: ");
    page_close(page);
    db_close(db);
}

static void ready_means_a_session_and_every_queue(void **state)
{
    (void)state;
    struct err err;
    const char *where = support_database();
    struct db *db = open_db(where);
    struct page *page;
    STR_AUTO before = {0};
    STR_AUTO after = {0};
    static const char *const queues[] = {"sales"};
    struct tally *tally = tally_new(queues, 1);
    assert_ok(
        page_open(
            &(struct page_options){.conninfo = where, .server = db_server(db), .tally = tally},
            &page, &err),
        &err);
    assert_false(page_ready(page, &before));
    assert_string_equal(before.data, "queue sales: the executor is starting\n");
    tally_trouble(tally_queue_at(tally, 0), NULL);
    assert_true(page_ready(page, &after));
    assert_string_equal(after.data, "ready\n");
    page_close(page);
    tally_free(tally);
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_numbers_of_the_installation_are_there, teardown),
        cmocka_unit_test_teardown(many_readers_in_a_second_ask_the_database_once, teardown),
        cmocka_unit_test_teardown(jobs_that_cannot_be_read_are_left_out_and_the_rest_is_answered,
                                  teardown),
        cmocka_unit_test_teardown(jobs_that_can_no_longer_be_read_are_not_shown_for_ever, teardown),
        cmocka_unit_test_teardown(without_a_database_the_rest_is_answered, teardown),
        cmocka_unit_test_teardown(ready_means_a_session_and_every_queue, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

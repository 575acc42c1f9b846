/* Publishing: one producer at a time, and the rest of one that has ended.
 * ctest: timeout=120 */
#include "producer/publish.h"
#include "task/message.h"
#include "task/message_text.h"
#include "tests/e2e/publish.h"
#include "tests/e2e/publish_seen.h"
#include "tests/e2e/publish_topic.h"

static void a_second_producer_is_held(void **state)
{
    (void)state;
    write_file(five_phases);
    support_exec(db,
                 "SELECT pg_advisory_lock(1280507908, queue_id) FROM lockstep.queue "
                 "WHERE name = '%s'",
                 queue);
    assert_rc(publish(), RC_RETRY, &err);
    assert_int_equal(err.kind, ERR_HELD);
    assert_non_null(strstr(err.message, "backend"));
    assert_string_equal(result.run, "");
    expect_empty_topic();
}

/** At the second look, so that the lock was really waited for. */
static void release_lock(struct seen *seen, const struct publish_progress *progress)
{
    (void)progress;
    if (++seen->calls == 2)
        support_exec(db, "SELECT pg_advisory_unlock_all()");
}

static void a_second_producer_waits_and_then_publishes(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_LOCKING, .act = release_lock};
    write_file(five_phases);
    support_exec(db,
                 "SELECT pg_advisory_lock(1280507908, queue_id) FROM lockstep.queue "
                 "WHERE name = '%s'",
                 queue);
    options.lock_wait_ms = WAIT_MS;
    options.context = &seen;
    options.progress = on_progress;
    assert_ok(publish(), &err);
    assert_true(seen.calls >= 2);
    expect_topic(five_phases_tagged);
}

static struct kafka_producer *open_rival(void)
{
    char id[128];
    struct kafka_producer *rival;
    (void)snprintf(id, sizeof id, "lockstep.%s", queue);
    assert_ok(kafka_producer_open(&props, id, WAIT_MS, &rival, &err), &err);
    return rival;
}

static void what_a_predecessor_left_open_is_aborted(void **state)
{
    (void)state;
    static const char junk[] = "{\"order\":1,\"previous_order\":0,\"sql\":\"SELECT 1\"}";
    struct kafka_producer *predecessor = open_rival();
    assert_ok(kafka_begin(predecessor, &err), &err);
    assert_ok(kafka_publish(predecessor, topic, 0, NULL, 0, junk, sizeof junk - 1, NULL, &err),
              &err);
    assert_ok(kafka_flush(predecessor, WAIT_MS, &err), &err);
    write_file(five_phases);
    assert_ok(publish(), &err);
    struct err why;
    assert_int_not_equal(kafka_commit(predecessor, WAIT_MS, &why), RC_OK);
    kafka_producer_close(predecessor);
    expect_topic(five_phases_tagged);
}

static void what_a_killed_predecessor_left_is_ended(void **state)
{
    (void)state;
    static const char *const runs[] = {"5ec0de00-0000-4000-8000-00000000000a",
                                       "5ec0de00-0000-4000-8000-00000000000b",
                                       "5ec0de00-0000-4000-8000-00000000000c"};
    struct kafka_producer *predecessor = open_rival();
    assert_ok(kafka_begin(predecessor, &err), &err);
    for (int seq = 0; seq < 4; seq++) { /* a: two tasks; b: nothing; c: a task and its end */
        STR_AUTO record = {0};
        static const char staged[] = "{\"order\":7,\"sql\":\"SELECT 7\"}";
        if (seq < 3)
            message_tag(&record, staged, sizeof staged - 1, runs[seq < 2 ? 0 : 2], seq % 2, 0);
        else
            message_end(&record, runs[2], 1, 1, 1, false);
        assert_ok(
            kafka_publish(predecessor, topic, 0, NULL, 0, record.data, record.len, NULL, &err),
            &err);
    }
    assert_ok(kafka_commit(predecessor, WAIT_MS, &err), &err);
    kafka_producer_close(predecessor);
    for (int i = 0; i < 3; i++)
        support_exec(db,
                     "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, "
                     "publish_acked_seq, publish_acked_offset) SELECT '%s', queue_id, 'stop', "
                     "'Publishing', -1, -1 FROM lockstep.queue WHERE name = '%s'",
                     runs[i], queue);
    write_file(five_phases);
    assert_ok(publish(), &err);
    struct readback all = read_topic();
    assert_int_equal(all.count, 4 + 1 + 5);
    assert_string_equal(all.at[4]->run, runs[0]);
    assert_int_equal(all.at[4]->type, MESSAGE_END);
    assert_int_equal(all.at[4]->seq, 2);
    assert_true(all.at[4]->aborted);
    assert_string_equal(all.at[5]->run, result.run);
    assert_true(result.first_offset == -1 || result.first_offset == all.offsets[5]);
    free_readback(&all);
    assert_string_equal(
        support_text(db,
                     "SELECT string_agg(r.status || (published_at IS NOT NULL)::text || "
                     "(ended_at IS NOT NULL)::text, ' ' ORDER BY run_no) FROM lockstep.run r "
                     "JOIN lockstep.queue q USING (queue_id) WHERE q.name = '%s'",
                     queue),
        "Publishingtruefalse Cancelledfalsetrue Publishingtruefalse Publishingtruefalse");
    struct publish_result second; /* and is ended once */
    assert_ok(publish_run(&options, &second, &err), &err);
    all = read_topic();
    assert_int_equal(all.count, 15);
    free_readback(&all);
}

static void what_a_killed_predecessor_left_on_an_earlier_topic_is_ended(void **state)
{
    (void)state;
    support_exec(db,
                 "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, "
                 "publish_acked_seq, publish_acked_offset) SELECT gen_random_uuid(), queue_id, "
                 "'stop', 'Publishing', 2, 1000 FROM lockstep.queue WHERE name = '%s'",
                 queue);
    write_file(five_phases);
    assert_ok(publish(), &err);
    assert_string_equal(
        support_text(db,
                     "SELECT string_agg(r.publish_acked_seq || ' ' || (published_at IS NOT "
                     "NULL)::text || ' ' || COALESCE(publish_error, ''), ', ' ORDER BY run_no) "
                     "FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) "
                     "WHERE q.name = '%s'",
                     queue),
        "3 true its producer ended before all was published, 4 true ");
}

static void come_in_between(struct seen *seen, const struct publish_progress *progress)
{
    (void)progress;
    if (seen->rival == NULL)
        seen->rival = open_rival();
}

static void a_producer_that_is_fenced_leaves_nothing(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_SENDING, .act = come_in_between};
    write_file(five_phases);
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_HELD);
    assert_non_null(strstr(err.message, "has taken over the transactional id"));
    assert_non_null(seen.rival);
    assert_ok(kafka_begin(seen.rival, &err), &err); /* and it keeps it */
    assert_ok(kafka_publish(seen.rival, topic, 0, NULL, 0, "x", 1, NULL, &err), &err);
    assert_ok(kafka_flush(seen.rival, WAIT_MS, &err), &err);
    assert_ok(kafka_abort(seen.rival, WAIT_MS, &err), &err);
    kafka_producer_close(seen.rival);
    expect_cancelled_row();
    expect_empty_topic();
}

static void end_publishers_session(struct seen *seen, const struct publish_progress *progress)
{
    (void)progress;
    if (seen->calls++ == 0)
        support_exec(db, /* not that of a test that runs beside this one */
                     "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks "
                     "WHERE locktype = 'advisory' AND classid = 1280507908 AND database = "
                     "(SELECT oid FROM pg_database WHERE datname = current_database())");
}

static void a_producer_that_lost_its_lock_stops_and_leaves_nothing(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_SENDING, .act = end_publishers_session};
    write_file(five_phases);
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_DB_DOWN);
    assert_non_null(strstr(err.detail, "lock"));
    assert_true(seen.calls > 0);
    expect_empty_topic();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(a_second_producer_is_held),
        WITH_QUEUE(a_second_producer_waits_and_then_publishes),
        WITH_QUEUE(what_a_predecessor_left_open_is_aborted),
        WITH_QUEUE(what_a_killed_predecessor_left_is_ended),
        WITH_QUEUE(what_a_killed_predecessor_left_on_an_earlier_topic_is_ended),
        WITH_QUEUE(a_producer_that_is_fenced_leaves_nothing),
        WITH_QUEUE(a_producer_that_lost_its_lock_stops_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

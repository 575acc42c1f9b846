/* Retention deletes records of a range while its replay is interrupted: it continues with the first
 * record that is left, and counts the others.
 * ctest: timeout=120 */
#include "replay/replay.h"
#include "tests/e2e/topic.h"

static struct db *db, *other;
static struct kafka_properties props;
static const char *topic;
static int queue_id;
static struct replay_report report;
static struct err err;

/* Two records each: a task and the end. */
static void write_runs(int count)
{
    static int number;
    rd_kafka_t *rk = stranger(NULL);
    for (int i = 0; i < count * 2; i++) {
        char value[256], run[37];
        number += i % 2 == 0;
        (void)snprintf(run, sizeof run, "00000000-0000-4000-8000-%012d", number);
        (void)snprintf(value, sizeof value,
                       i % 2 == 0 ? "{\"run\": \"%s\", \"seq\": 0, \"order\": 1, "
                                    "\"previous_order\": 0, \"sql\": \"SELECT 1\"}"
                                  : "{\"run\": \"%s\", \"seq\": 1, \"type\": \"end\", "
                                    "\"tasks\": 1, \"phases\": 1}",
                       run);
        assert_int_equal(rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
                                           RD_KAFKA_V_VALUE(value, strlen(value)),
                                           RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                           RD_KAFKA_V_END),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(rd_kafka_flush(rk, WAIT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(rk);
}

static bool is_past_the_first_run(void *context)
{
    (void)context;
    return support_int(other,
                       "SELECT count(*) FROM lockstep.replay WHERE queue_id = %d AND cursor >= 2",
                       queue_id) > 0;
}

static enum rc replay(int resume, bool (*cancelled)(void *context))
{
    const struct replay_options options = {.db = db,
                                           .kafka = &props,
                                           .queue = topic,
                                           .topic = topic,
                                           .queue_id = queue_id,
                                           .from = {REPLAY_OFFSET, 0},
                                           .to = {REPLAY_LATEST, 0},
                                           .run = "",
                                           .order = -1,
                                           .mode = "missing",
                                           .reason = "again",
                                           .resume = resume,
                                           .cancelled = cancelled};
    replay_report_done(&report);
    return replay_run(&options, &report, &err);
}

/* Three runs, and a replay of them that has done the first one. Returns its number. */
static int interrupted(void)
{
    topic = support_topic();
    write_runs(3);
    queue_id = (int)support_int(db,
                                "INSERT INTO lockstep.queue (name, topic, next_offset) "
                                "VALUES ('%s', '%s', 6) RETURNING queue_id",
                                topic, topic);
    assert_rc(replay(0, is_past_the_first_run), RC_RETRY, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    assert_int_equal(support_int(db, "SELECT cursor FROM lockstep.replay WHERE replay_id = %d",
                                 report.replay_id),
                     2);
    return report.replay_id;
}

static int64_t deleted(void)
{
    int64_t records = 0;
    for (int i = 0; i < report.count; i++)
        if (strcmp(replay_why(&report.lines[i]), "deleted") == 0)
            records += report.lines[i].records;
    return records;
}

static void expect_completed(int number, int made)
{
    assert_true(report.resumed);
    assert_int_equal(report.replay_id, number);
    assert_int_equal(support_int(db,
                                 "SELECT made FROM lockstep.replay WHERE replay_id = %d AND state "
                                 "= 'Completed' AND cursor = to_offset",
                                 number),
                     made);
}

static void a_replay_continues_by_its_number_behind_what_retention_has_deleted(void **state)
{
    (void)state;
    int number = interrupted();
    cut_log(topic, 4);
    assert_ok(replay(number, NULL), &err);
    expect_completed(number, 4);
    assert_int_equal(deleted(), 2);
    assert_int_equal(report.from, 4);
    assert_int_equal(report.acted, 1);
}

/* Records that the replay had read before they were deleted are not counted. */
static void the_same_command_continues_it_and_counts_what_it_has_not_read(void **state)
{
    (void)state;
    int number = interrupted();
    cut_log(topic, 4);
    assert_ok(replay(0, NULL), &err);
    expect_completed(number, 4);
    assert_int_equal(deleted(), 2);
    assert_int_equal(report.from, 4);
}

static void a_replay_of_which_nothing_is_left_is_completed(void **state)
{
    (void)state;
    int number = interrupted();
    write_runs(1);
    cut_log(topic, 8);
    assert_ok(replay(number, NULL), &err);
    expect_completed(number, 2);
    assert_int_equal(deleted(), 4);
    assert_int_equal(report.acted, 0);
}

static int set_up(void **state)
{
    (void)state;
    db = support_db();
    other = support_db();
    support_properties(&props);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    replay_report_done(&report);
    kafka_properties_done(&props);
    db_close(other);
    db_close(db);
    support_no_advisory_locks();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_continues_by_its_number_behind_what_retention_has_deleted),
        cmocka_unit_test(the_same_command_continues_it_and_counts_what_it_has_not_read),
        cmocka_unit_test(a_replay_of_which_nothing_is_left_is_completed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

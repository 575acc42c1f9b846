#include "tests/kafka/reading.h"

struct admin {
    struct kafka_properties props;
    struct kafka_admin *admin;
};

static struct admin admin_open(void)
{
    struct admin it = {0};
    struct err err;
    support_properties(&it.props);
    assert_ok(kafka_admin_open(&it.props, &it.admin, &err), &err);
    return it;
}

static void admin_close(struct admin *it)
{
    kafka_admin_close(it->admin);
    kafka_properties_done(&it->props);
}

static void a_topic_with_two_partitions_is_described_with_its_settings(void **state)
{
    (void)state;
    struct err err;
    struct kafka_topic_info info;
    struct admin it = admin_open();
    const char *topic = support_name("two");
    assert_ok(kafka_topic_create(it.admin, topic, 2, 1, WAIT_MS, &err), &err);
    assert_ok(kafka_topic_describe(it.admin, topic, WAIT_MS, &info, &err), &err);
    assert_int_equal(info.partitions, 2);
    assert_int_equal(info.replication, 1);
    assert_string_equal(info.cleanup_policy, "delete");
    assert_int_equal(info.retention_ms, -1);
    assert_int_equal(info.retention_bytes, -1);
    assert_int_equal(info.min_insync_replicas, 1);
    assert_true(info.max_message_bytes > 1000000);
    assert_string_equal(info.unclean_leader_election, "false");
    assert_true(info.cluster_id[0] != '\0');
    admin_close(&it);
}

static void a_topic_is_created_exists_and_is_deleted(void **state)
{
    (void)state;
    struct err err;
    struct kafka_topic_info info;
    struct admin it = admin_open();
    const char *topic = support_name("once");
    assert_rc(kafka_topic_describe(it.admin, topic, WAIT_MS, &info, &err), RC_NONE, NULL);
    assert_ok(kafka_topic_create(it.admin, topic, 1, -1, WAIT_MS, &err), &err);
    assert_rc(kafka_topic_create(it.admin, topic, 1, 1, WAIT_MS, &err), RC_NONE, NULL);
    assert_ok(kafka_topic_describe(it.admin, topic, WAIT_MS, &info, &err), &err);
    assert_int_equal(info.partitions, 1);
    assert_ok(kafka_topic_delete(it.admin, topic, WAIT_MS, &err), &err);
    assert_rc(kafka_topic_delete(it.admin, topic, WAIT_MS, &err), RC_NONE, NULL);
    assert_rc(kafka_topic_describe(it.admin, topic, WAIT_MS, &info, &err), RC_NONE, NULL);
    admin_close(&it);
}

static void a_bad_topic_name_is_told(void **state)
{
    (void)state;
    struct err err;
    struct admin it = admin_open();
    assert_rc(kafka_topic_create(it.admin, "no spaces", 1, 1, WAIT_MS, &err), RC_FATAL, &err);
    assert_string_equal(err.code, "TOPIC_EXCEPTION");
    assert_string_equal(err.object, "no spaces");
    assert_rc(kafka_topic_create(it.admin, support_name("r"), 1, 9, WAIT_MS, &err), RC_FATAL, &err);
    assert_string_equal(err.code, "INVALID_REPLICATION_FACTOR");
    admin_close(&it);
}

static void the_watermarks_are_the_ends_of_the_log(void **state)
{
    (void)state;
    struct err err;
    int64_t low = 7, high = 7;
    struct admin it = admin_open();
    const char *topic = support_topic();
    assert_ok(kafka_watermarks(it.admin, topic, 0, WAIT_MS, &low, &high, &err), &err);
    assert_int_equal(low, 0);
    assert_int_equal(high, 0);
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 3);
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
    do { /* the commit marker follows the answer to the commit */
        assert_ok(kafka_watermarks(it.admin, topic, 0, WAIT_MS, &low, &high, &err), &err);
        assert_true(high >= 3);
    } while (high < 4 && clock_boot_us() < until_us);
    assert_int_equal(low, 0);
    assert_int_equal(high, 4);
    assert_true(kafka_watermarks(it.admin, topic, 5, 2000, &low, &high, &err) != RC_OK);
    kafka_producer_close(producer);
    admin_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_with_two_partitions_is_described_with_its_settings),
        cmocka_unit_test(a_topic_is_created_exists_and_is_deleted),
        cmocka_unit_test(a_bad_topic_name_is_told),
        cmocka_unit_test(the_watermarks_are_the_ends_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

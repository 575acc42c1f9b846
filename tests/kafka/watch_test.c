/* What a check of a topic reads without its stream, and that its birthmark goes with it.
 * ctest: timeout=120 */
#include "tests/kafka/reading.h"

#include "kafka/watch.h"

static struct kafka_watch *watch_open(const char *topic)
{
    struct kafka_watch *watch;
    struct kafka_properties props;
    struct err err;
    char group[128];
    (void)snprintf(group, sizeof group, "lockstep.%.100s.mark", topic);
    support_properties(&props);
    assert_ok(kafka_watch_open(&props, group, &watch, &err), &err);
    kafka_properties_done(&props);
    return watch;
}

static struct kafka_check check(struct kafka_watch *watch, const char *topic)
{
    struct kafka_check check;
    struct err err;
    assert_ok(kafka_watch_check(watch, topic, 0, WAIT_MS, &check, &err), &err);
    return check;
}

static struct kafka_admin *admin_open(void)
{
    struct kafka_admin *admin;
    struct kafka_properties props;
    struct err err;
    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    kafka_properties_done(&props);
    return admin;
}

static void a_look_tells_partitions_ends_and_that_there_is_no_mark(void **state)
{
    (void)state;
    const char *topic = support_topic();
    struct kafka_watch *watch = watch_open(topic);
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 3);
    struct kafka_check seen = check(watch, topic);
    for (int64_t until_us = 0;
         seen.high < 4 && support_again(&until_us);) /* the commit is answered first */
        seen = check(watch, topic);
    assert_int_equal(seen.partitions, 1);
    assert_int_equal(seen.leader, 1);
    assert_int_equal(seen.low, 0);
    assert_int_equal(seen.high, 4); /* the commit marker */
    assert_true(seen.cluster_id[0] != '\0');
    assert_true(seen.mark_known);
    assert_string_equal(seen.mark, "");
    kafka_producer_close(producer);
    kafka_watch_close(watch);
}

static void a_mark_is_read_back_and_goes_with_its_topic(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic();
    struct kafka_watch *watch = watch_open(topic);
    struct kafka_admin *admin = admin_open();
    assert_ok(kafka_watch_sign(watch, topic, 0, 0, "born", WAIT_MS, &err), &err);
    assert_string_equal(check(watch, topic).mark, "born");
    assert_ok(kafka_topic_delete(admin, topic, WAIT_MS, &err), &err);
    struct kafka_check gone = check(watch, topic);
    for (int64_t until_us = 0; (gone.partitions != 0 || gone.mark[0] != '\0') &&
                               support_again(&until_us);) /* the coordinator hears of it later */
        gone = check(watch, topic);
    assert_int_equal(gone.partitions, 0);
    assert_string_equal(gone.mark, "");
    enum rc rc = RC_RETRY;
    for (int64_t until_us = 0; rc != RC_OK && support_again(&until_us);)
        rc = kafka_topic_create(admin, topic, 1, 1, WAIT_MS, &err);
    assert_ok(rc, &err);
    struct kafka_check again = check(watch, topic);
    assert_int_equal(again.partitions, 1);
    assert_true(again.mark_known);
    assert_string_equal(again.mark, "");
    kafka_admin_close(admin);
    kafka_watch_close(watch);
}

static void marks_of_several_topics_are_in_one_group_and_go_one_by_one(void **state)
{
    (void)state;
    struct err err;
    const char *stays = support_topic(), *goes = support_topic();
    struct kafka_watch *watch = watch_open(stays);
    struct kafka_admin *admin = admin_open();
    assert_ok(kafka_watch_sign(watch, stays, 0, 0, "one", WAIT_MS, &err), &err);
    assert_ok(kafka_watch_sign(watch, goes, 0, 0, "other", WAIT_MS, &err), &err);
    assert_string_equal(check(watch, stays).mark, "one");
    assert_string_equal(check(watch, goes).mark, "other");
    assert_ok(kafka_topic_delete(admin, goes, WAIT_MS, &err), &err);
    for (int64_t until_us = 0; check(watch, goes).mark[0] != '\0' && support_again(&until_us);) {
    }
    assert_string_equal(check(watch, goes).mark, "");
    assert_string_equal(check(watch, stays).mark, "one");
    kafka_admin_close(admin);
    kafka_watch_close(watch);
}

static void without_a_broker_a_look_ends_in_time(void **state)
{
    (void)state;
    struct kafka_watch *watch;
    struct kafka_properties props = {0};
    struct kafka_check seen;
    struct err err;
    assert_ok(kafka_properties_set(&props, "bootstrap.servers", "127.0.0.1:1", &err), &err);
    assert_ok(kafka_watch_open(&props, "nobody", &watch, &err), &err);
    int64_t from_us = clock_boot_us();
    assert_rc(kafka_watch_check(watch, "none", 0, 500, &seen, &err), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_KAFKA_DOWN);
    assert_rc(kafka_watch_sign(watch, "none", 0, 0, "x", 500, &err), RC_LOST, &err);
    kafka_watch_close(watch);
    assert_true(clock_boot_us() - from_us < 5000000);
    kafka_properties_done(&props);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_tells_partitions_ends_and_that_there_is_no_mark),
        cmocka_unit_test(a_mark_is_read_back_and_goes_with_its_topic),
        cmocka_unit_test(marks_of_several_topics_are_in_one_group_and_go_one_by_one),
        cmocka_unit_test(without_a_broker_a_look_ends_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What lag tools see.
 * ctest: timeout=120 */
#include "kafka/source.h"
#include "tests/kafka/reading.h"

#include <dirent.h>
#include <librdkafka/rdkafka.h>

/* The broker makes and loads the partition of the groups when the first one is asked for. */
static bool coordinator_to_come(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS ||
           code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
           code == RD_KAFKA_RESP_ERR_NOT_COORDINATOR;
}

/* The offset that the group has committed, -1001 if none, or if it has no coordinator yet. */
static int64_t committed(const char *group, const char *topic)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(
        rd_kafka_conf_set(conf, "bootstrap.servers", support_brokers(), text, sizeof text),
        RD_KAFKA_CONF_OK);
    assert_int_equal(rd_kafka_conf_set(conf, "group.id", group, text, sizeof text),
                     RD_KAFKA_CONF_OK);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    assert_non_null(rk);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0);
    rd_kafka_resp_err_t code = rd_kafka_committed(rk, list, WAIT_MS);
    int64_t offset = coordinator_to_come(code) ? RD_KAFKA_OFFSET_INVALID : list->elems[0].offset;
    if (!coordinator_to_come(code))
        assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(rk);
    return offset;
}

static void the_published_lag_is_the_newest_offset_in_a_group_of_its_own(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic(), *group = support_name("lockstep.q");
    struct kafka_producer *producer = writer_open(support_name("tx"));
    write_run(producer, topic, "a", 9);
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    read_value(&reader, reader.source, "a0");
    for (int64_t offset = 1; offset <= 7;
         offset++) /* the later ones wait for the first and replace each other */
        kafka_source_publish_lag(reader.source, group, offset);
    int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000, seen;
    while ((seen = committed(group, topic)) != 7 && clock_boot_us() < until_us)
        kafka_consumer_serve(reader.consumer);
    assert_int_equal(seen, 7);
    reader_close(&reader);
    kafka_producer_close(producer);
}

static int threads(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count;
}

static void a_lag_that_is_not_told_for_a_while_keeps_no_client_and_is_told_again(void **state)
{
    (void)state;
    struct err err;
    const char *topic = support_topic(), *group = support_name("lockstep.q");
    struct reader reader = reader_open(topic);
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    for (int64_t offset = 1; offset <= 2; offset++) {
        int without = threads();
        kafka_source_publish_lag(reader.source, group, offset);
        assert_true(threads() > without);
        int64_t until_us = clock_boot_us() + (int64_t)WAIT_MS * 1000;
        while (threads() > without && clock_boot_us() < until_us) {
            kafka_consumer_serve(reader.consumer);
            (void)poll(NULL, 0, 10);
        }
        assert_true(threads() <= without);
        assert_int_equal(committed(group, topic), offset);
    }
    reader_close(&reader);
}

static void closing_right_after_publishing_a_lag_leaves_nothing_behind(void **state)
{
    (void)state;
    struct err err;
    struct reader reader = reader_open(support_topic());
    assert_ok(kafka_source_assign(reader.source, 0, &err), &err);
    kafka_source_publish_lag(reader.source, support_name("lockstep.q"), 0);
    reader_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_lag_is_the_newest_offset_in_a_group_of_its_own),
        cmocka_unit_test(a_lag_that_is_not_told_for_a_while_keeps_no_client_and_is_told_again),
        cmocka_unit_test(closing_right_after_publishing_a_lag_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Who holds back the readers of committed records. */
#include "tests/kafka/reading.h"

#include "kafka/stable.h"

#include <time.h>

static void an_open_transaction_is_named_with_its_offset_and_its_age(void **state)
{
    (void)state;
    struct err err;
    struct kafka_properties props;
    struct kafka_open_transaction open;
    const char *topic = support_topic();
    support_properties(&props);
    struct kafka_producer *other = writer_open(support_name("tx"));
    struct kafka_producer *hanging = writer_open(support_name("tx"));
    assert_rc(kafka_open_transaction(&props, topic, 0, WAIT_MS, &open, &err), RC_NONE, &err);
    write_run(other, topic, "before", 3); /* and a marker: 0 to 3 */
    assert_rc(kafka_open_transaction(&props, topic, 0, WAIT_MS, &open, &err), RC_NONE, &err);
    int64_t before_ms = (int64_t)time(NULL) * 1000;
    assert_ok(kafka_begin(hanging, &err), &err);
    publish(hanging, topic, "nobody ends this");
    assert_ok(kafka_flush(hanging, WAIT_MS, &err), &err);
    write_run(other, topic, "behind", 2);
    assert_ok(kafka_open_transaction(&props, topic, 0, WAIT_MS, &open, &err), &err);
    assert_int_equal(open.offset, 4);
    assert_int_equal(open.end, 8);
    assert_in_range(open.since_ms, before_ms, (int64_t)time(NULL) * 1000 + 1000);
    assert_ok(kafka_abort(hanging, WAIT_MS, &err), &err);
    enum rc rc = RC_OK; /* the marker is written a moment later */
    for (int64_t until_us = 0; rc == RC_OK && support_again(&until_us);)
        rc = kafka_open_transaction(&props, topic, 0, WAIT_MS, &open, &err);
    assert_rc(rc, RC_NONE, &err);
    kafka_producer_close(hanging);
    kafka_producer_close(other);
    kafka_properties_done(&props);
}

static void a_topic_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct err err;
    struct kafka_properties props;
    struct kafka_open_transaction open;
    support_properties(&props);
    enum rc rc = kafka_open_transaction(&props, support_name("none"), 0, WAIT_MS, &open, &err);
    assert_true(rc != RC_OK && rc != RC_NONE);
    kafka_properties_done(&props);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_transaction_is_named_with_its_offset_and_its_age),
        cmocka_unit_test(a_topic_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A topic for each test, on the broker that all share. Topics are not deleted: the broker's data
 * goes with it. */
#include "tests/support/own.h"
#include "tests/support/support.h"

#define BROKER_WAIT_MS 20000

const char *support_brokers(void)
{
    return support_environment("LOCKSTEP_TEST_BROKERS");
}

void support_properties(struct kafka_properties *ret_props)
{
    struct kafka_properties props = {0};
    struct err err;

    assert_ok(kafka_properties_set(&props, "bootstrap.servers", support_brokers(), &err), &err);
    *ret_props = props;
}

const char *support_topic(void)
{
    const char *topic = support_name("ls");
    struct kafka_properties props;
    struct kafka_admin *admin = NULL;
    struct err err;

    support_properties(&props);
    assert_ok(kafka_admin_open(&props, &admin, &err), &err);
    assert_ok(kafka_topic_create(admin, topic, 1, 1, BROKER_WAIT_MS, &err), &err);
    kafka_admin_close(admin);
    kafka_properties_done(&props);
    return topic;
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kafka/consumer.h"
#include "kafka/error.h"
#include "kafka/handle.h"
#include "kafka/producer.h"
#include "kafka/source.h"

#include <stdio.h>
#include <string.h>

static void set(struct kafka_properties *props, const char *key, const char *value)
{
    struct err err;
    if (kafka_properties_set(props, key, value, &err) != RC_OK)
        fail_msg("%s=%s: %s", key, value, err.message);
}

static void an_unknown_property_is_refused_in_librdkafkas_words(void **state)
{
    (void)state;
    struct kafka_properties props = {0};
    struct err err;
    assert_int_equal(kafka_properties_set(&props, "bootstrap.server", "x", &err), RC_FATAL);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_string_equal(err.object, "bootstrap.server");
    assert_non_null(strstr(err.message, "No such configuration property"));
    assert_int_equal(kafka_properties_set(&props, "linger.ms", "soon", &err), RC_FATAL);
    assert_int_equal(props.count, 0);
}

static void setting_again_replaces(void **state)
{
    (void)state;
    struct kafka_properties props = {0}, copy = {0};
    assert_null(kafka_properties_get(&props, "linger.ms"));
    set(&props, "linger.ms", "7");
    set(&props, "client.id", "me");
    set(&props, "linger.ms", "9");
    set(&props, "linger.ms", kafka_properties_get(&props, "linger.ms"));
    assert_int_equal(props.count, 2);
    kafka_properties_copy(&copy, &props);
    kafka_properties_done(&props);
    kafka_properties_done(&props);
    assert_string_equal(kafka_properties_get(&copy, "linger.ms"), "9");
    assert_string_equal(kafka_properties_get(&copy, "client.id"), "me");
    kafka_properties_done(&copy);
}

static void a_secret_is_not_shown(void **state)
{
    (void)state;
    struct kafka_properties props = {0};
    struct err err;
    char text[] = "user=bob password=hunter2 again hunter2.";
    assert_int_equal(kafka_properties_set(&props, "ssl.key.pem", "hunter2", &err), RC_OK);
    set(&props, "sasl.username", "bob");
    set(&props, "sasl.password", "hunter2");
    kafka_properties_mask(&props, text);
    assert_string_equal(text, "user=bob password=******* again *******.");
    kafka_properties_done(&props);
}

static enum rc open_consumer(const char *key, const char *value, struct err *err)
{
    struct kafka_properties props = {0};
    struct kafka_consumer *consumer = NULL;
    if (key != NULL)
        set(&props, key, value);
    if (key == NULL || strcmp(key, "client.id") != 0)
        set(&props, "bootstrap.servers", "127.0.0.1:1");
    enum rc rc = kafka_consumer_open(&props, -1, &consumer, err);
    kafka_consumer_close(consumer);
    kafka_properties_done(&props);
    return rc;
}

static void what_a_promise_rests_on_cannot_be_overridden(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"auto.offset.reset", "earliest"},
                                           {"isolation.level", "read_uncommitted"},
                                           {"allow.auto.create.topics", "true"}};
    struct err err;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        err = (struct err){0};
        assert_int_equal(open_consumer(pairs[i][0], pairs[i][1], &err), RC_FATAL);
        assert_int_equal(err.kind, ERR_CONFIG);
        assert_string_equal(err.object, pairs[i][0]);
    }
}

static void settings_of_the_user_and_of_the_other_client_kind_are_taken(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(open_consumer(NULL, NULL, &err), RC_OK);
    assert_int_equal(open_consumer("compression.codec", "lz4", &err), RC_OK); /* a producer's */
    assert_int_equal(open_consumer("check.crcs", "true", &err), RC_OK);       /* agrees with ours */
    assert_int_equal(open_consumer("queued.max.messages.kbytes", "1024", &err), RC_OK);
}

static void no_brokers_is_an_error_of_configuration(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(open_consumer("client.id", "x", &err), RC_FATAL);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_non_null(strstr(err.hint, "-b"));
}

static void an_idempotent_producer_cannot_be_weakened(void **state)
{
    (void)state;
    struct err err = {0};
    struct kafka_properties props = {0};
    struct kafka_producer *producer = NULL;
    set(&props, "bootstrap.servers", "127.0.0.1:1");
    set(&props, "acks", "1");
    assert_int_equal(kafka_producer_open(&props, "tx", 1000, &producer, &err), RC_FATAL);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_string_equal(err.object, "acks");
    kafka_properties_done(&props);
}

static void errors_become_reactions(void **state)
{
    (void)state;
    static const struct {
        rd_kafka_resp_err_t code;
        enum rc rc;
        enum err_kind kind;
        const char *name;
    } expected[] = {
        {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RC_LOST, ERR_KAFKA_DOWN, "_ALL_BROKERS_DOWN"},
        {RD_KAFKA_RESP_ERR_PRODUCER_FENCED, RC_LOST, ERR_HELD, "PRODUCER_FENCED"},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RC_RETRY, ERR_KAFKA, "UNKNOWN_TOPIC_OR_PART"},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RC_REJECT, ERR_KAFKA, "MSG_SIZE_TOO_LARGE"},
        {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RC_FATAL, ERR_KAFKA, "_AUTO_OFFSET_RESET"},
        {RD_KAFKA_RESP_ERR__BAD_MSG, RC_FATAL, ERR_KAFKA, "_BAD_MSG"},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RC_FATAL, ERR_KAFKA,
         "TOPIC_AUTHORIZATION_FAILED"},
        {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RC_RETRY, ERR_KAFKA,
         "NOT_LEADER_FOR_PARTITION"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct err err;
        assert_int_equal(kafka_err(&err, expected[i].code, "topic", NULL), expected[i].rc);
        assert_int_equal(err.kind, expected[i].kind);
        assert_string_equal(err.code, expected[i].name);
        assert_string_equal(err.object, "topic");
        assert_true(err.message[0] != '\0');
    }
}

/* As text, so that a change of the digest is seen: stored fingerprints would no longer match. */
static const char *digest(const char *key, size_t key_len, const char *value, size_t value_len,
                          char text[33])
{
    struct kafka_record record = {
        .key = key, .key_len = key_len, .value = value, .value_len = value_len};
    unsigned char bytes[16];
    kafka_record_digest(&record, bytes);
    for (int i = 0; i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

static void the_digest_is_stable_and_tells_key_value_and_null_apart(void **state)
{
    (void)state;
    char a[33], b[33];
    assert_string_equal(digest("k", 1, "value", 5, a), "0d6a6fecc7ebda158087ca5a088e4fa4");
    assert_string_equal(digest(NULL, 0, NULL, 0, a), "2c75c396ceb7747be6873ce65343027f");
    assert_string_not_equal(digest("ab", 2, "c", 1, a), digest("a", 1, "bc", 2, b));
    assert_string_not_equal(digest(NULL, 0, "x", 1, a), digest("", 0, "x", 1, b));
    assert_string_not_equal(digest("x", 1, NULL, 0, a), digest("x", 1, "", 0, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_property_is_refused_in_librdkafkas_words),
        cmocka_unit_test(setting_again_replaces),
        cmocka_unit_test(a_secret_is_not_shown),
        cmocka_unit_test(what_a_promise_rests_on_cannot_be_overridden),
        cmocka_unit_test(settings_of_the_user_and_of_the_other_client_kind_are_taken),
        cmocka_unit_test(no_brokers_is_an_error_of_configuration),
        cmocka_unit_test(an_idempotent_producer_cannot_be_weakened),
        cmocka_unit_test(errors_become_reactions),
        cmocka_unit_test(the_digest_is_stable_and_tells_key_value_and_null_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Publishing: an error of the options, the source or the topic is reported, and nothing is
 * published.
 * ctest: timeout=120 */
#include "producer/publish.h"
#include "task/message.h"
#include "tests/e2e/publish.h"
#include "tests/e2e/publish_seen.h"
#include "tests/e2e/publish_topic.h"
#include "tests/support/rc.h"

#include <librdkafka/rdkafka.h>

static void everything_wrong_with_a_file_is_told_and_nothing_published(void **state)
{
    (void)state;
    struct seen seen = {0};
    write_file("{\"order\":100,\"sql\":\"SELECT 1\"}\n{\"order\":-1,\"sql\":\"SELECT 1\"}\n"
               "oops\n{\"order\":100,\"sql\":\"SELECT 1\",\"colour\":1}\n");
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.message, "3 errors"));
    assert_non_null(strstr(err.object, ":2"));
    assert_string_equal(seen.text.data, "2 $.order\n3 $\n4 $.colour\n");
    str_done(&seen.text);
    assert_string_equal(result.run, "");
    expect_nothing_published();
}

static void errors_far_apart_are_told_in_the_order_of_their_lines(void **state)
{
    (void)state;
    struct seen seen = {0};
    STR_AUTO text = {0}, longest = {0};
    str_text(&longest, "{\"order\":1,\"sql\":\"");
    while (longest.len < MESSAGE_MAX_BYTES + 10)
        str_text(&longest, "0123456789");
    str_text(&longest, "\"}\n");
    for (int line = 1; line <= 6000; line++)
        str_text(&text, line == 700 || line == 5999 ? "oops\n"
                        : line == 701               ? longest.data
                                                    : "{\"order\":100,\"sql\":\"SELECT 1\"}\n");
    write_file(text.data);
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish(), RC_REJECT, &err);
    assert_non_null(strstr(err.message, "3 errors"));
    assert_non_null(strstr(err.object, ":700"));
    assert_string_equal(seen.text.data, "700 $\n701 $\n5999 $\n");
    str_done(&seen.text);
    expect_empty_topic();
}

static void at_most_a_hundred_errors_are_told_one_by_one(void **state)
{
    (void)state;
    struct seen seen = {0};
    STR_AUTO text = {0};
    for (int i = 0; i < 107; i++)
        str_text(&text, "oops\n");
    write_file(text.data);
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish(), RC_REJECT, &err);
    str_done(&seen.text);
    assert_int_equal(seen.faults, PUBLISH_MAX_FAULTS);
    assert_non_null(strstr(err.message, "and 7 more"));
}

static void an_empty_source_is_refused_in_both_modes(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        options.stream = stream;
        assert_rc(publish(), RC_REJECT, &err);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_non_null(strstr(err.message, "no task"));
        assert_string_equal(result.run, "");
    }
    expect_empty_topic();
}

static void a_query_is_refused_with_its_row_or_column(void **state)
{
    (void)state;
    static const struct {
        const char *query, *object, *message;
    } cases[] = {
        {"SELECT 1 AS \"order\"", "query", "\"sql\" is missing"},
        {"SELECT 'SELECT 1' AS sql", "query", "\"order\" is missing"},
        {"SELECT 1 AS \"order\", 'x' AS sql, 1 AS colour", "query", "\"colour\" is not known"},
        {"SELECT NULLIF(i, 2) AS \"order\", 'SELECT 1' AS sql FROM generate_series(1, 3) AS i",
         "query:2", "\"order\" is NULL"},
        {"SELECT 1.5 AS \"order\", 'SELECT 1' AS sql", "query:1", "integer"},
        {"SELECT * FROM nowhere", "query", "nowhere"},
        {"SELECT 1; SELECT 2", "query", ""},
        {"DELETE FROM lockstep.run", "query", ""},
        {"WITH gone AS (DELETE FROM lockstep.run RETURNING 1) SELECT 1 AS \"order\", 'x' AS sql",
         "query", ""},
    };
    options.path = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.query = cases[i].query;
        enum rc rc = publish();
        if (rc == RC_OK || strncmp(err.object, cases[i].object, strlen(cases[i].object)) != 0 ||
            strstr(err.message, cases[i].message) == NULL || err.kind != ERR_USAGE)
            fail_msg("%s: %s kind %d, %s: %s", cases[i].query, rc_name(rc), (int)err.kind,
                     err.object, err.message);
    }
    expect_empty_topic();
}

static void an_id_that_the_queue_has_is_refused(void **state)
{
    (void)state;
    write_file(five_phases);
    options.run = "5EC0DE00-0000-4000-8000-000000000001";
    assert_ok(publish(), &err);
    assert_string_equal(result.run, "5ec0de00-0000-4000-8000-000000000001");
    struct publish_result again;
    assert_rc(publish_run(&options, &again, &err), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.message, "exists"));
    expect_topic(five_phases_tagged);
}

static void options_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    const struct publish_options good = options;
    options.query = "SELECT 1";
    assert_rc(publish(), RC_FATAL, &err);
    options = good;
    options.path = NULL;
    assert_rc(publish(), RC_FATAL, &err);
    options = good;
    options.run = "not-a-uuid";
    assert_rc(publish(), RC_FATAL, &err);
    options = good;
    options.resume = "not-a-uuid";
    assert_rc(publish(), RC_FATAL, &err);
    options.resume = options.run = "5ec0de00-0000-4000-8000-000000000001";
    assert_rc(publish(), RC_FATAL, &err);
    assert_string_equal(err.object, "--run");
    options.run = NULL;
    options.dry_run = true;
    assert_rc(publish(), RC_FATAL, &err);
    options = good;
    options.stream = options.dry_run = true;
    assert_rc(publish(), RC_FATAL, &err);
    options = good;
    options.queue = "nobody";
    assert_rc(publish(), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.hint, "queue create"));
}

/* A broker may not know yet what it has just made. */
static void await_topic(const char *name)
{
    struct kafka_properties reach;
    struct kafka_admin *admin;
    struct kafka_topic_info info;
    enum rc rc = RC_NONE;
    support_properties(&reach);
    assert_ok(kafka_admin_open(&reach, &admin, &err), &err);
    for (int64_t until_us = 0; rc != RC_OK && support_again(&until_us);)
        rc = kafka_topic_describe(admin, name, WAIT_MS, &info, &err);
    kafka_admin_close(admin);
    kafka_properties_done(&reach);
    assert_int_equal(rc, RC_OK);
}

/** A topic as no queue wants it. */
static const char *odd_topic(int partitions, const char *key, const char *value)
{
    const char *name = support_name("odd");
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", support_brokers(), text, sizeof text);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(rk);
    rd_kafka_NewTopic_t *fresh = rd_kafka_NewTopic_new(name, partitions, 1, text, sizeof text);
    if (key != NULL)
        (void)rd_kafka_NewTopic_set_config(fresh, key, value);
    rd_kafka_queue_t *events = rd_kafka_queue_new(rk);
    rd_kafka_CreateTopics(rk, &fresh, 1, NULL, events);
    rd_kafka_event_t *event = rd_kafka_queue_poll(events, WAIT_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(events);
    rd_kafka_NewTopic_destroy(fresh);
    rd_kafka_destroy(rk);
    await_topic(name);
    return name;
}

static void expect_unfit(const char *topic_name, int partition, const char *message)
{
    make_queue(topic_name, partition);
    support_exec(db, "UPDATE lockstep.queue SET partitions = 1 WHERE name = '%s'", queue);
    assert_rc(publish(), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_CONFIG);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\" is not in: %s", message, err.message);
    assert_string_not_equal(err.hint, "");
}

/* The hint would be refused again if it named less than the producer sends. */
static void the_hint_for_a_small_topic_names_a_size_that_is_enough(void **state)
{
    (void)state;
    static const struct {
        const char *sends, *hint;
    } sizes[] = {{"500000", "max.message.bytes=1048588"}, {"2000000", "max.message.bytes=2000000"}};
    write_file(five_phases);
    make_queue(odd_topic(1, "max.message.bytes", "100000"), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct kafka_properties raised = {0};
        kafka_properties_copy(&raised, &props);
        assert_ok(kafka_properties_set(&raised, "message.max.bytes", sizes[i].sends, &err), &err);
        options.kafka = &raised;
        enum rc rc = publish();
        kafka_properties_done(&raised);
        assert_rc(rc, RC_FATAL, &err);
        if (strstr(err.hint, sizes[i].hint) == NULL)
            fail_msg("%s is not in: %s", sizes[i].hint, err.hint);
    }
}

static enum rc publish_task_of(size_t bytes)
{
    STR_AUTO line = {0};
    str_text(&line, "{\"order\":1,\"sql\":\"");
    while (line.len < bytes - 2)
        str_add(&line, "x", 1);
    str_text(&line, "\"}\n");
    write_file(line.data);
    return publish();
}

/* docs/how-to/publish.md has the number. */
static void the_largest_task_of_the_defaults_is_published(void **state)
{
    (void)state;
    make_queue(odd_topic(1, NULL, NULL), 0);
    assert_rc(publish_task_of(999745), RC_REJECT, &err);
    assert_ok(publish_task_of(999744), &err);
}

static void a_topic_that_is_not_fit_is_refused(void **state)
{
    (void)state;
    write_file(five_phases);
    expect_unfit(odd_topic(2, NULL, NULL), 0, "2 partitions");
    expect_unfit(odd_topic(2, NULL, NULL), 2, "partition 2");
    expect_unfit(odd_topic(1, "cleanup.policy", "compact"), 0, "compacted");
    expect_unfit(odd_topic(1, "cleanup.policy", "compact,delete"), 0, "compacted");
    expect_unfit(odd_topic(1, "max.message.bytes", "100000"), 0, "max.message.bytes is 100000");
    expect_unfit(support_name("nothing"), 0, "does not exist");
}

/* `queue resume --accept-topic` has accepted it as it is, and no executor has come yet. */
static void a_topic_whose_shape_was_accepted_is_published_to(void **state)
{
    (void)state;
    write_file(five_phases);
    make_queue(odd_topic(2, NULL, NULL), 0);
    assert_ok(publish(), &err);
    assert_int_equal(result.last_offset, 4);
}

static void a_queue_of_another_partition_is_published_to_there(void **state)
{
    (void)state;
    write_file(five_phases);
    make_queue(odd_topic(2, NULL, NULL), 1);
    assert_ok(publish(), &err);
    assert_int_equal(result.last_offset, 4);
    expect_empty_topic(); /* partition 0 */
}

static void a_task_larger_than_the_producer_sends_is_refused_with_its_line(void **state)
{
    (void)state;
    struct kafka_properties small = {0};
    kafka_properties_copy(&small, &props);
    assert_ok(kafka_properties_set(&small, "message.max.bytes", "2000", &err), &err);
    make_queue(odd_topic(1, "max.message.bytes", "4000"), 0);
    char line[3000], text[2600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)snprintf(line, sizeof line,
                   "{\"order\":1,\"sql\":\"SELECT 1\"}\n{\"order\":1,\"sql\":\"%s\"}\n", text);
    write_file(line);
    options.kafka = &small;
    enum rc rc = publish();
    kafka_properties_done(&small);
    assert_rc(rc, RC_REJECT, &err);
    assert_non_null(strstr(err.object, ":2"));
    expect_empty_topic();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(everything_wrong_with_a_file_is_told_and_nothing_published),
        WITH_QUEUE(errors_far_apart_are_told_in_the_order_of_their_lines),
        WITH_QUEUE(at_most_a_hundred_errors_are_told_one_by_one),
        WITH_QUEUE(an_empty_source_is_refused_in_both_modes),
        WITH_QUEUE(a_query_is_refused_with_its_row_or_column),
        WITH_QUEUE(an_id_that_the_queue_has_is_refused),
        WITH_QUEUE(options_that_contradict_each_other_are_refused),
        WITH_QUEUE(a_topic_that_is_not_fit_is_refused),
        WITH_QUEUE(the_hint_for_a_small_topic_names_a_size_that_is_enough),
        WITH_QUEUE(the_largest_task_of_the_defaults_is_published),
        WITH_QUEUE(a_topic_whose_shape_was_accepted_is_published_to),
        WITH_QUEUE(a_queue_of_another_partition_is_published_to_there),
        WITH_QUEUE(a_task_larger_than_the_producer_sends_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

/* What a daemon counts for the metrics comes out as the text format of Prometheus, and only
 * grows. */
#include "metrics/names.h"
#include "metrics/process.h"
#include "metrics/tally.h"
#include "metrics/tally_text.h"
#include "metrics/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void has(const struct str *text, const char *line)
{
    if (strstr(text->data, line) == NULL)
        fail_msg("no line \"%s\" in:\n%s", line, text->data);
}

static const char *const queues[] = {"a", "b \"\\\n"};

static void a_task_counts_by_queue_type_and_outcome(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(queues, 2);
    tally_task(tally_queue_at(tally, 0), "sql", TALLY_COMPLETED, 700, 40);
    tally_task(tally_queue_at(tally, 0), "sql", TALLY_COMPLETED, 1000, -1);
    tally_task(tally_queue_at(tally, 0), "http", TALLY_FAILED, 4000000000, 0);
    tally_text(tally, &text);
    has(&text, "\nlockstep_tasks_total{queue=\"a\",type=\"sql\",outcome=\"completed\"} 2\n");
    has(&text, "\nlockstep_tasks_total{queue=\"a\",type=\"http\",outcome=\"failed\"} 1\n");
    has(&text,
        "\nlockstep_task_duration_seconds_bucket{queue=\"a\",type=\"sql\",le=\"0.0005\"} 0\n");
    has(&text,
        "\nlockstep_task_duration_seconds_bucket{queue=\"a\",type=\"sql\",le=\"0.001\"} 2\n");
    has(&text, "\nlockstep_task_duration_seconds_sum{queue=\"a\",type=\"sql\"} 0.001700\n");
    has(&text,
        "\nlockstep_task_duration_seconds_bucket{queue=\"a\",type=\"http\",le=\"3600\"} 0\n");
    has(&text,
        "\nlockstep_task_duration_seconds_bucket{queue=\"a\",type=\"http\",le=\"+Inf\"} 1\n");
    has(&text, "\nlockstep_task_wait_seconds_count{queue=\"a\"} 2\n");
    tally_free(tally);
}

static void what_a_label_may_not_have_is_escaped(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(queues, 2);
    tally_lost(tally_queue_at(tally, 1));
    tally_text(tally, &text);
    has(&text, "\nlockstep_attempts_lost_total{queue=\"b \\\"\\\\\\n\"} 1\n");
    tally_free(tally);
}

static void a_reason_is_there_with_0_before_the_first_rejection(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(queues, 1);
    tally_reason(tally_queue_at(tally, 0), "bad_json");
    tally_reason(tally_queue_at(tally, 0), "empty");
    tally_rejected(tally_queue_at(tally, 0), "empty");
    tally_reason(tally_queue_at(tally, 0), "empty");
    tally_text(tally, &text);
    has(&text, "\nlockstep_rejected_total{queue=\"a\",reason=\"bad_json\"} 0\n");
    has(&text, "\nlockstep_rejected_total{queue=\"a\",reason=\"empty\"} 1\n");
    tally_free(tally);
}

static void reasons_beyond_the_last_place_share_it(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(queues, 1);
    for (int i = 0; i < 40; i++) {
        char reason[64];
        (void)snprintf(reason, sizeof reason, "%02d a reason that is longer than its place", i);
        tally_rejected(tally_queue_at(tally, 0), reason);
        tally_rejected(tally_queue_at(tally, 0), reason);
    }
    tally_text(tally, &text);
    has(&text, "{queue=\"a\",reason=\"00 a reason that is longer than\"} 2\n");
    has(&text, "{queue=\"a\",reason=\"31 a reason that is longer than\"} 18\n");
    tally_free(tally);
}

static void firings_count_with_their_lateness_if_it_is_known(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(NULL, 0);
    tally_decided(tally, TALLY_FIRED, 2000000);
    tally_decided(tally, TALLY_FIRED, -1);
    tally_decided(tally, TALLY_MISSED, 0);
    tally_text(tally, &text);
    has(&text, "\nlockstep_schedule_fired_total 2\n");
    has(&text, "\nlockstep_schedule_missed_total 1\n");
    has(&text, "\nlockstep_schedule_lateness_seconds_count 1\n");
    has(&text, "\nlockstep_schedule_lateness_seconds_sum 2.000000\n");
    tally_free(tally);
}

static void statistics_of_librdkafka_become_metrics(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    tally_kafka_text(
        "{\"rxmsgs\": 7, \"rx_bytes\": 12345678901, \"tx\": 3, \"brokers\": {"
        "\"h:9092/1\": {\"nodeid\": 1, \"source\": \"learned\", \"state\": \"UP\", \"txerrs\": 2, "
        "\"rtt\": {\"avg\": 1500}},"
        "\"h:9092/bootstrap\": {\"nodeid\": -1, \"source\": \"configured\", \"state\": \"UP\"},"
        "\"GroupCoordinator\": {\"nodeid\": 1, \"source\": \"logical\", \"state\": \"UP\"}},"
        "\"topics\": {\"t\": {\"partitions\": {\"0\": {\"desired\": true, \"fetchq_cnt\": 5},"
        "\"-1\": {\"desired\": false, \"fetchq_cnt\": 9}}}}}",
        &text);
    has(&text, "\nlockstep_kafka_messages_received_total 7\n");
    has(&text, "\nlockstep_kafka_received_bytes_total 12345678901\n");
    has(&text, "\nlockstep_kafka_broker_up{broker=\"1\"} 1\n");
    has(&text, "\nlockstep_kafka_broker_round_trip_seconds{broker=\"1\"} 0.0015\n");
    has(&text, "\nlockstep_kafka_broker_errors_total{broker=\"1\",direction=\"sent\"} 2\n");
    has(&text, "\nlockstep_kafka_fetch_queue_messages{topic=\"t\",partition=\"0\"} 5\n");
    assert_null(strstr(text.data, "broker=\"-1\""));
    assert_null(strstr(text.data, "partition=\"-1\""));
    const char *first = strstr(text.data, "broker_up{");
    assert_null(strstr(first + 1, "broker_up{")); /* not the coordinator's once more */
}

static void nothing_is_made_of_what_is_no_statistics(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    tally_kafka_text("{", &text);
    assert_int_equal(text.len, 0);
}

static void no_tally_counts_nothing(void **state)
{
    (void)state;
    tally_task(NULL, "sql", TALLY_COMPLETED, 1, 1);
    tally_decided(NULL, TALLY_FIRED, 1);
    tally_kafka(NULL, "{}", 2);
    assert_null(tally_queue_at(NULL, 0));
    assert_int_equal(tally_queue_count(NULL), 0);
    assert_int_equal(tally_queue_high(NULL, "a"), -1);
}

static void a_queue_is_ready_when_nothing_is_said_against_it(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct tally *tally = tally_new(queues, 1);
    assert_string_equal(tally_queue_trouble(tally, 0), "the executor is starting");
    tally_trouble(tally_queue_at(tally, 0), NULL);
    assert_null(tally_queue_trouble(tally, 0));
    tally_text(tally, &text);
    has(&text, "\nlockstep_queue_ready{queue=\"a\"} 1\n");
    tally_high(tally_queue_at(tally, 0), 12);
    assert_int_equal(tally_queue_high(tally, "a"), 12);
    tally_free(tally);
}

/* In place of libc's: a test moves the wall clock. */
static int clock_set_s;

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (clock == CLOCK_REALTIME)
        ret_time->tv_sec += clock_set_s;
    return rc;
}

static double number_of(const char *name)
{
    STR_AUTO text = {0};
    STR_AUTO line = {0};
    process_text(&text);
    str_format(&line, "\n%s ", name);
    const char *at = strstr(text.data, line.data);
    return at != NULL ? strtod(at + line.len, NULL) : -1;
}

static void the_start_of_the_process_does_not_change(void **state)
{
    (void)state;
    double first = number_of("process_start_time_seconds");
    assert_true(first > 1e9);
    clock_set_s = 2; /* an operator sets the clock, or NTP does */
    double later = number_of("process_start_time_seconds");
    clock_set_s = 0;
    assert_true(later == first);
}

static void the_descriptors_are_counted_when_there_are_no_more(void **state)
{
    (void)state;
    double before = number_of("process_open_fds");
    struct rlimit limit, low;
    int fds[64], count = 0;
    assert_true(before >= 3);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = (struct rlimit){.rlim_cur = (rlim_t)before + 16, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    while (count < 64 && (fds[count] = dup(0)) >= 0)
        count++;
    double full = number_of("process_open_fds");
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    assert_in_range(count, 1, 63);
    assert_true(full == before + count);
}

static void names_are_those_that_prometheus_wants(void **state)
{
    (void)state;
    int count;
    const struct metric *all = metrics_all(&count);
    for (int i = 0; i < count; i++) {
        const char *name = all[i].name;
        size_t len = strlen(name);
        bool total = len > 6 && strcmp(name + len - 6, "_total") == 0;
        assert_ptr_equal(metric_find(name), &all[i]); /* no name twice */
        assert_int_equal(total, all[i].type == METRIC_COUNTER);
        assert_true(strncmp(name, "lockstep_", 9) == 0 || strncmp(name, "process_", 8) == 0);
        for (int j = 0; j < METRIC_LABELS && all[i].labels[j] != NULL; j++) {
            assert_string_not_equal(all[i].labels[j], "job"); /* the scrape has them */
            assert_string_not_equal(all[i].labels[j], "instance");
        }
    }
    assert_null(metric_find("lockstep_none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_counts_by_queue_type_and_outcome),
        cmocka_unit_test(what_a_label_may_not_have_is_escaped),
        cmocka_unit_test(a_reason_is_there_with_0_before_the_first_rejection),
        cmocka_unit_test(reasons_beyond_the_last_place_share_it),
        cmocka_unit_test(firings_count_with_their_lateness_if_it_is_known),
        cmocka_unit_test(statistics_of_librdkafka_become_metrics),
        cmocka_unit_test(nothing_is_made_of_what_is_no_statistics),
        cmocka_unit_test(no_tally_counts_nothing),
        cmocka_unit_test(a_queue_is_ready_when_nothing_is_said_against_it),
        cmocka_unit_test(the_start_of_the_process_does_not_change),
        cmocka_unit_test(the_descriptors_are_counted_when_there_are_no_more),
        cmocka_unit_test(names_are_those_that_prometheus_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

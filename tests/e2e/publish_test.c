/* Publishing against a real PostgreSQL and a real Kafka.
 * ctest: timeout=180 */
#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/producer.h"
#include "producer/publish.h"
#include "task/message.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS  30000
#define STREAMED 200000
/* A sanitizer keeps what is freed, so memory says nothing then. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif !defined(SANITIZED)
#define SANITIZED false
#endif

#define STREAM_MAX_KB 50000

static const char *conninfo, *queue, *topic;
static struct kafka_properties props;
static struct db *db;
static struct err err;
static struct publish_options options;
static struct publish_result result;
static char path[64];

static void make_queue(const char *topic_name, int partition)
{
    queue = support_name("q");
    topic = topic_name;
    support_exec(db, "INSERT INTO lockstep.queue (name, topic, partition) VALUES ('%s', '%s', %d)",
                 queue, topic, partition);
    options = (struct publish_options){.conninfo = conninfo,
                                       .kafka = &props,
                                       .queue = queue,
                                       .path = path,
                                       .wait_timeout_ms = WAIT_MS};
}

static int begin_all(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    conninfo = support_database();
    support_properties(&props);
    return 0;
}

static int end_all(void **state)
{
    (void)state;
    kafka_properties_done(&props);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    db = support_db();
    (void)snprintf(path, sizeof path, "/tmp/publish_test.XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        return -1;
    make_queue(support_topic(), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)unlink(path);
    db_close(db);
    support_no_advisory_locks();
    return 0;
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum rc publish(void)
{
    return publish_run(&options, &result, &err);
}

/* ---- what the topic holds ---- */

struct readback {
    struct message **at;
    int64_t *offsets;
    int count, room;
};

static void read_record(struct readback *all, const struct kafka_record *record)
{
    struct err why;
    if (all->count == all->room) {
        all->room = all->room > 0 ? 2 * all->room : 64;
        all->at = xrealloc(all->at, (size_t)all->room, sizeof *all->at);
        all->offsets = xrealloc(all->offsets, (size_t)all->room, sizeof *all->offsets);
    }
    all->offsets[all->count] = record->offset;
    assert_ok(
        message_parse(record->value, record->value_len, MESSAGE_RECORD, &all->at[all->count], &why),
        &why);
    all->count++;
}

/** Everything that is committed, from the start to the end of the topic. */
static struct readback read_topic(void)
{
    struct readback all = {0};
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_ok(kafka_consumer_open(&props, wake_fd, &consumer, &err), &err);
    assert_ok(kafka_source_open(consumer, topic, 0, &source, &err), &err);
    assert_ok(kafka_source_assign(source, 0, &err), &err);
    int64_t until_us = clock_boot_us() + WAIT_MS * 1000;
    while (clock_boot_us() < until_us) {
        struct kafka_record record;
        enum rc rc = kafka_source_poll(source, &record, &err);
        if (rc == RC_OK) {
            read_record(&all, &record);
            kafka_record_free(&record);
            continue;
        }
        assert_rc(rc, RC_NONE, &err);
        if (kafka_source_end(source) >= 0)
            break;
        struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
        uint64_t count;
        if (poll(&wake, 1, 100) > 0)
            (void)!read(wake_fd, &count, sizeof count);
    }
    assert_true(kafka_source_end(source) >= 0);
    kafka_source_close(source);
    kafka_consumer_close(consumer);
    (void)close(wake_fd);
    return all;
}

static void free_readback(struct readback *all)
{
    for (int i = 0; i < all->count; i++)
        message_free(all->at[i]);
    free(all->at);
    free(all->offsets);
}

static void expect_empty_topic(void)
{
    struct readback all = read_topic();
    assert_int_equal(all.count, 0);
    free_readback(&all);
}

/** "order<previous_order seq sql" of each record, the end as "end TASKS PHASES". */
static void expect_topic(const char *expected)
{
    struct readback all = read_topic();
    STR_AUTO text = {0};
    for (int i = 0; i < all.count; i++) {
        const struct message *msg = all.at[i];
        assert_string_equal(msg->run, result.run);
        if (msg->type == MESSAGE_END)
            str_format(&text, "%" PRId64 ":end %" PRId64 " %" PRId64 "%s\n", msg->seq,
                       msg->end_tasks, msg->end_phases, msg->aborted ? " aborted" : "");
        else
            str_format(&text, "%" PRId64 ":%" PRId64 "<%" PRId64 " %s\n", msg->seq,
                       msg->previous_order, msg->order, msg->statements[0].sql);
    }
    assert_string_equal(text.data != NULL ? text.data : "", expected);
    free_readback(&all);
}

/* ---- what callbacks saw ---- */

struct seen {
    struct str text;
    int faults, calls;
    enum publish_stage act_at; /* the progress callback does act once at this stage of a run */
    void (*act)(struct seen *seen, const struct publish_progress *progress);
    struct kafka_producer *rival;
};

static void on_fault(void *context, const struct publish_fault *fault)
{
    struct seen *seen = context;
    seen->faults++;
    str_format(&seen->text, "%" PRId64 " %s\n", fault->line, fault->path);
}

static void on_phase(void *context, const struct publish_phase *phase)
{
    struct seen *seen = context;
    str_format(&seen->text, "%" PRId64 "<%" PRId64 " %" PRId64 "\n", phase->previous_order,
               phase->order, phase->tasks);
}

static void on_progress(void *context, const struct publish_progress *progress)
{
    struct seen *seen = context;
    if (progress->stage != seen->act_at || seen->act == NULL)
        return;
    if (seen->act_at != PUBLISH_LOCKING && progress->run[0] == '\0')
        return;
    seen->act(seen, progress);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static const char five_phases[] = "{\"order\":100,\"sql\":\"SELECT 1\"}\n"
                                  "{\"order\":100,\"sql\":\"SELECT 2\"}\n"
                                  "{\"order\":200,\"sql\":\"SELECT 3\"}\n"
                                  "{\"order\":9223372036854775807,\"sql\":\"SELECT 4\"}\n";
static const char five_phases_tagged[] = "0:0<100 SELECT 1\n"
                                         "1:0<100 SELECT 2\n"
                                         "2:100<200 SELECT 3\n"
                                         "3:200<9223372036854775807 SELECT 4\n"
                                         "4:end 4 3\n";

static void a_sorted_file_comes_out_tagged(void **state)
{
    (void)state;
    write_file(five_phases);
    options.name = "first";
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
    assert_int_equal(result.first_offset, 0);
    assert_int_equal(result.last_offset, 4);
    assert_int_equal(
        support_int(db,
                    "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) "
                    "WHERE run_id = '%s' AND q.name = '%s' AND run.name = 'first' AND "
                    "status = 'Publishing' AND published_at IS NOT NULL AND "
                    "publish_acked_seq = 4 AND publish_acked_offset = 4 AND "
                    "length(publish_digest) = 32 AND run.on_failure = 'stop'",
                    result.run, queue),
        1);
}

static void an_unsorted_file_comes_out_the_same(void **state)
{
    (void)state;
    write_file("{\"order\":200,\"sql\":\"SELECT 3\"}\n"
               "{\"order\":9223372036854775807,\"sql\":\"SELECT 4\"}\n"
               "{\"order\":100,\"sql\":\"SELECT 1\"}\n"
               "{\"order\":100,\"sql\":\"SELECT 2\"}\n");
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_csv_file_comes_out_the_same(void **state)
{
    (void)state;
    write_file("sql,order\nSELECT 3,200\nSELECT 1,100\nSELECT 4,9223372036854775807\n"
               "SELECT 2,100\n");
    options.format = PUBLISH_CSV;
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_query_comes_out_the_same(void **state)
{
    (void)state;
    options.path = NULL;
    options.query = "SELECT * FROM (VALUES ('SELECT 3', 200), ('SELECT 1', 100), ('SELECT 4', "
                    "9223372036854775807), ('SELECT 2', 100)) AS v (sql, execution_order)";
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
}

static void a_sorted_stream_comes_out_the_same(void **state)
{
    (void)state;
    write_file(five_phases);
    options.stream = true;
    assert_ok(publish(), &err);
    expect_topic(five_phases_tagged);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
}

static void a_query_is_streamed_batch_by_batch(void **state)
{
    (void)state;
    options.path = NULL;
    options.query = "SELECT 1 + i / 1000 AS \"order\", 'SELECT ' || i AS sql "
                    "FROM generate_series(0, 2499) AS i";
    options.stream = true;
    assert_ok(publish(), &err);
    struct readback all = read_topic();
    assert_int_equal(all.count, 2501);
    for (int i = 0; i < 2500; i++) {
        char sql[32];
        (void)snprintf(sql, sizeof sql, "SELECT %d", i);
        assert_int_equal(all.at[i]->seq, i);
        assert_string_equal(all.at[i]->statements[0].sql, sql);
    }
    assert_int_equal(all.at[2500]->end_phases, 3);
    free_readback(&all);
}

static void a_member_of_lockstep_producer_may_publish(void **state)
{
    (void)state;
    const char *user = support_name("pub");
    support_exec(db, "CREATE ROLE %s LOGIN IN ROLE lockstep_producer", user);
    write_file(five_phases);
    options.conninfo = support_conninfo_as(user);
    enum rc rc = publish();
    options.conninfo = conninfo;
    options.path = NULL;
    options.query = "SELECT 1 AS \"order\", 'SELECT 1' AS sql";
    options.conninfo = support_conninfo_as(user);
    struct publish_result second;
    struct err why;
    enum rc second_rc = publish_run(&options, &second, &why);
    assert_ok(rc, &err);
    assert_ok(second_rc, &why);
    assert_string_equal(
        support_text(db, "SELECT published_by FROM lockstep.run WHERE run_id = '%s'", result.run),
        user);
}

/* ---- what is refused ---- */

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
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING "
                                 "(queue_id) WHERE q.name = '%s'",
                                 queue),
                     0);
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
    options.resume = "5ec0de00-0000-4000-8000-000000000001";
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
    for (int tries = 0; tries < 1000 && rc != RC_OK; tries++)
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
    assert_rc(publish(), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_CONFIG);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\" is not in: %s", message, err.message);
    assert_string_not_equal(err.hint, "");
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

/* ---- one producer at a time ---- */

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

static void come_in_between(struct seen *seen, const struct publish_progress *progress)
{
    (void)progress;
    if (seen->rival == NULL)
        seen->rival = open_rival();
}

static void expect_cancelled_row(void)
{
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.run WHERE run_id = '%s' AND "
                                 "status = 'Cancelled' AND ended_at IS NOT NULL AND error <> ''",
                                 result.run),
                     1);
}

static void a_producer_that_is_fenced_leaves_nothing(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_SENDING, .act = come_in_between};
    write_file(five_phases);
    options.context = &seen;
    options.progress = on_progress;
    enum rc rc = publish();
    assert_int_not_equal(rc, RC_OK);
    assert_non_null(seen.rival);
    kafka_producer_close(seen.rival);
    expect_cancelled_row();
    expect_empty_topic();
}

static void end_publishers_session(struct seen *seen, const struct publish_progress *progress)
{
    (void)progress;
    if (seen->calls++ == 0)
        support_exec(db, "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks "
                         "WHERE locktype = 'advisory' AND classid = 1280507908");
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

/* ---- streams ---- */

static void write_sorted_lines(FILE *file, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(fprintf(file, "{\"order\":%d,\"sql\":\"SELECT %d\"}\n", 1 + i / 100, i) > 0);
}

static void an_unsorted_line_ends_a_stream_as_aborted(void **state)
{
    (void)state;
    struct seen seen = {0};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_sorted_lines(file, 6000);
    assert_true(fputs("{\"order\":5,\"sql\":\"SELECT 1\"}\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    options.stream = true;
    options.context = &seen;
    options.fault = on_fault;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.object, ":6001"));
    assert_non_null(strstr(err.message, "order 5 comes after 60"));
    assert_non_null(strstr(err.detail, "aborted"));
    assert_string_equal(seen.text.data, "6001 $.order\n");
    str_done(&seen.text);
    struct readback all = read_topic();
    assert_in_range(all.count, 2, 6000);
    assert_int_equal(result.tasks, all.count - 1);
    for (int i = 0; i < all.count; i++)
        assert_int_equal(all.at[i]->seq, i);
    assert_int_equal(all.at[all.count - 1]->type, MESSAGE_END);
    assert_true(all.at[all.count - 1]->aborted);
    free_readback(&all);
    assert_string_equal(
        support_text(db, "SELECT status FROM lockstep.run WHERE run_id = '%s'", result.run),
        "Publishing"); /* the executors end it */
}

static void a_bad_first_line_of_a_stream_leaves_nothing(void **state)
{
    (void)state;
    write_file("{\"order\":0,\"sql\":\"SELECT 1\"}\n");
    options.stream = true;
    assert_rc(publish(), RC_REJECT, &err);
    assert_string_equal(result.run, "");
    assert_non_null(strstr(err.object, ":1"));
    expect_empty_topic();
}

/** Streams one line of a pipe that stays open. */
static enum rc publish_from_pipe(bool (*cancelled)(void *))
{
    int ends[2], saved = dup(STDIN_FILENO);
    static const char line[] = "{\"order\":1,\"sql\":\"SELECT 1\"}\n";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], line, sizeof line - 1), sizeof line - 1);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    options.path = "-";
    options.stream = true;
    options.cancelled = cancelled;
    enum rc rc = publish();
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void)close(saved);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return rc;
}

static bool once_committed(void *context)
{
    (void)context;
    return support_int(db,
                       "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) "
                       "WHERE q.name = '%s' AND publish_acked_seq = 0",
                       queue) == 1;
}

static void a_stream_that_stalls_is_committed_and_when_cancelled_ended_as_aborted(void **state)
{
    (void)state;
    assert_rc(publish_from_pipe(once_committed), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    expect_topic("0:0<1 SELECT 1\n1:end -1 -1 aborted\n");
}

static void a_stream_cancelled_before_its_first_commit_leaves_nothing(void **state)
{
    (void)state;
    assert_rc(publish_from_pipe(always), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_CANCELLED);
    expect_cancelled_row();
    expect_empty_topic();
}

/** The other process of the test below: streams its standard input; its exit code says what was wrong. */
static int stream_here(char **argv)
{
    struct err why;
    struct kafka_properties own = {0};
    struct publish_result told;
    if (kafka_properties_set(&own, "bootstrap.servers", argv[3], &why) != RC_OK)
        return 10;
    const struct publish_options stream = {.conninfo = argv[1],
                                           .kafka = &own,
                                           .queue = argv[2],
                                           .path = "-",
                                           .stream = true,
                                           .lock_wait_ms = 0};
    enum rc rc = publish_run(&stream, &told, &why);
    kafka_properties_done(&own);
    if (rc != RC_OK) {
        (void)fprintf(stderr, "%s %s: %s\n", rc_name(rc), why.object, why.message);
        return 11;
    }
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long peak_kb = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &peak_kb);
    if (status != NULL)
        (void)fclose(status);
    (void)fprintf(stderr, "peak %ld kB for %" PRId64 " tasks\n", peak_kb, told.tasks);
    if (!SANITIZED && peak_kb > STREAM_MAX_KB)
        return 12;
    return peak_kb > 0 ? 0 : 13;
}

static void a_long_stream_takes_constant_memory(void **state)
{
    (void)state;
    int ends[2];
    char self[256];
    assert_int_equal(pipe(ends), 0);
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(len > 0);
    self[len] = '\0';
    char *const argv[] = {self, (char *)(uintptr_t)conninfo, (char *)(uintptr_t)queue,
                          (char *)(uintptr_t)support_brokers(), NULL};
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(ends[0], STDIN_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execv(self, argv);
        _exit(14);
    }
    (void)close(ends[0]);
    FILE *file = fdopen(ends[1], "w");
    assert_non_null(file);
    write_sorted_lines(file, STREAMED);
    assert_int_equal(fclose(file), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);

    struct readback all = read_topic();
    assert_int_equal(all.count, STREAMED + 1);
    int gaps = 0; /* each transaction leaves one offset for its marker */
    for (int i = 0; i < all.count; i++) {
        assert_int_equal(all.at[i]->seq, i);
        gaps += i > 0 && all.offsets[i] != all.offsets[i - 1] + 1;
    }
    assert_in_range(gaps, STREAMED / 5000 - 1, STREAMED);
    assert_int_equal(all.at[STREAMED]->end_tasks, STREAMED);
    assert_int_equal(all.at[STREAMED]->end_phases, STREAMED / 100);
    free_readback(&all);
}

/* ---- looking and waiting ---- */

static void a_dry_run_shows_the_phases_and_publishes_nothing(void **state)
{
    (void)state;
    struct seen seen = {0};
    write_file(five_phases);
    options.dry_run = options.wait = true;
    options.context = &seen;
    options.phase = on_phase;
    assert_ok(publish(), &err);
    assert_string_equal(seen.text.data, "0<100 2\n100<200 1\n200<9223372036854775807 1\n");
    str_done(&seen.text);
    assert_int_equal(result.tasks, 4);
    assert_int_equal(result.phases, 3);
    assert_string_equal(result.run, "");
    assert_int_equal(support_int(db,
                                 "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING "
                                 "(queue_id) WHERE q.name = '%s'",
                                 queue),
                     0);
    expect_empty_topic();
}

static void complete_run(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db,
                     "UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() "
                     "WHERE run_id = '%s'; SELECT pg_notify('lockstep_' || queue_id, 'run') FROM "
                     "lockstep.queue WHERE name = '%s'",
                     progress->run, queue);
}

static void fail_run(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db,
                     "UPDATE lockstep.run SET status = 'Failed', error = 'phase 200 failed', "
                     "ended_at = clock_timestamp() WHERE run_id = '%s'",
                     progress->run);
}

static void waiting_returns_when_the_run_is_completed(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = complete_run};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_ok(publish(), &err);
    assert_string_equal(result.status, "Completed");
}

static void waiting_tells_why_the_run_failed(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = fail_run};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.message, "phase 200 failed"));
    assert_string_equal(result.status, "Failed");
}

static void waiting_ends_with_its_time(void **state)
{
    (void)state;
    write_file(five_phases);
    options.wait = true;
    options.wait_timeout_ms = 1;
    assert_rc(publish(), RC_RETRY, &err);
    assert_int_equal(err.kind, ERR_TIMEOUT);
    assert_string_not_equal(result.run, "");
    expect_topic(five_phases_tagged);
}

static void end_waiters_session(struct seen *seen, const struct publish_progress *progress)
{
    if (seen->calls++ == 0)
        support_exec(db, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE "
                         "application_name = 'lockstep/producer' AND datname = current_database()");
    else
        fail_run(&(struct seen){0}, progress);
}

static void waiting_survives_the_loss_of_its_session(void **state)
{
    (void)state;
    struct seen seen = {.act_at = PUBLISH_WAITING, .act = end_waiters_session};
    write_file(five_phases);
    options.wait = true;
    options.context = &seen;
    options.progress = on_progress;
    assert_rc(publish(), RC_REJECT, &err);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_true(seen.calls >= 2);
}

#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(int argc, char **argv)
{
    if (argc == 4)
        return stream_here(argv);
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(a_sorted_file_comes_out_tagged),
        WITH_QUEUE(an_unsorted_file_comes_out_the_same),
        WITH_QUEUE(a_csv_file_comes_out_the_same),
        WITH_QUEUE(a_query_comes_out_the_same),
        WITH_QUEUE(a_sorted_stream_comes_out_the_same),
        WITH_QUEUE(a_query_is_streamed_batch_by_batch),
        WITH_QUEUE(a_member_of_lockstep_producer_may_publish),
        WITH_QUEUE(everything_wrong_with_a_file_is_told_and_nothing_published),
        WITH_QUEUE(at_most_a_hundred_errors_are_told_one_by_one),
        WITH_QUEUE(an_empty_source_is_refused_in_both_modes),
        WITH_QUEUE(a_query_is_refused_with_its_row_or_column),
        WITH_QUEUE(an_id_that_the_queue_has_is_refused),
        WITH_QUEUE(options_that_contradict_each_other_are_refused),
        WITH_QUEUE(a_topic_that_is_not_fit_is_refused),
        WITH_QUEUE(a_queue_of_another_partition_is_published_to_there),
        WITH_QUEUE(a_task_larger_than_the_producer_sends_is_refused_with_its_line),
        WITH_QUEUE(a_second_producer_is_held),
        WITH_QUEUE(a_second_producer_waits_and_then_publishes),
        WITH_QUEUE(what_a_predecessor_left_open_is_aborted),
        WITH_QUEUE(what_a_killed_predecessor_left_is_ended),
        WITH_QUEUE(a_producer_that_is_fenced_leaves_nothing),
        WITH_QUEUE(a_producer_that_lost_its_lock_stops_and_leaves_nothing),
        WITH_QUEUE(an_unsorted_line_ends_a_stream_as_aborted),
        WITH_QUEUE(a_bad_first_line_of_a_stream_leaves_nothing),
        WITH_QUEUE(a_stream_that_stalls_is_committed_and_when_cancelled_ended_as_aborted),
        WITH_QUEUE(a_stream_cancelled_before_its_first_commit_leaves_nothing),
        WITH_QUEUE(a_long_stream_takes_constant_memory),
        WITH_QUEUE(a_dry_run_shows_the_phases_and_publishes_nothing),
        WITH_QUEUE(waiting_returns_when_the_run_is_completed),
        WITH_QUEUE(waiting_tells_why_the_run_failed),
        WITH_QUEUE(waiting_ends_with_its_time),
        WITH_QUEUE(waiting_survives_the_loss_of_its_session),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}

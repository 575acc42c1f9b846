/**
 * What: shared by the tests in this folder: reading with a time limit; with it comes publishing
 *   (tests/kafka/writing.h).
 * Invariants: waiting is poll(2) on the eventfd that librdkafka signals, never a sleep.
 * Threads: the test's own.
 * Ownership: struct reader owns its consumer and its eventfd; its source is the first one on that
 *   consumer.
 * Failure: the test fails with the error's text.
 */
#ifndef TESTS_KAFKA_READING_H
#define TESTS_KAFKA_READING_H

#include "tests/kafka/writing.h"
#include "tests/support/support.h"

#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/kafka.h"
#include "kafka/source.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct reader {
    struct kafka_properties props;
    int fd;
    struct kafka_consumer *consumer;
    struct kafka_source *source;
};

/** property: NULL: none. */
static inline struct reader reader_open_with(const char *topic, const char *property,
                                             const char *value)
{
    struct reader reader = {.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    struct err err;
    assert_true(reader.fd >= 0);
    support_properties(&reader.props);
    if (property != NULL)
        assert_ok(kafka_properties_set(&reader.props, property, value, &err), &err);
    assert_ok(kafka_consumer_open(&reader.props, reader.fd, &reader.consumer, &err), &err);
    assert_ok(kafka_source_open(reader.consumer, topic, 0, &reader.source, &err), &err);
    return reader;
}

static inline struct reader reader_open(const char *topic)
{
    return reader_open_with(topic, NULL, NULL);
}

static inline void reader_close(struct reader *reader)
{
    kafka_source_close(reader->source);
    kafka_consumer_close(reader->consumer);
    kafka_properties_done(&reader->props);
    close(reader->fd);
}

/** The source's next answer that is not RC_NONE; RC_NONE when until_end and the end is reached, or
 * after timeout_ms. */
static inline enum rc await_source(struct reader *reader, struct kafka_source *source,
                                   bool until_end, int timeout_ms, struct kafka_record *ret_record,
                                   struct err *err)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    for (;;) {
        enum rc rc = kafka_source_poll(source, ret_record, err);
        int64_t left_ms = (until_us - clock_boot_us()) / 1000;
        if (rc != RC_NONE || (until_end && kafka_source_end(source) >= 0) || left_ms <= 0)
            return rc;
        struct pollfd wake = {.fd = reader->fd, .events = POLLIN};
        uint64_t count;
        (void)poll(&wake, 1, (int)left_ms);
        if (wake.revents & POLLIN)
            assert_int_equal(read(reader->fd, &count, sizeof count), sizeof count);
        kafka_consumer_serve(reader->consumer);
    }
}

/** The next record must come, with this value. */
static inline int64_t read_value(struct reader *reader, struct kafka_source *source,
                                 const char *value)
{
    struct kafka_record record;
    struct err err;
    assert_rc(await_source(reader, source, false, WAIT_MS, &record, &err), RC_OK, &err);
    assert_int_equal(record.value_len, strlen(value));
    assert_memory_equal(record.value, value, record.value_len);
    int64_t offset = record.offset;
    kafka_record_free(&record);
    return offset;
}

/** No record may come before the end of the partition, which must be at offset. */
static inline void read_end(struct reader *reader, struct kafka_source *source, int64_t offset)
{
    struct kafka_record record;
    struct err err;
    assert_rc(await_source(reader, source, true, WAIT_MS, &record, &err), RC_NONE, &err);
    assert_int_equal(kafka_source_end(source), offset);
}

#endif

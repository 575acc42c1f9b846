/* bench_raw produce BROKERS TOPIC FILE: publishes the lines of FILE in one transaction, a call of
 * librdkafka for each. bench_raw produce-batches BROKERS TOPIC FILE: in calls of 64, as publish
 * does. bench_raw consume BROKERS TOPIC COUNT: reads COUNT records from the beginning. Both through
 * kafka/, so with Lockstep's own settings and nothing else of it, so this is the speed of
 * librdkafka alone. Prints the seconds from the first record to the end, connecting left out.
 *
 * Executors read with the same kafka/source.h, and publish sends as produce-batches does; the
 * difference to their own figures is the cost of parsing, claiming and recording. */
#include "base/clock.h"
#include "kafka/consumer.h"
#include "kafka/producer.h"
#include "kafka/source.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAIT_MS 30000

/** most: how many records librdkafka is given in a call. */
static enum rc write_records(struct kafka_producer *producer, const char *topic, FILE *lines,
                             int most, struct err *err)
{
    struct kafka_value values[KAFKA_MOST_VALUES] = {0};
    size_t sizes[KAFKA_MOST_VALUES] = {0};
    enum rc rc;
    int count;
    do {
        ssize_t len = 0;
        for (count = 0; count < most; count++) {
            len = getline(&values[count].bytes, &sizes[count], lines);
            if (len <= 0)
                break;
            values[count].len = (size_t)len - 1;
        }
        rc = most > 1 || count == 0 ? kafka_publish_values(producer, topic, 0, values, count, err)
                                    : kafka_publish(producer, topic, 0, NULL, 0, values[0].bytes,
                                                    values[0].len, NULL, err);
    } while (rc == RC_OK && count == most);
    for (int i = 0; i < most; i++)
        free(values[i].bytes);
    return rc;
}

static enum rc produce(const struct kafka_properties *props, const char *topic, FILE *lines,
                       int most, double *ret_seconds, struct err *err)
{
    struct kafka_producer *producer;
    enum rc rc = kafka_producer_open(props, topic, WAIT_MS, &producer, err);
    if (rc != RC_OK)
        return rc;
    /* The connections and the transactional id: they are made before the measurement begins. */
    rc = kafka_producer_meet(producer, topic, WAIT_MS, err);
    int64_t start_us = clock_boot_us();
    if (rc == RC_OK)
        rc = kafka_begin(producer, err);
    if (rc == RC_OK)
        rc = write_records(producer, topic, lines, most, err);
    if (rc == RC_OK)
        rc = kafka_commit(producer, WAIT_MS, err);
    *ret_seconds = (double)(clock_boot_us() - start_us) / 1e6;
    kafka_producer_close(producer);
    return rc;
}

static enum rc read_records(struct kafka_source *source, int wake_fd, long count,
                            double *ret_seconds, struct err *err)
{
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    enum rc rc = kafka_source_assign(source, 0, err);
    int64_t start_us = clock_boot_us();
    while (count > 0 && (rc == RC_OK || rc == RC_NONE)) {
        struct kafka_record record;
        uint64_t woken;
        rc = kafka_source_poll(source, &record, err);
        if (rc == RC_NONE &&
            (poll(&fd, 1, WAIT_MS) != 1 || read(wake_fd, &woken, sizeof woken) < 0))
            return err_set(err, RC_RETRY, ERR_TIMEOUT, "consume", NULL, "nothing came for 30 s");
        if (rc != RC_OK)
            continue;
        kafka_record_free(&record);
        count--;
    }
    *ret_seconds = (double)(clock_boot_us() - start_us) / 1e6;
    return rc == RC_NONE ? RC_OK : rc;
}

static enum rc consume(const struct kafka_properties *props, const char *topic, long count,
                       double *ret_seconds, struct err *err)
{
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), partitions;
    enum rc rc = kafka_consumer_open(props, wake_fd, &consumer, err);
    if (rc != RC_OK)
        return rc;
    rc = kafka_consumer_partitions(consumer, topic, WAIT_MS, &partitions, err);
    if (rc == RC_OK)
        rc = kafka_source_open(consumer, topic, 0, &source, err);
    if (rc == RC_OK) {
        rc = read_records(source, wake_fd, count, ret_seconds, err);
        kafka_source_close(source);
    }
    kafka_consumer_close(consumer);
    (void)close(wake_fd);
    return rc;
}

int main(int argc, char **argv)
{
    struct kafka_properties props = {0};
    struct err err = {0};
    double seconds = 0;
    if (argc != 5) {
        (void)fprintf(stderr, "usage: bench_raw produce|produce-batches BROKERS TOPIC FILE | "
                              "consume BROKERS TOPIC COUNT\n");
        return 2;
    }
    enum rc rc = kafka_properties_set(&props, "bootstrap.servers", argv[2], &err);
    if (rc == RC_OK && strncmp(argv[1], "produce", 7) == 0) {
        int most = strcmp(argv[1], "produce-batches") == 0 ? KAFKA_MOST_VALUES : 1;
        FILE *lines = fopen(argv[4], "re");
        if (lines == NULL) {
            perror(argv[4]);
            return 1;
        }
        rc = produce(&props, argv[3], lines, most, &seconds, &err);
        (void)fclose(lines);
    } else if (rc == RC_OK) {
        rc = consume(&props, argv[3], atol(argv[4]), &seconds, &err);
    }
    kafka_properties_done(&props);
    if (rc == RC_OK) {
        (void)printf("%.6f\n", seconds);
        return 0;
    }
    (void)fprintf(stderr, "bench_raw: %s: %s\n", err.object, err.message);
    return 1;
}

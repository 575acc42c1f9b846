/* The records of ./dev fuzz --live: fuzz_records BROKERS TOPIC COUNT SEED URL
 *
 * Publishes COUNT records to partition 0 and prints how many of them are good. One in seven is:
 * runs of their own with one phase, and its end. The others are what a producer gets wrong: fields
 * at their edges, bytes that were changed, scripts of the world, keys and headers of any bytes,
 * sizes up to the limit and beyond it, runs with holes, repetitions and ends that count wrong. The
 * same seed makes the same records.
 *
 * One record in eight is of a thicket, where each record may be of another kind, phase or run than
 * the one before: most claims there are of one or two records. The others are of stretches: up to
 * two thousand records of one phase, nearly all wrong or nearly all in order, and a long good run
 * behind them. There, claims are of many records, and so is what one record in a hundred breaks.
 *
 * What rightly holds up a queue is among them, for an operator (tests/fuzz/live.sh) to release: a
 * command that nobody knows, a task that is due in a thousand years, a run without an end, a run of
 * which nothing is known. URL is where http tasks go. */
#include "kafka/kafka.h"
#include "kafka/producer.h"
#include "tests/fuzz/loose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 30000
struct fuzz {
    struct kafka_producer *producer;
    const char *topic;
    size_t sent, most, good;
};

static void send(struct fuzz *fuzz, const struct str *record, bool plain)
{
    struct kafka_header headers[6] = {{0}};
    char names[5][16], values[5][80];
    struct err err;
    FREE_AUTO char *key = NULL;
    size_t key_len = 0, count = plain || random_one_in(2) ? 0 : random_below(5);
    for (size_t i = 0; i < count; i++) {
        static const char *const traces[] = {
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-x\r\nHost: evil.example",
            "00-\xff\xfe",
            "",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
        bool trace = random_one_in(2);
        size_t len = random_below(sizeof values[i]);
        for (size_t k = 0; k < sizeof values[i]; k++)
            values[i][k] = (char)random_next();
        for (size_t k = 0; k < sizeof names[i]; k++)
            names[i][k] = (char)(1 + random_below(255));
        names[i][1 + random_below(sizeof names[i] - 1)] = '\0';
        headers[i] = (struct kafka_header){names[i], random_one_in(10) ? NULL : values[i], len};
        if (trace) {
            const char *text_of = any_of(traces);
            headers[i] = (struct kafka_header){"traceparent", text_of, strlen(text_of)};
        }
    }
    if (!plain && random_one_in(2)) {
        key_len = random_one_in(2000) ? 900 * 1000 : random_below(200);
        if (record->len + key_len > BIG + 1000)
            key_len = 0;
        key = xmalloc(key_len + 1);
        for (size_t i = 0; i < key_len; i++)
            key[i] = (char)random_next();
    }
    bool tombstone = !plain && random_one_in(500);
    if (kafka_publish(fuzz->producer, fuzz->topic, 0, key, key_len, tombstone ? NULL : record->data,
                      tombstone ? 0 : record->len, headers, &err) != RC_OK) {
        (void)fprintf(stderr, "fuzz_records: %s\n", err.message);
        exit(1);
    }
    fuzz->sent++;
}

static void send_loose(struct fuzz *fuzz)
{
    STR_AUTO record = {0};
    if (random_one_in(2000))
        loose_large(&record);
    else
        loose_record(&record);
    if (record.data == NULL)
        str_text(&record, "");
    send(fuzz, &record, false);
}

static void run_name(char run[37])
{
    (void)snprintf(run, 37, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64,
                   random_next() & 0xffffffff, random_next() & 0xffff, random_next() & 0xfff,
                   random_next() & 0xfff, random_next() & 0xffffffffffff);
}

/* A run with an id: it begins and ends, and what is between is wrong now and then. A good one has
 * at most so many further tasks. */
static void send_run(struct fuzz *fuzz, bool good, size_t most)
{
    char run[37];
    STR_AUTO record = {0};
    run_name(run);
    str_format(&record,
               "{\"run\":\"%s\",\"seq\":0,\"order\":1,\"previous_order\":0,\"name\":\"%s\",\"sql\":"
               "\"SELECT 1\"}",
               run, good ? "good" : "begins");
    send(fuzz, &record, true); /* else nothing would be known of it */
    int64_t order = 1, seq = 1;
    for (size_t n = good ? random_below(most) : 0; n > 0; n--) {
        str_clear(&record);
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64
                   ",\"order\":1,\"previous_order\":0,\"name\":\"good\",\"sql\":\"SELECT 1\"}",
                   run, seq++);
        send(fuzz, &record, true);
    }
    for (size_t n = good ? 0 : random_below(6); n > 0; n--) {
        str_clear(&record);
        bool further = random_one_in(2);
        int64_t previous = further ? order : order - 1;
        order += further;
        if (random_one_in(4))
            seq += (int64_t)random_below(3) - 1;
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64 ",\"order\":%" PRId64
                   ",\"previous_order\":%" PRId64,
                   run, seq++, order, previous);
        loose_work(&record);
        if (random_one_in(4))
            loose_field(&record);
        str_text(&record, "}");
        send(fuzz, &record, false);
        if (random_one_in(8))
            send(fuzz, &record, false); /* twice */
        if (random_one_in(8))
            send_loose(fuzz); /* in between */
    }
    str_clear(&record);
    if (good)
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":%" PRId64 ",\"type\":\"end\",\"tasks\":%" PRId64
                   ",\"phases\":1}",
                   run, seq, seq);
    else /* this one ends it after any records */
        str_format(&record,
                   "{\"run\":\"%s\",\"seq\":9223372036854775805,\"type\":\"end\",\"aborted\":true}",
                   run);
    send(fuzz, &record, true);
    fuzz->good += good ? (size_t)seq : 0;
}

/* Tasks that wait for an operator: all of them are named "held". */
static void send_held(struct fuzz *fuzz)
{
    char run[37];
    STR_AUTO record = {0};
    run_name(run);
    switch (random_below(4)) {
    case 0:
        str_text(&record,
                 "{\"order\":1,\"previous_order\":0,\"name\":\"held\",\"sql\":\"SELECT 1\","
                 "\"not_before\":\"3026-11-23T00:00:00Z\"}");
        break;
    case 1:
        str_text(&record,
                 "{\"order\":1,\"previous_order\":0,\"name\":\"held\",\"command\":\"nosuch\"}");
        break;
    default: { /* of a run without its end, or without its beginning */
        size_t from = random_one_in(2) ? 0 : 3;
        for (size_t seq = from; seq < from + 2; seq++) {
            str_clear(&record);
            str_format(
                &record,
                "{\"run\":\"%s\",\"seq\":%zu,\"order\":1,\"previous_order\":0,\"name\":\"held\","
                "\"sql\":\"SELECT 1\"}",
                run, seq);
            send(fuzz, &record, true);
        }
        return;
    }
    }
    send(fuzz, &record, true);
}

static void send_thicket(struct fuzz *fuzz)
{
    loose_thicket();
    for (size_t n = random_below(400); n > 0 && fuzz->sent < fuzz->most; n--) {
        size_t kind = random_below(100);
        if (kind < 3)
            send_run(fuzz, true, 12);
        else if (kind < 6)
            send_run(fuzz, false, 0);
        else
            send_loose(fuzz);
    }
}

static void send_stretch(struct fuzz *fuzz)
{
    loose_stretch();
    while (loose_goes_on() && fuzz->sent < fuzz->most)
        send_loose(fuzz);
    send_run(fuzz, true, 300);
    send_run(fuzz, false, 0);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {0};
    struct kafka_properties props = {0};
    struct err err = {0};
    if (argc != 6) {
        (void)fprintf(stderr, "usage: fuzz_records BROKERS TOPIC COUNT SEED URL\n");
        return 2;
    }
    fuzz.topic = argv[2];
    fuzz.most = (size_t)strtoull(argv[3], NULL, 10);
    random_state = strtoull(argv[4], NULL, 10);
    loose_calls(argv[5]);
    enum rc rc = kafka_properties_set(&props, "bootstrap.servers", argv[1], &err);
    if (rc == RC_OK)
        rc = kafka_properties_set(&props, "message.max.bytes", "2000000", &err);
    if (rc == RC_OK)
        rc = kafka_producer_open(&props, NULL, WAIT_MS, &fuzz.producer, &err);
    if (rc == RC_OK)
        rc = kafka_producer_meet(fuzz.producer, fuzz.topic, WAIT_MS, &err);
    while (rc == RC_OK && fuzz.sent < fuzz.most) {
        if (random_one_in(3))
            send_thicket(&fuzz);
        else
            send_stretch(&fuzz);
        if (random_one_in(8))
            send_held(&fuzz);
    }
    if (rc == RC_OK)
        rc = kafka_flush(fuzz.producer, WAIT_MS, &err);
    if (rc != RC_OK)
        (void)fprintf(stderr, "fuzz_records: %s\n", err.message);
    if (fuzz.producer != NULL)
        kafka_producer_close(fuzz.producer);
    kafka_properties_done(&props);
    (void)printf("%zu %zu\n", fuzz.sent, fuzz.good);
    return rc == RC_OK ? 0 : 1;
}

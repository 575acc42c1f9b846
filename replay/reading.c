/* reading: from the topic to segments. Begin with reading_next(): it reads one record ahead,
 * because only the next record shows that a segment is complete. Records are treated as by an
 * executor (executor/stream.c, executor/claim.c: same_segment), so that a replay makes the same
 * rows as the first claim did. The range comes from range.c; whether a record is run is decided in
 * the database (run.c). */
#include "replay/reading.h"
#include "replay/report.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "kafka/source.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAKE_MS 500
/* A publish --stream at work commits within it, and the replay need not be continued for that. */
#define HIDDEN_US (5 * 1000 * 1000)

static void decoded_done(struct decoded *one)
{
    message_free(one->msg);
    one->msg = NULL;
    kafka_record_free(&one->record);
}

/* Decodes a record as an executor does (executor/receive.c), without keeping a copy. */
static void decode(struct decoded *one)
{
    const char *value = one->record.value != NULL ? one->record.value : "";
    one->seq = -1;
    one->run[0] = '\0';
    if (message_parse(value, one->record.value_len, MESSAGE_RECORD, &one->msg, &one->why) ==
        RC_OK) {
        one->seq = one->msg->seq;
        (void)snprintf(one->run, sizeof one->run, "%s", one->msg->run);
        return;
    }
    one->msg = NULL;
    if (message_peek(value, one->record.value_len, one->run, &one->seq) != RC_OK) {
        one->run[0] = '\0';
        one->seq = -1;
    }
}

/* An implicit run is named by no message: the messages without a run in its range are its own. */
static bool chosen(const struct reading *reading, const struct decoded *one)
{
    if (reading->run[0] != '\0' && (reading->implicit ? one->msg == NULL || one->run[0] != '\0'
                                                      : strcmp(one->run, reading->run) != 0))
        return false;
    return reading->order < 0 ||
           (one->msg != NULL && one->msg->type != MESSAGE_END && one->msg->order == reading->order);
}

enum rc reading_start(struct reading *reading, int64_t from, struct err *err)
{
    const struct replay_options *options = reading->options;
    int ignored;
    reading->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum rc rc = kafka_consumer_open(options->kafka, reading->wake_fd, &reading->consumer, err);
    if (rc == RC_OK)
        /* Fails within 10 s where Kafka does not answer. The source alone would wait for it without
         * an error. */
        rc = kafka_consumer_partitions(reading->consumer, options->topic, 10000, &ignored, err);
    if (rc == RC_OK)
        rc = kafka_source_open(reading->consumer, options->topic, options->partition,
                               &reading->source, err);
    reading->end = reading->to;
    return rc == RC_OK ? kafka_source_assign(reading->source, from, err) : rc;
}

static bool cancelled(const struct replay_options *options)
{
    return options->cancelled != NULL && options->cancelled(options->context);
}

/* Executors read committed records only, too. A hidden record that is not behind the queue's cursor
 * will be claimed by them, so a replay would skip it. */
static enum rc learn_live(struct reading *reading, int64_t end, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(reading->options->db, &sql_queue_find,
                        (const char *const[]){reading->options->queue}, &row, err);
    reading->live = rc == RC_OK && db_int(row, 0, QUEUE_FIND_NEXT_OFFSET) <= end;
    return rc == RC_NONE ? RC_OK : rc;
}

/* With read_committed the end is the last stable offset, which may be below `to`: an open
 * transaction of a producer hides the rest. Waiting for it could take as long as that producer
 * lives, so after a moment the caller learns how far the topic was readable. RC_OK: more may come.
 * RC_NONE: the reading ends here. */
static enum rc at_end(struct reading *reading, int64_t end, struct err *err)
{
    if (end < reading->to && reading->patient) {
        int64_t now_us = clock_boot_us();
        if (reading->hidden_us == 0 || reading->hidden != end) {
            enum rc rc = learn_live(reading, end, err);
            if (rc != RC_OK)
                return rc;
            reading->hidden = end;
            reading->hidden_us = now_us;
        }
        if (!reading->live && now_us - reading->hidden_us < HIDDEN_US)
            return RC_OK;
    }
    reading->end = end < reading->to ? end : reading->to;
    return RC_NONE;
}

/* The next record of the range, chosen or not. */
static enum rc poll_record(struct reading *reading, struct kafka_record *ret_record,
                           struct err *err)
{
    for (;;) {
        enum rc rc = kafka_source_poll(reading->source, ret_record, err);
        if (rc == RC_OK && ret_record->offset >= reading->to) {
            kafka_record_free(ret_record);
            /* An earlier end may have been that of a transaction which is over now. */
            reading->end = reading->to;
            return RC_NONE;
        }
        if (rc != RC_NONE)
            return rc;
        int64_t end = kafka_source_end(reading->source);
        if (end >= 0 && (rc = at_end(reading, end, err)) != RC_OK)
            return rc;
        if (cancelled(reading->options))
            return err_set(err, RC_RETRY, ERR_CANCELLED, reading->options->queue, NULL,
                           "cancelled");
        struct pollfd wake = {.fd = reading->wake_fd, .events = POLLIN};
        uint64_t count;
        (void)poll(&wake, 1, WAKE_MS);
        ssize_t ignored = read(reading->wake_fd, &count, sizeof count);
        (void)ignored;
        /* Errors of the client are logged here; the eventfd was read only so that poll() can sleep
         * again. */
        kafka_consumer_serve(reading->consumer);
    }
}

static enum rc fetch_ahead(struct reading *reading, struct err *err)
{
    while (!reading->has_ahead) {
        enum rc rc = poll_record(reading, &reading->ahead.record, err);
        if (rc != RC_OK)
            return rc;
        /* Also for a record that is then passed over: only the message has its run and order. */
        decode(&reading->ahead);
        if (chosen(reading, &reading->ahead))
            reading->has_ahead = true;
        else
            decoded_done(&reading->ahead);
    }
    return RC_OK;
}

/** The rules of same_segment in executor/claim.c, and the bounds of one statement. A reject is
 * always a segment by itself. */
static bool continues(const struct reading *reading)
{
    const struct decoded *a = &reading->segment[reading->count - 1], *b = &reading->ahead;
    return reading->count < SEGMENT_MOST && reading->bytes < SEGMENT_BYTES && a->msg != NULL &&
           b->msg != NULL && a->msg->type != MESSAGE_END && b->msg->type == a->msg->type &&
           strcmp(a->run, b->run) == 0 && a->msg->order == b->msg->order &&
           a->msg->previous_order == b->msg->previous_order &&
           (a->seq < 0 ? b->seq < 0 : b->seq == a->seq + 1);
}

/** At the end of the range the last segment is returned first, and RC_NONE by the next call. */
enum rc reading_next(struct reading *reading, struct err *err)
{
    enum rc rc;
    /* The segment before lives until here, so its caller needs no copy. */
    while (reading->count > 0)
        decoded_done(&reading->segment[--reading->count]);
    reading->bytes = 0;
    while ((rc = fetch_ahead(reading, err)) == RC_OK &&
           (reading->count == 0 || continues(reading))) {
        reading->bytes += reading->ahead.record.value_len;
        reading->segment[reading->count++] = reading->ahead;
        reading->has_ahead = false;
        reading->ahead = (struct decoded){0};
    }
    return rc == RC_NONE && reading->count > 0 ? RC_OK : rc;
}

void reading_done(struct reading *reading)
{
    while (reading->count > 0)
        decoded_done(&reading->segment[--reading->count]);
    if (reading->has_ahead)
        decoded_done(&reading->ahead);
    if (reading->source != NULL)
        kafka_source_close(reading->source);
    if (reading->consumer != NULL)
        kafka_consumer_close(reading->consumer);
    /* 0: the reading was never started. */
    if (reading->wake_fd > 0)
        (void)close(reading->wake_fd);
    free(reading->runs);
    free(reading->run_slots);
}

enum segment_kind reading_kind(const struct reading *reading)
{
    const struct message *msg = reading->segment[0].msg;
    return msg == NULL ? SEGMENT_REJECT : msg->type == MESSAGE_END ? SEGMENT_END : SEGMENT_TASK;
}

const char *reading_kind_name(const struct reading *reading)
{
    static const char *const names[] = {"task", "end", "reject"};
    return names[reading_kind(reading)];
}

/** Open addressing; 0 is an empty slot, else the slot is the place in runs plus 1. The table has
 * twice as many slots as runs, so an empty one is always found. */
static int *met_slot(struct reading *reading, const char *run)
{
    uint32_t at = replay_hash(run, 0);
    for (;; at++) {
        int *slot = &reading->run_slots[at % (uint32_t)reading->run_slot_count];
        if (*slot == 0 || strcmp(reading->runs[*slot - 1].run, run) == 0)
            return slot;
    }
}

struct met *reading_met(struct reading *reading)
{
    const char *run = reading->segment[0].run;
    if (*run == '\0' || reading->run_count == 0)
        return NULL;
    int slot = *met_slot(reading, run);
    return slot > 0 ? &reading->runs[slot - 1] : NULL;
}

/** Kept for the whole range: a run may have its records in several segments, with those of other
 * runs between. */
void reading_meet(struct reading *reading, bool cut)
{
    const char *run = reading->segment[0].run;
    if (*run == '\0' || reading_met(reading) != NULL)
        return;
    if (reading->run_count == reading->run_cap) {
        reading->run_cap = reading->run_cap > 0 ? reading->run_cap * 2 : 64;
        reading->runs = xrealloc(reading->runs, (size_t)reading->run_cap, sizeof *reading->runs);
        free(reading->run_slots);
        reading->run_slot_count = reading->run_cap * 2;
        reading->run_slots = xcalloc((size_t)reading->run_slot_count, sizeof *reading->run_slots);
        for (int i = 0; i < reading->run_count; i++)
            *met_slot(reading, reading->runs[i].run) = i + 1;
    }
    struct met *met = &reading->runs[reading->run_count];
    *met = (struct met){.cut = cut};
    (void)snprintf(met->run, sizeof met->run, "%s", run);
    *met_slot(reading, run) = ++reading->run_count;
}

static void add_text(struct str *array, const char *text)
{
    db_array_text(array, text, text != NULL ? strlen(text) : 0);
}

static void add_headers(const struct decoded *one, struct str arrays[ARRAYS])
{
    struct kafka_header header;
    for (size_t i = 0; kafka_record_header(&one->record, i, &header); i++) {
        STR_AUTO name = {0};
        /* The name of a header may be any bytes, and PostgreSQL takes only UTF-8. */
        utf8_escape(&name, header.name);
        add_text(&arrays[HEADER_NAMES], name.data != NULL ? name.data : "");
        db_array_bytes(&arrays[HEADER_VALUES], header.value, header.value_len);
        db_array_int(&arrays[HEADER_OFFSETS], one->record.offset);
    }
}

void reading_arrays(const struct reading *reading, struct str arrays[ARRAYS])
{
    for (int i = 0; i < ARRAYS; i++)
        db_array_start(&arrays[i]);
    for (int i = 0; i < reading->count; i++) {
        const struct decoded *one = &reading->segment[i];
        const struct message *msg = one->msg;
        db_array_int(&arrays[OFFSETS], one->record.offset);
        if (one->seq >= 0)
            db_array_int(&arrays[SEQS], one->seq);
        else
            add_text(&arrays[SEQS], NULL);
        /* NULL for a reject, whose bytes may not be text: they go as bytea (send_step). */
        db_array_text(&arrays[PAYLOADS], msg != NULL ? one->record.value : NULL,
                      one->record.value_len);
        add_text(&arrays[NAMES], msg != NULL ? msg->name : NULL);
        if (msg != NULL && msg->max_attempts > 0)
            db_array_int(&arrays[ATTEMPTS], msg->max_attempts);
        else
            add_text(&arrays[ATTEMPTS], NULL);
        add_text(&arrays[TRACES], one->record.traceparent);
        db_array_bytes(&arrays[KEYS], one->record.key, one->record.key_len);
        add_headers(one, arrays);
    }
    for (int i = 0; i < ARRAYS; i++)
        db_array_end(&arrays[i]);
}

/* The buffer between Kafka and the claims: a ring of records, parsed on arrival. receive.c fills it
 * and claim.c drops what is claimed, also what other executors claimed. Nothing here is a state
 * that must survive: a lost buffer is read again from the cursor. */
#include "executor/stream.h"

#include "executor/headers.h"
#include "executor/lane.h"
#include "executor/record.h"

#include "base/memory.h"
#include "db/db.h"
#include "kafka/source.h"
#include "task/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sixteen claims of the largest size (CLAIM_MOST), and a bound on memory for large messages. One
 * record may be larger than BUFFER_BYTES: the buffer is full behind it, not before it. */
#define BUFFER_RECORDS 4096
#define BUFFER_BYTES   (8 * 1024 * 1024)

void stream_open(struct stream *stream)
{
    stream->buffer_cap = BUFFER_RECORDS;
    stream->buffer = xcalloc(BUFFER_RECORDS, sizeof *stream->buffer);
}

/* A row without a last record gives -1: there is nothing to compare. */
void stream_read(struct stream *stream, const struct db_result *row)
{
    stream->cursor = db_int(row, 0, EXECUTOR_QUEUE_NEXT_OFFSET);
    stream->check_offset = db_null(row, 0, EXECUTOR_QUEUE_LAST_OFFSET)
                               ? -1
                               : db_int(row, 0, EXECUTOR_QUEUE_LAST_OFFSET);
    stream->check_timestamp = db_int(row, 0, EXECUTOR_QUEUE_LAST_TIMESTAMP);
    (void)snprintf(stream->check_digest, sizeof stream->check_digest, "%s",
                   db_text(row, 0, EXECUTOR_QUEUE_LAST_DIGEST));
}

/* buffer_from is the cursor, also where the record before it is read first: that record is claimed
 * already, is only compared, and is not kept (receive.c, take_records). */
void stream_begin(struct stream *stream, bool check, int64_t now_us)
{
    stream->buffer_from = stream->cursor;
    stream->assigned_us = now_us;
    stream->state = check ? SOURCE_CHECKING : SOURCE_READING;
}

void stream_turn(struct stream *stream, enum source_state state)
{
    stream->state = state;
}

void stream_back(struct stream *stream, int64_t cursor)
{
    stream->cursor = cursor;
}

static void buffered_done(struct buffered *buffered)
{
    free(buffered->value);
    free(buffered->key);
    free(buffered->traceparent);
    free(buffered->headers);
    message_free(buffered->msg);
    *buffered = (struct buffered){0};
}

/* What it takes of the buffer's bound: all that a record brings. */
static size_t buffered_bytes(const struct buffered *buffered)
{
    return buffered->value_len + buffered->key_len + buffered->headers_len +
           (buffered->traceparent != NULL ? TRACEPARENT_LEN : 0);
}

static void drop_head(struct stream *stream)
{
    struct buffered *buffered = stream_head(stream, 0);
    stream->buffer_from = buffered->offset + 1;
    stream->buffer_bytes -= buffered_bytes(buffered);
    buffered_done(buffered);
    stream->buffer_first = (stream->buffer_first + 1) % stream->buffer_cap;
    stream->buffer_count--;
}

void stream_drop(struct stream *stream, int64_t below)
{
    while (stream->buffer_count > 0 && stream_head(stream, 0)->offset < below)
        drop_head(stream);
    /* Offsets between the last record and `below` are control records or were claimed by others:
     * the buffer is complete from there on all the same. */
    if (stream->buffer_from < below)
        stream->buffer_from = below;
    if (stream->cursor < below)
        stream->cursor = below;
}

void stream_clear(struct stream *stream)
{
    while (stream->buffer_count > 0)
        drop_head(stream);
}

void stream_leave(struct stream *stream)
{
    stream->state = SOURCE_STOPPED;
    if (stream->source != NULL)
        kafka_source_close(stream->source);
    stream->source = NULL;
}

void stream_close(struct stream *stream)
{
    stream_clear(stream);
    free(stream->buffer);
    stream->buffer = NULL;
    stream_leave(stream);
}

bool stream_full(const struct stream *stream)
{
    return stream->buffer_count == stream->buffer_cap || stream->buffer_bytes >= BUFFER_BYTES;
}

/* A record that does not parse is kept with its bytes: it becomes a rejected row, in its place
 * between the others. message_peek() looks for run and seq in it, because a rejected message of a
 * run that names its seq explains the gap that it leaves (tests/sql/claim.sql). */
void stream_append(struct stream *stream, const struct kafka_record *record)
{
    struct buffered *buffered = stream_head(stream, stream->buffer_count++);
    *buffered = (struct buffered){.offset = record->offset,
                                  .timestamp_ms = record->timestamp_ms,
                                  .seq = -1,
                                  .tombstone = record->value == NULL,
                                  .value_len = record->value_len,
                                  .key_len = record->key_len};
    buffered->value = xmalloc(record->value_len + 1);
    if (record->value_len > 0)
        memcpy(buffered->value, record->value, record->value_len);
    buffered->value[record->value_len] = '\0';
    if (record->key != NULL) {
        buffered->key = xmalloc(record->key_len + 1);
        memcpy(buffered->key, record->key, record->key_len);
    }
    if (record->traceparent != NULL)
        buffered->traceparent = xstrdup(record->traceparent);
    buffered->headers = headers_pack(record, &buffered->headers_len);
    kafka_record_digest(record, buffered->digest);
    stream->buffer_bytes += buffered_bytes(buffered);
    if (message_parse(buffered->value, buffered->value_len, MESSAGE_RECORD, &buffered->msg,
                      &buffered->why) == RC_OK) {
        buffered->seq = buffered->msg->seq;
        memcpy(buffered->run, buffered->msg->run, sizeof buffered->run);
    } else {
        buffered->msg = NULL;
        enum rc rc =
            message_peek(buffered->value, buffered->value_len, buffered->run, &buffered->seq);
        if (rc != RC_OK) {
            buffered->run[0] = '\0';
            buffered->seq = -1;
        }
    }
    stream->unread = stream_full(stream);
}

void stream_fill(struct stream *stream)
{
    stream->unread = false;
}

struct message *buffered_take_message(struct buffered *buffered)
{
    struct message *msg = buffered->msg;
    buffered->msg = NULL;
    return msg;
}

/* kafka_source_end() is negative while the source is not known to be at the end. */
bool stream_at_end(const struct stream *stream)
{
    return stream->buffer_count == 0 && stream->state == SOURCE_READING &&
           kafka_source_end(stream->source) >= 0;
}

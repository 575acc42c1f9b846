/**
 * What: the stream of a lane: where it reads its partition, and the records that it has read and nobody has claimed yet.
 * Invariants: the buffer is complete from buffer_from on, in the order of offsets.
 * Threads: control.
 * Ownership: embedded in the lane; only stream.c writes it. Owns the records and the source.
 * Failure: -
 */
#ifndef EXECUTOR_STREAM_H
#define EXECUTOR_STREAM_H

#include "kafka/source.h"
#include "task/message.h"

struct db_result;

/** What is recorded of a rejected record; less each time that the database refuses it (refusal.c). */
enum said {
    SAID_ALL,
    SAID_FIXED,  /* a fixed text says why */
    SAID_NOTHING /* nor its bytes, key, headers, run, seq */
};

/** One record of the topic, decoded. */
struct held {
    int64_t offset, timestamp_ms, seq;
    unsigned char digest[16];
    char *value, *key; /* owned; value is text with a NUL at its end */
    size_t value_len, key_len;
    bool tombstone; /* the record has no value at all */
    char *traceparent;
    char *headers; /* packed by headers_pack, NULL: none; only a rejected record needs them */
    size_t headers_len;
    struct message *msg; /* NULL: rejected */
    char run[37];
    struct err why; /* rejected: why */
    enum said said; /* rejected: what of it is recorded */
};

/** CHECKING: the record that was claimed last is read again first, and compared. ASKING: the position is outside the log; the next look tells why. */
enum source_state { SOURCE_CHECKING, SOURCE_READING, SOURCE_ASKING, SOURCE_STOPPED };

struct stream {
    struct kafka_source *source;
    enum source_state state;
    int64_t assigned_us;                   /* since when it is read from there */
    int64_t check_offset, check_timestamp; /* SOURCE_CHECKING: the last claimed record */
    char check_digest[33];
    int64_t cursor;      /* of the queue, as last heard */
    int64_t buffer_from; /* the buffer is complete from this offset */
    struct held *buffer; /* ring */
    int buffer_cap, buffer_first, buffer_count;
    size_t buffer_bytes;
    bool unread; /* it was full: nobody tells that there is more */
};

void stream_open(struct stream *stream);
/** Closes the source, too. */
void stream_close(struct stream *stream);
/** The source is closed for good: the queue is gone. */
void stream_leave(struct stream *stream);
/** What the queue's row says of where it is. */
void stream_read(struct stream *stream, const struct db_result *row);
/** The source is read from the cursor on, or, check, from the last claimed record. */
void stream_begin(struct stream *stream, bool check, int64_t now_us);
void stream_turn(struct stream *stream, enum source_state state);
/** The cursor of the queue went back. */
void stream_back(struct stream *stream, int64_t cursor);
/** Keeps a copy of the record, decoded. */
void stream_hold(struct stream *stream, const struct kafka_record *record);
/** No record is to be taken until some are dropped. */
bool stream_full(const struct stream *stream);
/** Records are taken from here on: only one that fills it leaves others unread. */
void stream_fill(struct stream *stream);
/** Forgets what is claimed, and where it began. */
void stream_drop(struct stream *stream, int64_t below);
/** Forgets all records. */
void stream_clear(struct stream *stream);
/** All that was published has been claimed. */
bool stream_at_end(const struct stream *stream);
/** The i-th record that is not claimed. */
static inline struct held *stream_head(const struct stream *stream, int i)
{
    return &stream->buffer[(stream->buffer_first + i) % stream->buffer_cap];
}
/** Its message goes to the caller, and from here on it has none. */
struct message *held_take(struct held *held);

#endif

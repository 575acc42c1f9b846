/**
 * What: the stream of a lane: where it reads its partition, and the records that it has read and
 *   no executor has claimed yet (executor/buffered.h).
 * Invariants: the buffer is complete from buffer_from on, in the order of offsets. Only stream.c
 *   writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane. Owns the records and the source.
 * Failure: -
 */
#ifndef EXECUTOR_STREAM_H
#define EXECUTOR_STREAM_H

#include "executor/buffered.h"
#include "kafka/source.h"

struct db_result;

/** CHECKING: the record that was claimed last is read again first, and compared. ASKING: the
 * position is outside the log; the next check of the topic shows why. */
enum source_state { SOURCE_CHECKING, SOURCE_READING, SOURCE_ASKING, SOURCE_STOPPED };

struct stream {
    struct kafka_source *source;
    enum source_state state;
    int64_t assigned_us;                   /* since when it is read from there */
    int64_t check_offset, check_timestamp; /* SOURCE_CHECKING: the last claimed record */
    char check_digest[33];
    int64_t cursor;          /* of the queue, as last read */
    int64_t buffer_from;     /* the buffer is complete from this offset */
    struct buffered *buffer; /* ring */
    int buffer_cap, buffer_first, buffer_count;
    size_t buffer_bytes;
    bool unread; /* it was full: no wake-up shows that there are more records */
};

void stream_open(struct stream *stream);
/** Closes the source, too. */
void stream_close(struct stream *stream);
/** The source is closed for good: the queue is gone. */
void stream_leave(struct stream *stream);
/** Reads the cursor and the last claimed record from the queue's row. */
void stream_read(struct stream *stream, const struct db_result *row);
/** The source is read from the cursor on, or, check, from the last claimed record. */
void stream_begin(struct stream *stream, bool check, int64_t now_us);
void stream_turn(struct stream *stream, enum source_state state);
/** The cursor of the queue went back. */
void stream_back(struct stream *stream, int64_t cursor);
/** All that was published has been claimed. */
bool stream_at_end(const struct stream *stream);
/** The i-th record that is not claimed. */
static inline struct buffered *stream_head(const struct stream *stream, int i)
{
    return &stream->buffer[(stream->buffer_first + i) % stream->buffer_cap];
}

#endif

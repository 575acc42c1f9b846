/**
 * What: the records that a stream has read and no executor has claimed yet: its buffer.
 * Invariants: as executor/stream.h.
 * Threads: control.
 * Ownership: the stream owns its records; buffered_take_message gives a
 *   record's message to the caller.
 * Failure: a record that cannot be read is kept, with the reason.
 */
#ifndef EXECUTOR_BUFFERED_H
#define EXECUTOR_BUFFERED_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kafka_record;
struct message;
struct stream;

/** What is recorded of a rejected record; less each time that the database refuses it
 * (refusal.c). */
enum detail {
    DETAIL_ALL,
    DETAIL_FIXED, /* the reason is a fixed text */
    DETAIL_NONE   /* nor its bytes, key, headers, run, seq */
};

/** One record of the topic, decoded. */
struct buffered {
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
    struct err why;     /* rejected: why */
    enum detail detail; /* rejected: how much of it is recorded */
};

/** Keeps a copy of the record, decoded. */
void stream_append(struct stream *stream, const struct kafka_record *record);
/** No record is to be taken until some are dropped. */
bool stream_full(const struct stream *stream);
/** Records are taken from here on: only one that fills it leaves others unread. */
void stream_fill(struct stream *stream);
/** Forgets what is claimed, and where it began. */
void stream_drop(struct stream *stream, int64_t below);
/** Forgets all records. */
void stream_clear(struct stream *stream);
/** Its message goes to the caller, and from here on it has none. */
struct message *buffered_take_message(struct buffered *buffered);

#endif

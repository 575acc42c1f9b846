/**
 * What: a segment of messages as the parameters of one claim: arrays with an element for each
 *   message, and the parameters that only a rejected message needs (its key and headers).
 * Invariants: the messages are those at the head of the stream's buffer.
 * Threads: control.
 * Ownership: the arrays belong to the segment; SEGMENT_AUTO and ATTACHED_AUTO free them.
 * Failure: -
 */
#ifndef EXECUTOR_SEGMENT_H
#define EXECUTOR_SEGMENT_H

#include "base/str.h"

#include <stdbool.h>

struct phases;
struct stream;

enum segment_array {
    SEGMENT_OFFSETS,
    SEGMENT_SEQS,
    SEGMENT_PAYLOADS,
    SEGMENT_NAMES,
    SEGMENT_ATTEMPTS,
    SEGMENT_TRACES,
    SEGMENT_SHARED, /* phases of which this executor has S */
    SEGMENT_DIGEST, /* no array: the digest of the last message */
    SEGMENT_ARRAYS
};

struct segment {
    struct str arrays[SEGMENT_ARRAYS];
};
#define SEGMENT_AUTO __attribute__((cleanup(segment_done))) struct segment
void segment_fill(struct segment *segment, const struct stream *stream, const struct phases *phases,
                  int count);
void segment_done(struct segment *segment);

/** One of the messages has a key or headers. */
bool segment_has_attached(const struct stream *stream, int count);
/** One of the messages has a condition, an idempotency key or a not_before. */
bool segment_is_special(const struct stream *stream, int count);

/** Keys, and headers as three arrays in step; no data where no message has any. */
struct attached {
    struct str keys, offsets, names, values;
};
#define ATTACHED_AUTO __attribute__((cleanup(attached_done))) struct attached
void attached_fill(struct attached *attached, const struct stream *stream, int count);
void attached_done(struct attached *attached);

#endif

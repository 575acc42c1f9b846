/* A claim sends its messages as arrays, one element for each message and in the same order, so that
 * one statement serves any number of them. claim.c sends the arrays; lockstep.claim reads them by
 * position. A value that a message lacks is a NULL element and not a missing one, or the later
 * elements would belong to the wrong messages. */
#include "executor/segment.h"

#include "executor/headers.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/stream.h"

#include "db/parameter.h"
#include "task/message.h"

#include <string.h>

void segment_done(struct segment *segment)
{
    for (int i = 0; i < SEGMENT_ARRAYS; i++)
        str_done(&segment->arrays[i]);
}

void segment_fill(struct segment *segment, const struct stream *stream, const struct phases *phases,
                  int count)
{
    struct str *s = segment->arrays;
    for (int i = SEGMENT_OFFSETS; i <= SEGMENT_SHARED; i++)
        db_array_start(&s[i]);
    for (int i = 0; i < count; i++) {
        const struct buffered *buffered = stream_head(stream, i);
        const struct message *msg = buffered->msg;
        db_array_int(&s[SEGMENT_OFFSETS], buffered->offset);
        if (buffered->seq >= 0 && buffered->detail != DETAIL_NONE)
            db_array_int(&s[SEGMENT_SEQS], buffered->seq);
        else
            db_array_text(&s[SEGMENT_SEQS], NULL, 0);
        if (msg == NULL || msg->type == MESSAGE_END) {
            db_array_text(&s[SEGMENT_PAYLOADS], msg ? buffered->value : NULL, buffered->value_len);
            continue;
        }
        db_array_text(&s[SEGMENT_PAYLOADS], buffered->value, buffered->value_len);
        db_array_text(&s[SEGMENT_NAMES], msg->name, msg->name ? strlen(msg->name) : 0);
        if (msg->max_attempts > 0)
            db_array_int(&s[SEGMENT_ATTEMPTS], msg->max_attempts);
        else
            db_array_text(&s[SEGMENT_ATTEMPTS], NULL, 0);
        db_array_text(&s[SEGMENT_TRACES], buffered->traceparent,
                      buffered->traceparent ? strlen(buffered->traceparent) : 0);
    }
    /* The database takes S of a phase for the session only if it is not in this list. Advisory
     * locks stack: a second take of the same lock would need a second release. */
    for (struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (phase->shared)
            db_array_int(&s[SEGMENT_SHARED], phase->phase_id);
    for (int i = SEGMENT_OFFSETS; i <= SEGMENT_SHARED; i++)
        db_array_end(&s[i]);
    db_bytea(&s[SEGMENT_DIGEST], stream_head(stream, count - 1)->digest, 16);
}

void attached_done(struct attached *attached)
{
    str_done(&attached->keys);
    str_done(&attached->offsets);
    str_done(&attached->names);
    str_done(&attached->values);
}

bool segment_has_attached(const struct stream *stream, int count)
{
    for (int i = 0; i < count; i++)
        if (stream_head(stream, i)->key != NULL || stream_head(stream, i)->headers != NULL)
            return true;
    return false;
}

/* Where no message has headers, NULL is sent instead of three empty arrays. */
void attached_fill(struct attached *attached, const struct stream *stream, int count)
{
    struct str *const arrays[] = {&attached->keys, &attached->offsets, &attached->names,
                                  &attached->values};
    for (int i = 0; i < 4; i++)
        db_array_start(arrays[i]);
    for (int i = 0; i < count; i++) {
        const struct buffered *buffered = stream_head(stream, i);
        db_array_bytes(&attached->keys, buffered->key, buffered->key_len);
        headers_arrays(buffered, &attached->offsets, &attached->names, &attached->values);
    }
    for (int i = 0; i < 4; i++)
        db_array_end(arrays[i]);
    if (strcmp(attached->names.data, "{}") == 0) {
        str_done(&attached->offsets);
        str_done(&attached->names);
        str_done(&attached->values);
    }
}

/* Conditions, keys and times cost the database further checks, so the claim says whether there are
 * any. */
bool segment_is_special(const struct stream *stream, int count)
{
    for (int i = 0; i < count; i++)
        if (stream_head(stream, i)->msg != NULL && stream_head(stream, i)->msg->special)
            return true;
    return false;
}

/* Records at the head of the buffer that are no messages and name no run are rejected many at once.
 * A record is rejected by a claim of its own (claim.c) if it is alone at the head, names a run, or
 * was refused before. */
#include "executor/rejects.h"

#include "executor/beside.h"
#include "executor/claim.h"
#include "executor/counts.h"
#include "executor/headers.h"
#include "executor/lane.h"
#include "executor/letters.h"
#include "executor/queue.h"

#include "base/log.h"
#include "db/db.h"
#include "db/parameter.h"

#include <string.h>

/* A statement is sent whole; a larger record goes alone. */
#define REJECTS_BYTES (1024 * 1024)

/* A record that was refused before (detail) is sent alone: the refusal would hit the whole list
 * again. */
static bool loose(const struct buffered *buffered)
{
    return buffered->msg == NULL && buffered->run[0] == '\0' && buffered->detail == DETAIL_ALL;
}

static size_t bytes(const struct buffered *buffered)
{
    return buffered->value_len + buffered->key_len + buffered->headers_len;
}

/* A topic full of foreign records would otherwise cost one transaction a record. A record that
 * names a run goes through a claim, because the rejection belongs to that run and may stop it. */
int rejects_segment(const struct stream *stream, int most)
{
    int n = 0;
    size_t sum = 0;
    while (n < most && n < stream->buffer_count && loose(stream_head(stream, n))) {
        sum += bytes(stream_head(stream, n));
        if (sum > REJECTS_BYTES)
            break;
        n++;
    }
    return n > 0 ? n : 1;
}

enum {
    OFFSETS,
    SEQS,
    REASONS,
    DETAILS,
    RAWS,
    KEYS,
    HEADER_OFFSETS,
    HEADER_NAMES,
    HEADER_VALUES,
    ARRAYS
};

struct rejects {
    struct str arrays[ARRAYS], digest;
};

static void rejects_done(struct rejects *rejects)
{
    for (int i = 0; i < ARRAYS; i++)
        str_done(&rejects->arrays[i]);
    str_done(&rejects->digest);
}

/* As in a segment (segment.c), each array has an element for each record, NULL where the record has
 * no such value. The headers have one element for each header, with the offset of its record. */
static void fill(const struct stream *stream, int count, struct rejects *to)
{
    struct str *a = to->arrays;
    for (int i = 0; i < ARRAYS; i++)
        db_array_start(&a[i]);
    for (int i = 0; i < count; i++) {
        const struct buffered *buffered = stream_head(stream, i);
        db_array_int(&a[OFFSETS], buffered->offset);
        if (buffered->seq >= 0)
            db_array_int(&a[SEQS], buffered->seq);
        else
            db_array_text(&a[SEQS], NULL, 0);
        db_array_text(&a[REASONS], buffered->why.code, strlen(buffered->why.code));
        db_array_text(&a[DETAILS], buffered->why.message, strlen(buffered->why.message));
        db_array_bytes(&a[RAWS], buffered->tombstone ? NULL : buffered->value, buffered->value_len);
        db_array_bytes(&a[KEYS], buffered->key, buffered->key_len);
        headers_arrays(buffered, &a[HEADER_OFFSETS], &a[HEADER_NAMES], &a[HEADER_VALUES]);
    }
    for (int i = 0; i < ARRAYS; i++)
        db_array_end(&a[i]);
    db_bytea(&to->digest, stream_head(stream, count - 1)->digest, 16);
}

/* As a claim it states buffer_from and moves the cursor in the same transaction, so a record is
 * rejected once, by whichever executor comes first. */
enum rc rejects_ask(struct lane *lane, int count, struct db_result **ret_row, struct err *err)
{
    __attribute__((cleanup(rejects_done))) struct rejects rejects = {0};
    struct str *a = rejects.arrays;
    fill(&lane->stream, count, &rejects);
    const char *const params[] = {
        [EXECUTOR_REJECT_P_QUEUE_ID] = DB_INT(lane->queue.id),
        [EXECUTOR_REJECT_P_EXECUTOR_NO] = DB_INT(lane->ex->incarnation.executor_no),
        [EXECUTOR_REJECT_P_BUFFER_FROM] = DB_INT(lane->stream.buffer_from),
        [EXECUTOR_REJECT_P_OFFSETS] = a[OFFSETS].data,
        [EXECUTOR_REJECT_P_SEQS] = a[SEQS].data,
        [EXECUTOR_REJECT_P_REASONS] = a[REASONS].data,
        [EXECUTOR_REJECT_P_DETAILS] = a[DETAILS].data,
        [EXECUTOR_REJECT_P_RAWS] = a[RAWS].data,
        [EXECUTOR_REJECT_P_KEYS] = a[KEYS].data,
        [EXECUTOR_REJECT_P_HEADER_OFFSETS] = a[HEADER_OFFSETS].data,
        [EXECUTOR_REJECT_P_HEADER_NAMES] = a[HEADER_NAMES].data,
        [EXECUTOR_REJECT_P_HEADER_VALUES] = a[HEADER_VALUES].data,
        [EXECUTOR_REJECT_P_LAST_TIMESTAMP] =
            DB_INT(stream_head(&lane->stream, count - 1)->timestamp_ms),
        [EXECUTOR_REJECT_P_LAST_DIGEST] = rejects.digest.data};
    return run_beside(lane->ex, &sql_executor_reject, params, ret_row, err);
}

void rejects_log(struct lane *lane, int count, int64_t from)
{
    for (int i = 0; i < count; i++) {
        const struct buffered *buffered = stream_head(&lane->stream, i);
        bool unread = buffered->msg == NULL; /* else its tags were refused */
        /* Another executor rejected and logged the records below `from`, and moved the cursor past
         * them. */
        if (buffered->offset < from)
            continue;
        counts_rejected(lane, unread ? buffered->why.code : REJECTS_TAGS);
        log_event(LOG_WARN, "message_rejected", "queue", lane->queue.name, "offset",
                  LOG_INT(buffered->offset), "reason", unread ? buffered->why.code : REJECTS_TAGS,
                  "at", unread ? buffered->why.object : NULL, "detail",
                  unread ? buffered->why.message : NULL, NULL);
    }
}

bool rejects_follow(struct lane *lane, const struct db_result *row, int count)
{
    int64_t next_offset = db_int(row, 0, EXECUTOR_REJECT_NEXT_OFFSET);
    int verdict = db_word(row, 0, EXECUTOR_REJECT_VERDICT);
    switch (verdict) {
    case EXECUTOR_REJECT_IS_BEHIND:
        claim_went_back(lane, next_offset);
        return false;
    case EXECUTOR_REJECT_IS_REJECTED:
        letters_wake(lane, RELAY_NEWS);
        rejects_log(lane, count, db_int(row, 0, EXECUTOR_REJECT_FIRST_OFFSET));
        break;
    case EXECUTOR_REJECT_IS_PAUSED:
        claims_block(&lane->claims, true);
        break;
    case EXECUTOR_REJECT_IS_HALTED:
        queue_set_halted(&lane->queue);
        log_event(LOG_ERROR, "queue_halted", "queue", lane->queue.name, NULL);
        break;
    default: /* moved */
        break;
    }
    stream_drop(&lane->stream, next_offset);
    return verdict != EXECUTOR_REJECT_IS_PAUSED && verdict != EXECUTOR_REJECT_IS_HALTED;
}

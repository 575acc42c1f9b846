/* batch: number rows, flush, send, commit, note. Wherever the relay dies, rows that are numbered
 * but not noted are in doubt; the next relay reads the end of the topic to settle them (settle.c).
 * The order is the promise: a number names a row for ever, the flush makes row and number durable,
 * and only then may a record carry the number. Were the record first, a crash of the server could
 * forget the number and give it to another row. */
#include "relay/relaying.h"

#include "base/ascii.h"
#include "base/log.h"
#include "base/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BATCH_BYTES bounds the memory of one batch: libpq holds a result whole, and bytea arrives as text
 * of twice the size. COMMIT_MS: a commit of Kafka that takes longer is in doubt, and the next
 * producer settles it. */
#define BATCH_ROWS  500
#define BATCH_BYTES (4 * 1024 * 1024)
#define COMMIT_MS   10000

/* The bytes of a bytea column. NULL for NULL; freed by the caller. */
static char *bytes_of(const struct db_result *rows, int row, int column, size_t *ret_len)
{
    *ret_len = 0;
    if (db_null(rows, row, column))
        return NULL;
    const char *hex = db_text(rows, row, column) + 2; /* \x */
    size_t len = (size_t)(db_length(rows, row, column) - 2) / 2;
    char *bytes = xmalloc(len + 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = ascii_byte(hex + 2 * i);
    bytes[len] = '\0';
    *ret_len = len;
    return bytes;
}

#define LEFT_OUT_MOST 3 /* value, key and headers */

/* The headers of one row. `owned` values are freed with it; `count` headers are sent. */
struct headers {
    struct kafka_header *list; /* ended by one without a name */
    char **values;
    int count, owned;
};

static void headers_done(struct headers *headers)
{
    for (int i = 0; i < headers->owned; i++)
        free(headers->values[i]);
    free(headers->values);
    free(headers->list);
}

/* From row `first` of the headers' result on. */
static struct headers headers_of(const struct db_result *rows, int first, int64_t seq)
{
    struct headers headers = {0};
    while (first + headers.count < db_rows(rows) &&
           db_int(rows, first + headers.count, RELAY_HEADERS_RELAY_SEQ) == seq)
        headers.count++;
    headers.owned = headers.count;
    headers.list = xcalloc((size_t)headers.count + LEFT_OUT_MOST + 1, sizeof *headers.list);
    headers.values = xcalloc((size_t)headers.count + LEFT_OUT_MOST, sizeof *headers.values);
    for (int i = 0; i < headers.count; i++) {
        headers.list[i].name = db_text(rows, first + i, RELAY_HEADERS_NAME);
        headers.values[i] =
            bytes_of(rows, first + i, RELAY_HEADERS_CONTENT, &headers.list[i].value_len);
        headers.list[i].value = headers.values[i];
    }
    return headers;
}

/* Says in a header of its own how much of something is left out. */
static void left_out(struct headers *headers, const char *name, size_t much)
{
    char *text = xmalloc(24);
    int len = snprintf(text, 24, "%zu", much);
    headers->values[headers->owned++] = text;
    headers->list[headers->count++] = (struct kafka_header){name, text, (size_t)len};
    headers->list[headers->count] = (struct kafka_header){0};
}

/* The relay's own headers are behind those of the original, which may have the same names if it is
 * a dead letter itself. */
static bool is_own(const struct headers *headers, int at)
{
    static const char *const own[] = {
        "lockstep-reason",    "lockstep-detail",        "lockstep-topic",
        "lockstep-partition", "lockstep-offset",        "lockstep-time",
        "lockstep-queue",     "lockstep-rejected-id",   "lockstep-relay-seq",
        "lockstep-outbox-id", "lockstep-value-left-out"};
    const char *name = headers->list[at].name;
    for (int i = at + 1; i < headers->count; i++)
        if (strcmp(headers->list[i].name, name) == 0)
            return false;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

static void keep_own(struct headers *headers)
{
    int kept = 0, all = headers->count;
    for (int i = 0; i < all; i++)
        if (is_own(headers, i))
            headers->list[kept++] = headers->list[i];
    headers->count = kept;
    headers->list[kept] = (struct kafka_header){0};
    if (kept < all)
        left_out(headers, "lockstep-headers-left-out", (size_t)(all - kept));
}

/* A record that is too large with the relay's headers is sent without its value, and if that is not
 * enough, or there is none, without its key and the original's headers, too. These stay in the
 * database, and headers say so. */
static enum rc publish(struct relay_queue *queue, const struct relay_kind *kind,
                       const struct db_result *rows, int row, struct headers *headers,
                       struct err *err)
{
    size_t key_len, value_len;
    FREE_AUTO char *key = bytes_of(rows, row, RELAY_FETCH_KEY, &key_len);
    FREE_AUTO char *value = bytes_of(rows, row, RELAY_FETCH_VALUE, &value_len);
    enum rc rc = kafka_publish(queue->producer, kind->topic, 0, key, key_len, value, value_len,
                               headers->list, err);
    if (rc == RC_REJECT && value != NULL) {
        left_out(headers, "lockstep-value-left-out", value_len);
        rc = kafka_publish(queue->producer, kind->topic, 0, key, key_len, NULL, 0, headers->list,
                           err);
    }
    if (rc != RC_REJECT)
        return rc;
    keep_own(headers);
    if (key != NULL)
        left_out(headers, "lockstep-key-left-out", key_len);
    return kafka_publish(queue->producer, kind->topic, 0, NULL, 0, NULL, 0, headers->list, err);
}

static enum rc publish_all(struct relay *relay, struct relay_queue *queue,
                           const struct relay_kind *kind, const struct db_result *rows,
                           struct err *err)
{
    DB_RESULT_AUTO *all = NULL;
    int last = db_rows(rows) - 1, at = 0;
    enum rc rc = db_run(relay->db, &sql_relay_headers,
                        (const char *const[]){DB_INT(queue->queue_id), kind->name,
                                              db_text(rows, 0, RELAY_FETCH_RELAY_SEQ),
                                              db_text(rows, last, RELAY_FETCH_RELAY_SEQ)},
                        &all, err);
    if (rc == RC_OK)
        rc = kafka_begin(queue->producer, err);
    for (int i = 0; rc == RC_OK && i <= last; i++) {
        struct headers headers = headers_of(all, at, db_int(rows, i, RELAY_FETCH_RELAY_SEQ));
        at += headers.count;
        rc = publish(queue, kind, rows, i, &headers, err);
        headers_done(&headers);
    }
    return rc;
}

/** Deletes the rows. A relay that dies before this leaves them, and the next one finds their
 * records on the topic (settle.c). */
static enum rc note(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                    int64_t seq, struct err *err)
{
    int64_t count, last;
    kafka_producer_acked(queue->producer, &count, &last);
    int64_t next_offset = last >= 0 ? last + 1 : kind->next_offset;
    enum rc rc = db_run(relay->db, &sql_relay_sent,
                        (const char *const[]){DB_INT(queue->queue_id), kind->name, DB_INT(seq),
                                              DB_INT(next_offset)},
                        NULL, err);
    if (rc != RC_OK)
        return rc;
    kind_sent(kind, seq, next_offset);
    probe("relay.noted");
    return RC_OK;
}

enum rc relay_batch(struct relay *relay, struct relay_queue *queue, struct relay_kind *kind,
                    struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(
        relay->db, &sql_relay_number,
        (const char *const[]){DB_INT(queue->queue_id), kind->name, DB_INT(BATCH_ROWS)}, NULL, err);
    probe("relay.numbered");
    if (rc == RC_OK)
        rc = db_run(relay->db, &sql_relay_fetch,
                    (const char *const[]){DB_INT(queue->queue_id), kind->name,
                                          DB_INT(kind->sent_seq), DB_INT(BATCH_ROWS),
                                          DB_INT(BATCH_BYTES)},
                    &rows, err);
    if (rc == RC_OK && db_rows(rows) == 0)
        return RC_NONE;
    if (rc == RC_OK)
        rc = relay_flush(relay, queue->producer, err);
    probe("relay.flushed");
    if (rc == RC_OK)
        rc = publish_all(relay, queue, kind, rows, err);
    probe("relay.sent");
    if (rc == RC_OK) /* the lock is asked for once more: better than to be fenced */
        rc = db_run(relay->db, &sql_publish_alive, NULL, NULL, err);
    if (rc == RC_OK)
        rc = kafka_commit(queue->producer, COMMIT_MS, err);
    probe("relay.committed");
    if (rc != RC_OK)
        return rc;
    log_event(LOG_INFO, "relayed", "queue", queue->name, "topic", kind->topic, "records",
              LOG_INT(db_rows(rows)), "seq",
              db_text(rows, db_rows(rows) - 1, RELAY_FETCH_RELAY_SEQ), NULL);
    return note(relay, queue, kind, db_int(rows, db_rows(rows) - 1, RELAY_FETCH_RELAY_SEQ), err);
}

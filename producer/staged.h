/**
 * What: staged work, one task after the other: JSON Lines, CSV, or the rows of a query.
 * Invariants: every task that comes out is one JSON object that message_parse takes as
 *   MESSAGE_STAGED (of JSON Lines the line itself), not longer than the limit. Nothing longer than
 *   a message is ever held in memory.
 * Threads: one at a time, but for staged_check; a query runs on the session that was given.
 * Ownership: opened here, closed with staged_close; borrows the session. A task's text lives until
 *   the next call.
 * Failure: RC_REJECT from staged_next, staged_read and staged_check is about one task: staged_line
 *   says where, err->object names the field, and the next call continues behind it. Everything else
 *   ends the reading.
 */
#ifndef PRODUCER_STAGED_H
#define PRODUCER_STAGED_H

#include "db/db.h"
#include "producer/options.h"

struct staged;

struct staged_task {
    int64_t line; /* from 1; of a query: the row */
    int64_t order;
    const char *text;
    size_t len;
};

/** path "-" is standard input. limit: the longest text that a task may have, in bytes. */
MUST_CHECK enum rc staged_open_file(const char *path, enum publish_format format, size_t limit,
                                    struct staged **ret_staged, struct err *err);
/** The query runs on db in a read-only transaction, which staged_close ends. */
MUST_CHECK enum rc staged_open_query(struct db *db, const char *query, size_t limit,
                                     struct staged **ret_staged, struct err *err);
void staged_close(struct staged *staged);

/**
 * The next task. RC_NONE: no more. RC_RETRY: none came within timeout_ms (-1 = wait on); a query
 * waits in whole or, with a time-out, not at all, unless staged_may_wait.
 */
MUST_CHECK enum rc staged_next(struct staged *staged, int timeout_ms, struct staged_task *ret_task,
                               struct err *err);

/** staged_next in two parts: the next text, which may be anything, and then its check, which sets
 * task->order. The check may be called on several threads, also while another one is in
 * staged_read. */
MUST_CHECK enum rc staged_read(struct staged *staged, int timeout_ms, struct staged_task *ret_task,
                               struct err *err);
MUST_CHECK enum rc staged_check(const struct staged *staged, struct staged_task *task,
                                struct err *err);

/** true: staged_next keeps to its time-out; false (a query): only -1 gets anywhere. */
bool staged_may_wait(const struct staged *staged);

/** Where the task began that staged_next returned or refused last. */
int64_t staged_line(const struct staged *staged);
/** The file's name, "stdin" or "query". */
const char *staged_name(const struct staged *staged);
/** "jsonl" or "csv"; NULL: a query. */
const char *staged_format_name(const struct staged *staged);
/** XXH3-128 of the bytes that were read, in hexadecimal, and how many; false if the source is not
 * repeatable (no regular file). */
bool staged_digest(const struct staged *staged, char ret_digest[33], int64_t *ret_bytes);
/** As source_file_digest; RC_NONE for a query. */
MUST_CHECK enum rc staged_file_digest(const struct staged *staged, int64_t most,
                                      char ret_digest[33], int64_t *ret_bytes, struct err *err);

#endif

/**
 * What: the bytes of a file or of standard input, through one window that a reader moves along.
 * Invariants: never more than SOURCE_WINDOW bytes are held; a UTF-8 byte order mark at the
 *   start is dropped; every byte read goes into the digest.
 * Threads: one at a time.
 * Ownership: source_open gives, source_close takes; the bytes of source_bytes live until the next
 *   source_more.
 * Failure: ERR_USAGE with errno's name when the file cannot be opened or read.
 */
#ifndef PRODUCER_SOURCE_H
#define PRODUCER_SOURCE_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_WINDOW (1100 * 1000) /* bytes; a staged task, and some room to read ahead */

struct source;

/** path "-" is standard input. */
MUST_CHECK enum rc source_open(const char *path, struct source **ret_source, struct err *err);
void source_close(struct source *source);

/** The file's name as given, or "stdin". */
const char *source_name(const struct source *source);

/** What is read and not yet taken. */
const char *source_bytes(const struct source *source, size_t *ret_len);
void source_take(struct source *source, size_t len);

/** Reads more behind what is there, which must be less than the window. RC_NONE: the end; RC_RETRY:
 * nothing came within timeout_ms (-1 = wait on); RC_FATAL: it cannot be read any further. */
MUST_CHECK enum rc source_more(struct source *source, int timeout_ms, struct err *err);

/** XXH3-128 of all bytes read, in hexadecimal, and how many; false where the source cannot be read
 * again (no regular file). */
bool source_digest(const struct source *source, char ret_digest[33], int64_t *ret_bytes);

/** The same of the first most bytes (-1: all) of the file, read here; source_more is not
 * affected. RC_NONE: it is no regular file. */
MUST_CHECK enum rc source_file_digest(const struct source *source, int64_t most,
                                      char ret_digest[33], int64_t *ret_bytes, struct err *err);

#endif

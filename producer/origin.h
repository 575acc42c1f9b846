/**
 * What: where the tasks of a run come from: a file, standard input or a query, as the options name
 *   it or as the row of a resumed run recalls it; the reader that is open on it; and the digest by
 *   which a resumed publish knows a file again.
 * Invariants: only origin.c writes the fields. digest is "" unless the source is a regular file.
 * Threads: the caller's own.
 * Ownership: origin_open gives, origin_close takes; path and query are borrowed.
 * Failure: as producer/staged.h and db/db.h.
 */
#ifndef PRODUCER_ORIGIN_H
#define PRODUCER_ORIGIN_H

#include "producer/staged.h"

struct origin {
    const char *path, *query; /* both NULL: a pipe, which cannot be read again */
    enum publish_format format;
    bool stream;
    struct db *db; /* the session of the query, NULL otherwise */
    struct staged *staged;
    char digest[33];
    int64_t digest_bytes; /* that went into it */
};

struct origin origin_of(const struct publish_options *options);
/** How the run was begun. format: unless the options have one. */
void origin_recall(struct origin *origin, bool stream, enum publish_format format);
/** The source that the run was begun from. One of them, or neither. */
void origin_recall_source(struct origin *origin, const char *path, const char *query);
/** The options, or the row, name a source. */
bool origin_is_known(const struct origin *origin);
/** limit: the longest text that a task may have, in bytes. */
MUST_CHECK enum rc origin_open(struct origin *origin, const char *conninfo, size_t limit,
                               struct err *err);
/** The digest of the first bytes (-1: all) of a file that is not read yet. */
MUST_CHECK enum rc origin_digest_file(struct origin *origin, int64_t bytes, struct err *err);
/** Sets the digest of the bytes that were read. */
void origin_digest_read(struct origin *origin);
/** As the row of a run has it: "file", "pipe" or "query", and the file's absolute path or the query
 * (NULL: a pipe). */
const char *origin_describe(const struct origin *origin, char ret_path[4096],
                            const char **ret_source);
/** It is a pipe. */
bool origin_is_piped(const struct origin *origin);
/** Refuses a source without a task. */
enum rc origin_empty(const struct origin *origin, struct err *err);
void origin_close(struct origin *origin);

#endif

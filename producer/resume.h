/**
 * What: a publish that was broken off is continued: the source is read from its start again, and
 *   the records that it gives must be those that the topic has; behind the last of them the sending
 *   begins. struct resume has the contents of the row of such a run.
 * Invariants: only resume.c writes the fields. Nothing is sent before verified is true.
 * Threads: the caller's own.
 * Ownership: owns source and name; resume_done frees them.
 * Failure: RC_REJECT with ERR_USAGE: the run cannot be resumed, or not from this source; it is left
 *   as it is.
 */
#ifndef PRODUCER_RESUME_H
#define PRODUCER_RESUME_H

#include "producer/records.h"

struct publishing;

struct resume {
    bool wanted, verified;
    int64_t noted_seq, noted_offset; /* the row's newest note of a committed record */
    struct chain noted_chain;
    char digest[33]; /* of the file that the run was begun from, or "" */
    int64_t digest_bytes;
    int state;     /* enum publish_resumable_state */
    char why[256]; /* it was closed */
    char *source;  /* owned: the path or the query of the row */
    bool from_file, from_query;
    bool own;           /* published by this login */
    char publisher[64]; /* else by that one */
    char *name;         /* owned: the run's, NULL: none */
};

struct resume resume_of(const struct publish_options *options);
void resume_done(struct resume *resume);
/** Reads the row of the run that is to be resumed and takes from it what the options leave open;
 * refuses one that cannot be. */
MUST_CHECK enum rc resume_find(struct publishing *p, struct err *err);
/** The file is the one that the run was begun from: its digest over so many bytes. */
MUST_CHECK enum rc resume_check_digest(const struct publishing *p, struct err *err);
/** The next record is one that the topic has already. */
bool resume_is_behind(const struct resume *resume, const struct records *records);
/** Wanted, and the source is not found to be the same yet. */
bool resume_is_open(const struct resume *resume);

#endif

/**
 * What: the works in the pipeline of a reader: batches of works, each work a transaction of its
 *   own.
 * Invariants: only batch.c writes the fields of struct batch. While unclean is set nothing is
 *   sent.
 * Threads: the reader's own.
 * Ownership: the lists own their works.
 * Failure: RC_LOST: the session is to be given up, and then batch_lose is called.
 */
#ifndef READER_BATCH_H
#define READER_BATCH_H

#include "base/err.h"
#include "reader/works.h"

#include <stdbool.h>
#include <stdint.h>

struct db_diag;
struct reader_thread;
struct work;

struct batch {
    struct works sent;    /* oldest first, batch after batch */
    struct works skipped; /* by the server, because of one that failed: to be sent again */
    struct work *at;      /* the one of sent whose replies come now */
    struct work *failed;  /* the one of the oldest batch that failed, and why */
    struct err *why;      /* owned */
    struct db_diag *diag; /* owned: messages of the server about the works in the pipeline */
    bool unclean;         /* a transaction failed: reset when the pipeline is empty */
    int64_t run_no;       /* of the task before */
    int64_t head_us;      /* since when the oldest batch can have been running */
};

/** The session is new: failures of the session before are recorded on it. */
MUST_CHECK enum rc batch_start(struct reader_thread *reader, struct err *err);
/** Sends the works of todo that can be sent now. */
MUST_CHECK enum rc batch_send(struct reader_thread *reader, struct err *err);
/** Takes the replies in. */
MUST_CHECK enum rc batch_read(struct reader_thread *reader, struct err *err);
/** The session is gone: the works that were sent are lost, and skipped works are sent again. The
 * works that are still in broken are recorded on the next session. */
void batch_lose(struct reader_thread *reader);

#endif

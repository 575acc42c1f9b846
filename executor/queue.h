/**
 * What: a queue as its executor knows it: its row, and whether the row, the queue and its server
 *   can be relied on.
 * Invariants: only queue.c writes the fields. Each halt of the queue passes queue_set_halted.
 * Threads: control.
 * Ownership: embedded in the lane; the name is the options'. A result belongs to the caller.
 * Failure: RC_FATAL, ERR_CONFIG: there is no such queue.
 */
#ifndef EXECUTOR_QUEUE_H
#define EXECUTOR_QUEUE_H

#include "base/err.h"

#include <stdbool.h>

struct db;
struct db_result;

struct queue {
    const char *name;
    int id; /* 0: not read yet */
    int partition, max_readers, lookahead;
    int halt_no; /* under which everything was read */
    char topic[256];
    char keep[64];      /* the rule of retention; "": the queue keeps everything */
    char keep_sent[64]; /* the rule that the thread of retention has */
    bool paused, halted;
    bool gone;    /* there is no such queue, or it was deleted (trouble.c) */
    bool foreign; /* the server is not the queue's: nothing of it runs here (server.h) */
    /* The next turn reads the row again and the topic from its cursor, before anything else: a
     * statement has failed, or the cursor went back. */
    bool stale;
};

/** The row as it is now: sql/executor/queue.sql. */
MUST_CHECK enum rc queue_row(struct db *db, const struct queue *queue, struct db_result **ret_row,
                             struct err *err);
/** All of it: the lane begins with it. The cursor (stream_read) and the identity of the topic
 * (identity_read) are still in the row. */
MUST_CHECK enum rc queue_read(struct db *db, struct queue *queue, struct db_result **ret_row,
                              struct err *err);
/** The settings that matter at once. *ret_decided: a person has decided about the halted queue
 * since queue_read. */
MUST_CHECK enum rc queue_reread(struct db *db, struct queue *queue, bool *ret_decided,
                                struct err *err);
/** Its row has a reason for a halt. */
void queue_set_halted(struct queue *queue);
void queue_set_gone(struct queue *queue);
void queue_set_foreign(struct queue *queue, bool foreign);
void queue_set_stale(struct queue *queue, bool stale);
void queue_set_keep_sent(struct queue *queue, const char *keep);

#endif

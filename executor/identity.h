/**
 * What: decides whether the topic is still this queue's, from the watcher's findings and the
 *   queue's row.
 * Invariants: metadata has hiccups and a check may be older than a claim, so a finding counts
 *   when the next check confirms it. This file gives a verdict; the caller assigns or halts. Only
 *   identity.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_IDENTITY_H
#define EXECUTOR_IDENTITY_H

#include "base/err.h"
#include "base/mailbox.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct db_result;
struct lane;

struct identity {
    char cluster_id[64];
    int partitions;                 /* of the topic, as the queue knows it; 0: not yet */
    char mark[37];                  /* the topic's birthmark, */
    bool marked;                    /* which was seen there, */
    int64_t mark_age_s;             /* so long before it was read here */
    int64_t renew_at_us;            /* the mark expires unless it is renewed */
    bool mark_trouble;              /* logged: the mark cannot be read */
    int asked;                      /* checks asked for; older answers do not count */
    bool checked;                   /* one has come since the last assign: claims may be made */
    char unanswered[300];           /* why the last one found nothing, "": Kafka answered */
    char suspect[24];               /* the reason that the last check found, "": none */
    int64_t suspect_cursor;         /* the queue's cursor then */
    int leader;                     /* of the partition, at the last check; -1: not known */
    int64_t open_at, open_since_us; /* at the end there, and the log continues; -1 */
    int64_t blocked_offset;         /* logged: the queue is blocked there; -1: it is not */
};

/** What is to be done about the stream. */
enum identity_verdict {
    IDENTITY_GOOD,   /* nothing */
    IDENTITY_ASSIGN, /* it is read again from the queue's cursor */
    /* the same, but the last claimed record is not there any more to be compared */
    IDENTITY_ASSIGN_UNCHECKED,
    IDENTITY_HALT /* it is not this queue's: for the reason, as detail says */
};
struct identity_finding {
    struct lane *lane;
    enum identity_verdict verdict;
    const char *reason;
    struct str detail; /* owned */
};

/** Reads the queue's row. */
void identity_read(struct lane *lane, const struct db_result *row);
/** The watcher checks the topic from now on. */
void identity_watch(struct lane *lane);
/** The stream begins at the cursor: nothing is known before the next check, which is asked for. */
void identity_begin(struct lane *lane);
/** Nothing is known before the next check, in delay_ms. */
void identity_ask(struct lane *lane, int delay_ms);
/** The queue is halted: there is no suspicion left. */
void identity_clear(struct identity *identity);
/** The topic was checked since the last assign, and nothing was wrong. */
bool identity_known(const struct identity *identity);
/** The reason to halt for the cluster or the number of partitions, NULL if they are right. */
const char *identity_shape(const struct lane *lane, const char *cluster_id, int partitions,
                           struct str *detail);
/** The watcher's mail, which is freed. */
MUST_CHECK enum rc identity_report(struct mail *mail, struct identity_finding *ret_finding,
                                   struct err *err);

#endif

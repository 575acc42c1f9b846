/**
 * What: the parameters and callbacks of publish_run: the source, the run, and the callbacks.
 * Invariants: plain data; the options do not change while publish_run works.
 * Threads: callbacks run on the caller's own.
 * Ownership: everything is borrowed. Strings that a callback is given live until it returns.
 * Failure: none.
 */
#ifndef PRODUCER_OPTIONS_H
#define PRODUCER_OPTIONS_H

#include "base/err.h"
#include "kafka/kafka.h"
#include <stdbool.h>
#include <stdint.h>

/** PUBLISH_AUTO: by the file's name; ".csv" in any case is CSV, everything else and standard input
 * is JSON Lines. */
enum publish_format { PUBLISH_AUTO, PUBLISH_JSONL, PUBLISH_CSV };

enum publish_stage { PUBLISH_READING, PUBLISH_LOCKING, PUBLISH_SENDING, PUBLISH_WAITING };

/** One thing that is wrong with the source. Strings live until the callback returns; "" = nothing
 * to say. */
struct publish_fault {
    const char *source;  /* the file's name, "stdin" or "query" */
    int64_t line;        /* from 1; of a query: the row; 0 = the whole source */
    const char *path;    /* "$.params[2]", or a column */
    const char *message; /* one sentence */
    const char *hint;
};

struct publish_progress {
    enum publish_stage stage;
    const char *run;        /* "" before the run's row is written */
    int64_t read;           /* tasks read from the source so far */
    int64_t sent, total;    /* tasks sent, of how many (-1 = not known: a stream) */
    int64_t acked;          /* records acknowledged by the broker */
    const char *run_status; /* PUBLISH_WAITING: lockstep.run.status; otherwise "" */
};

struct publish_phase {
    int64_t order, previous_order, tasks;
};

#define PUBLISH_NAME_BYTES 1000 /* of a run's name, which is in its first message */

struct publish_options {
    const char *conninfo;
    const struct kafka_properties *kafka;
    const char *queue;
    const char *path; /* "-" = standard input; NULL with query */
    enum publish_format format;
    const char *query;      /* NULL with path */
    const char *run;        /* UUID; NULL = a new one */
    const char *name;       /* of the run, for people; may be NULL */
    const char *on_failure; /* stop, continue, pause; NULL: the queue's */
    /* UUID of a run whose publishing was broken off; path, query, format and stream may be left
     * out */
    const char *resume;
    bool stream, dry_run, wait;
    /* ERR_HELD instead of closing a run that its producer left unfinished */
    bool refuse_unfinished;
    int wait_timeout_ms; /* of wait; -1 = none */
    int lock_wait_ms; /* how long to wait for another producer; 0 = not at all; PUBLISH_LOCK_WAIT_MS
                         is usual */

    /* Callbacks, all optional. */
    void *context;
    /** Called up to PUBLISH_MAX_FAULTS times; the err of publish_run then counts all of them. */
    void (*fault)(void *context, const struct publish_fault *fault);
    /** A few times a second at most, and at every change of stage. */
    void (*progress)(void *context, const struct publish_progress *progress);
    /** What the user must see though it ends nothing: a run that is closed or resumed, a
     * transaction that is in the way. NULL: it is logged. */
    void (*notice)(void *context, const char *text);
    /** The phases of a dry run, in order. */
    void (*phase)(void *context, const struct publish_phase *phase);
    /** true: give up (ERR_CANCELLED). Asked a few times a second, e.g. for a flag of a signal
     * handler. */
    bool (*cancelled)(void *context);

    /** For a caller that keeps books about its run. begin: this is the queue's only producer, all
     * before it is settled, and the run's row is not written yet; it may refuse. done: the whole
     * run is on the topic. Not of a stream. The run is one transaction: it is on the topic whole or
     * not at all, and one that takes longer than half of transaction.timeout.ms fails
     * (ERR_TIMEOUT). */
    struct publish_books {
        void *context;
        enum rc (*begin)(void *context, struct err *err);
        void (*done)(void *context);
    } books;
};

#define PUBLISH_LOCK_WAIT_MS 10000
#define PUBLISH_MAX_FAULTS   100

#endif

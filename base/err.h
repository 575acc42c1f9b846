/**
 * What: the result of everything that can fail: a reaction (enum rc) and, for people, a struct
 *   err.
 * Invariants: rc is the caller's reaction; err describes the error. err is filled exactly
 *   when rc is neither RC_OK nor RC_NONE. The function that decides the reaction logs it, once.
 * Threads: a struct err lives on the caller's stack and belongs to it.
 * Ownership: plain data, nothing to free.
 * Failure: texts too long are cut, never refused; a cut is between two characters (base/utf8.h).
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

/** The six reactions. */
enum rc {
    RC_OK,     /* done */
    RC_NONE,   /* nothing there, not granted, no row: not an error */
    RC_RETRY,  /* not now: contention, time-out, full; the same call may succeed later */
    RC_LOST,   /* the session or connection is gone; open a new one */
    RC_REJECT, /* the input is bad: the same call can never succeed */
    RC_FATAL   /* configuration, rights, a bug: a person must act */
};

/** What kind of trouble, for the exit code of a command (cli/exit.c has the table). */
enum err_kind {
    ERR_INTERNAL,
    ERR_USAGE,
    ERR_CONFIG,
    ERR_FAILED, /* it ran and the answer is bad */
    ERR_DB,
    ERR_DB_DOWN,
    ERR_KAFKA,
    ERR_KAFKA_DOWN,
    ERR_SCHEMA,
    ERR_TIMEOUT,
    ERR_HELD,
    ERR_CANCELLED
};

struct err {
    enum err_kind kind;
    char code[40]; /* verbatim: an SQLSTATE, a librdkafka error name, an errno name; "" if none */
    char object[160];   /* what it is about: a file and line, a queue, a topic, a statement */
    char message[1024]; /* one sentence */
    char detail[1024];  /* the server's DETAIL, "" if none */
    char context[1024]; /* the server's CONTEXT, "" if none */
    char hint[512];     /* what to do next, "" if nothing is known */
    bool raised;        /* SQL has raised it (RAISE): its code says nothing of the server */
    bool hinted;        /* hint is the server's own, or that of the SQL which has raised it */
    bool at_commit;     /* the statement was done, and the server refused its commit */
};

#define MUST_CHECK __attribute__((warn_unused_result))

/** Fills err and returns rc, so that a failing function ends in one line. err may be NULL. */
enum rc err_set(struct err *err, enum rc rc, enum err_kind kind, const char *object,
                const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/** What is printed before the message, with ": " behind it: the object, or "" where there is none
 * or the message begins with it. */
const char *err_before(const char *object, const char *message);

/** Puts the code of a foreign library into err. */
void err_code(struct err *err, const char *code);

#endif

/**
 * What: the message of docs/reference/message.schema.json: record value <-> struct message.
 * Invariants: strict RFC 8259, UTF-8, no NUL, no duplicate keys, depth <= 32; int64 values are
 *   exact; a field that is not known is refused. PostgreSQL can store every message that parses
 *   here.
 * Threads: any; a struct message is plain data.
 * Ownership: message_parse gives, message_free takes; all strings belong to the message.
 * Failure: RC_REJECT with err->object = the JSON path ("$.params[2]", "$" with the byte position in
 *   the message) and err->code a reason of enum message_reason by name ("bad_json", ...).
 */
#ifndef TASK_MESSAGE_H
#define TASK_MESSAGE_H

#include "base/err.h"
#include "base/str.h"

/** The hint of a field that is wrong, where none is more precise. */
#define MESSAGE_ADVICE "See docs/reference/message.md for the fields and their rules."

#define MESSAGE_MAX_BYTES (1000 * 1000) /* default of librdkafka's message.max.bytes */
#define MESSAGE_TAG_BYTES 128 /* message_tag adds less; a staged task is that much shorter */

/* The database counts on from it: the next one, and one more, are int64, too. */
#define MESSAGE_MOST_SEQ (INT64_MAX - 2)

enum message_type { MESSAGE_SQL, MESSAGE_COMMAND, MESSAGE_HTTP, MESSAGE_EXTERNAL, MESSAGE_END };

/** A parameter of a statement: text format as PostgreSQL takes it; text NULL = SQL NULL. */
struct message_param {
    char *text;
};

struct message_statement {
    char *sql;
    struct message_param *params;
    int param_count;
};

struct message_header {
    char *name, *value;
};

/** Work outside the database. type command: command, args, input; type http: the rest. */
struct message_action {
    char *command; /* a name that executors have registered */
    char **args;
    int arg_count;
    char *input;               /* NULL: none */
    char *url, *method, *body; /* method, body: NULL: absent */
    struct message_header *headers;
    int header_count;
};
void message_action_done(struct message_action *action);

/** One of a task's steps: a part of message->statements in a transaction of its own, or a command,
 * or a request. */
struct message_step {
    char *name;
    enum message_type type; /* sql, command or http */
    int first, count;       /* type sql */
    bool transaction;
    struct message_action action; /* types command and http */
};

struct message {
    enum message_type type;
    char run[37]; /* lower case, "" = implicit run */
    int64_t order, previous_order;
    int64_t seq;                          /* -1: absent */
    char *name, *description;             /* NULL: absent */
    struct message_statement *statements; /* type sql: one or more, in one transaction */
    int statement_count;
    struct message_step *steps; /* type sql: if it has steps, all statements belong to them */
    int step_count;
    struct message_action action; /* types command and http */
    bool acts;                    /* it, or one of its steps, is a command or a request */
    bool transaction;             /* false: statements that cannot run inside one */
    int max_attempts;             /* 0: absent */
    int64_t timeout_us;           /* of an attempt; 0: absent */
    bool special;            /* it has a condition, a key or a not_before: the claim reads them */
    double *retry_intervals; /* seconds, 0 to 1e9 */
    int retry_interval_count;
    int64_t end_tasks, end_phases; /* type end: counts, -1 absent (only if aborted) */
    bool aborted;
};

/** The origin of a text. A staged task has no previous_order, seq, run (the producer computes
 * them): present = refused. */
enum message_form { MESSAGE_RECORD, MESSAGE_STAGED };

MUST_CHECK enum rc message_parse(const char *bytes, size_t len, enum message_form form,
                                 struct message **ret_msg, struct err *err);
void message_free(struct message *msg);
void message_auto(struct message **msg);
#define MESSAGE_AUTO __attribute__((cleanup(message_auto))) struct message

/** One entry of a retry_on list: a SQLSTATE class or code, or all; "-" before it: not. */
bool retry_on_valid(const char *entry, size_t len);

/** The i-th field that is known, NULL behind the last. docs/reference/message.schema.json must list
 * them. */
const char *message_field_name(int i);

/**
 * Best effort on a record that does not parse: finds run and seq if the top level is readable, so
 * that its loss is accounted to the run. RC_OK with run "" (the implicit run) only if all of the
 * top level could be read and holds no run; ret_seq = -1 when there is none. RC_NONE when it
 * cannot. Takes no memory, reads MESSAGE_MAX_BYTES at most.
 */
MUST_CHECK enum rc message_peek(const char *bytes, size_t len, char ret_run[37], int64_t *ret_seq);

/** Why a record was rejected: the value of rejected_message.reason. */
/* clang-format off */
#define MESSAGE_REASONS(X)            \
    X(BAD_JSON, "bad_json")           \
    X(BAD_FIELD, "bad_field")         \
    X(OUT_OF_RANGE, "out_of_range")   \
    X(OVERSIZE, "oversize")           \
    X(EMPTY, "empty")                 \
    X(UNKNOWN_TYPE, "unknown_type")   \
    X(LATE, "late")                   \
    X(HOLE, "hole")                   \
    X(CONTRADICTION, "contradiction") \
    X(DUPLICATE, "duplicate")         \
    X(REFUSED, "refused_by_database")
/* clang-format on */
enum message_reason {
#define X(name, text) MESSAGE_##name,
    MESSAGE_REASONS(X)
#undef X
        MESSAGE_REASON_COUNT
};
const char *message_reason_name(enum message_reason reason);

#endif

/**
 * What: SQLSTATEs: the one table that turns one into a reaction, and the names by which the rest of
 *   the code asks for one. The names are those of PostgreSQL's manual, appendix A, and of
 *   docs/how-to/external-workers.md for those of lockstep's own functions (class LS).
 * Invariants: no SQLSTATE (NULL or "") means the session is lost. No SQLSTATE is in another
 *   folder's code.
 * Threads: any.
 * Ownership: none.
 * Failure: none.
 */
#ifndef DB_SQLSTATE_H
#define DB_SQLSTATE_H

#include "base/err.h"
#include <stdbool.h>

/* X(constant, SQLSTATE; of two characters: a class) */
#define SQLSTATES(X)                                                                               \
    X(SQLSTATE_FEATURE_NOT_SUPPORTED, "0A000") /* "cached plan must not change result type" */     \
    X(SQLSTATE_DATA_EXCEPTION, "22")                                                               \
    X(SQLSTATE_INVALID_DATETIME_FORMAT, "22007")                                                   \
    X(SQLSTATE_DATETIME_FIELD_OVERFLOW, "22008")                                                   \
    X(SQLSTATE_INVALID_TIME_ZONE_DISPLACEMENT, "22009")                                            \
    X(SQLSTATE_INVALID_PARAMETER_VALUE, "22023")                                                   \
    X(SQLSTATE_READ_ONLY_SQL_TRANSACTION, "25006")                                                 \
    X(SQLSTATE_IN_FAILED_SQL_TRANSACTION, "25P02")                                                 \
    X(SQLSTATE_INVALID_SQL_STATEMENT_NAME, "26000")                                                \
    X(SQLSTATE_INVALID_AUTHORIZATION, "28")                                                        \
    X(SQLSTATE_INVALID_CATALOG_NAME, "3D000") /* no such database */                               \
    X(SQLSTATE_INVALID_SCHEMA_NAME, "3F000")                                                       \
    X(SQLSTATE_SERIALIZATION_FAILURE, "40001")                                                     \
    X(SQLSTATE_DEADLOCK_DETECTED, "40P01")                                                         \
    X(SQLSTATE_SYNTAX_OR_ACCESS, "42")                                                             \
    X(SQLSTATE_INSUFFICIENT_PRIVILEGE, "42501")                                                    \
    X(SQLSTATE_SYNTAX_ERROR, "42601")                                                              \
    X(SQLSTATE_UNDEFINED_COLUMN, "42703")                                                          \
    X(SQLSTATE_DATATYPE_MISMATCH, "42804")                                                         \
    X(SQLSTATE_UNDEFINED_FUNCTION, "42883")                                                        \
    X(SQLSTATE_UNDEFINED_TABLE, "42P01")                                                           \
    X(SQLSTATE_INVALID_FUNCTION_DEFINITION, "42P13") /* CREATE OR REPLACE: other parameters */     \
    X(SQLSTATE_INVALID_TABLE_DEFINITION, "42P16")    /* of a view: other columns */                \
    X(SQLSTATE_INSUFFICIENT_RESOURCES, "53")                                                       \
    X(SQLSTATE_DISK_FULL, "53100")                                                                 \
    X(SQLSTATE_OUT_OF_MEMORY, "53200")                /* of the lock table, too */                 \
    X(SQLSTATE_CONFIGURATION_LIMIT_EXCEEDED, "53400") /* temp_file_limit */                        \
    X(SQLSTATE_TOO_MANY_CONNECTIONS, "53300")                                                      \
    X(SQLSTATE_LOCK_NOT_AVAILABLE, "55P03")                                                        \
    X(SQLSTATE_QUERY_CANCELED, "57014")                                                            \
    X(SQLSTATE_ADMIN_SHUTDOWN, "57P01")                                                            \
    X(SQLSTATE_CRASH_SHUTDOWN, "57P02")                                                            \
    X(SQLSTATE_CANNOT_CONNECT_NOW, "57P03")                                                        \
    X(SQLSTATE_SYSTEM_ERROR, "58")                                                                 \
    X(SQLSTATE_STALE_TOKEN, "LS001")                                                               \
    X(SQLSTATE_NO_SENSE, "LS002")                                                                  \
    X(SQLSTATE_NO_SUCH_THING, "LS003")                                                             \
    X(SQLSTATE_OVERTAKEN, "LS004")
#define SQLSTATE_CONSTANT(constant, text) constant,
enum sqlstate { SQLSTATES(SQLSTATE_CONSTANT) };
#undef SQLSTATE_CONSTANT

/** Whether the error has it, or is of that class. */
bool sqlstate_is(const struct err *err, enum sqlstate sqlstate);
/** As an error has it. */
const char *sqlstate_text(enum sqlstate sqlstate);

/** *ret_kind and *ret_hint (may be NULL) come from the same row of the table. */
enum rc sqlstate_reaction(const char *sqlstate, enum err_kind *ret_kind, const char **ret_hint);

/** The server has undone the statement for another session's sake, a deadlock or a serialization
 * failure, and is well: the statement, or its transaction, is simply repeated, at most so many
 * times. */
#define UNDONE_MOST 8
bool sqlstate_undone(const struct err *err);
/** Waits before it is repeated; tries: how often it was before. Each time twice as long, 1.3 s in
 * all. */
void sqlstate_undone_wait(int tries);
/** The login is not let in, or may not do this: a person helps. */
bool sqlstate_barred(const struct err *err);
/** Of a statement of Lockstep: the schema lacks what it names, or has it in another form. */
bool sqlstate_other_schema(const struct err *err);
/** The server has undone the statement because it lacks disk or another resource, and the session
 * is well. Not the lock table, which only the end of sessions empties, nor connections. */
bool sqlstate_lacks(const struct err *err);

#endif

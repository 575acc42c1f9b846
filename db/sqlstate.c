/* From an SQLSTATE to a reaction, by one table that is read from its top: single codes are above
 * the class that they belong to. */
#include "db/sqlstate.h"

#include "base/remedies.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>

/* The first row whose code is a prefix of the SQLSTATE decides (PostgreSQL manual, Appendix A). */
static const struct reaction {
    const char *code;
    enum rc rc;
    enum err_kind kind;
    const char *hint;
} reactions[] = {
    {"08", RC_LOST, ERR_DB_DOWN, NULL},
    {"57P01", RC_LOST, ERR_DB_DOWN, NULL}, /* admin_shutdown: also pg_terminate_backend */
    {"57P02", RC_LOST, ERR_DB_DOWN, NULL}, /* crash_shutdown */
    {"57P03", RC_RETRY, ERR_DB_DOWN,
     "The server is starting up or shutting down; try again in a moment."},
    {"57P05", RC_LOST, ERR_DB_DOWN, NULL}, /* idle_session_timeout */
    {"25P03", RC_LOST, ERR_DB_DOWN, NULL}, /* idle_in_transaction_session_timeout */
    {"25006", RC_LOST, ERR_DB, "The server is read-only: a standby? Connect to the primary."},
    {"53300", RC_RETRY, ERR_DB_DOWN,
     "No connection is free: raise max_connections or lower the readers."},
    {"53200", RC_RETRY, ERR_DB,
     "Out of memory or lock table full: raise max_locks_per_transaction."},
    {"53100", RC_RETRY, ERR_DB, "Free disk space on the database server."},
    {"53", RC_RETRY, ERR_DB, "The server lacks a resource (disk, memory); see its log."},
    {"40", RC_RETRY, ERR_DB, NULL}, /* deadlock, serialization */
    {"55P03", RC_RETRY, ERR_DB, REMEDY_ROW_HELD},
    {"55006", RC_RETRY, ERR_DB, NULL},
    {"57014", RC_RETRY, ERR_DB, NULL}, /* cancelled, or a time-out */
    {"58", RC_RETRY, ERR_DB, "The server met an operating system error; see its log."},
    /* Trouble that lasts until a person acts: a retry would fill the log. */
    {"28", RC_FATAL, ERR_DB_DOWN, "Check user, password and pg_hba.conf."},
    {"3D000", RC_FATAL, ERR_DB_DOWN, "Create the database, or name another one with --dbname."},
    {"42501", RC_FATAL, ERR_DB,
     "Grant the group role that this needs (lockstep_executor, lockstep_producer, ...)."},
    {"3F000", RC_FATAL, ERR_SCHEMA, REMEDY_MIGRATE_UP},
    {"42P01", RC_FATAL, ERR_SCHEMA, REMEDY_MIGRATE_UP},
    {"42883", RC_FATAL, ERR_SCHEMA, REMEDY_MIGRATE_UP},
    {"XX", RC_FATAL, ERR_DB, "An internal error of the server; see its log."},
    {"", RC_REJECT, ERR_DB, NULL},
};

/* Without an SQLSTATE the error is libpq's own and not the server's: the connection is broken, and
 * the first row (08) stands for it. */
enum rc sqlstate_reaction(const char *sqlstate, enum err_kind *ret_kind, const char **ret_hint)
{
    const struct reaction *found = &reactions[0];
    if (sqlstate != NULL && *sqlstate != '\0')
        while (strncmp(sqlstate, found->code, strlen(found->code)) != 0)
            found++;
    if (ret_kind != NULL)
        *ret_kind = found->kind;
    if (ret_hint != NULL)
        *ret_hint = found->hint;
    return found->rc;
}

/* Not 40003 (statement_completion_unknown): the statement may have been done. */
bool sqlstate_undone(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_SERIALIZATION_FAILURE) ||
           sqlstate_is(err, SQLSTATE_DEADLOCK_DETECTED);
}

void sqlstate_undone_wait(int tries)
{
    (void)poll(NULL, 0, 5 << tries);
}

bool sqlstate_barred(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) ||
           sqlstate_is(err, SQLSTATE_INVALID_AUTHORIZATION);
}

bool sqlstate_other_schema(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_UNDEFINED_FUNCTION) ||
           sqlstate_is(err, SQLSTATE_UNDEFINED_TABLE) ||
           sqlstate_is(err, SQLSTATE_INVALID_SCHEMA_NAME) ||
           sqlstate_is(err, SQLSTATE_UNDEFINED_COLUMN) ||
           sqlstate_is(err, SQLSTATE_DATATYPE_MISMATCH);
}

/** Class 53 but for 53200 and 53300: disk space is missing, or a limit of the configuration is
 * reached. */
bool sqlstate_lacks(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_INSUFFICIENT_RESOURCES) &&
           !sqlstate_is(err, SQLSTATE_OUT_OF_MEMORY) &&
           !sqlstate_is(err, SQLSTATE_TOO_MANY_CONNECTIONS);
}

const char *sqlstate_text(enum sqlstate sqlstate)
{
    static const char *const texts[] = {
#define TEXT(constant, text) [constant] = (text),
        SQLSTATES(TEXT)
#undef TEXT
    };
    return texts[sqlstate];
}

bool sqlstate_is(const struct err *err, enum sqlstate sqlstate)
{
    const char *text = sqlstate_text(sqlstate);
    return strncmp(err->code, text, strlen(text)) == 0;
}

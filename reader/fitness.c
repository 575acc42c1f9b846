/* Asks the server, and not the error of a statement, because the SQL of a task fails with the same
 * codes: a function of the user's may be missing, too, or the task may have left a role without
 * rights. Begin with fitness_check(). */
#include "reader/fitness.h"

#include "base/remedies.h"
#include "base/remedies_rights.h"
#include "base/utf8.h"
#include "db/db.h"
#include "db/sqlstate.h"

#include <string.h>

static const char OBJECT[] = "task SQL";

static enum rc of_another_schema(const char *missing, struct err *err)
{
    enum rc rc = err_set(
        err, RC_FATAL, ERR_SCHEMA, OBJECT,
        "Restart this executor with the lockstep that made the schema. " REMEDY_MIGRATE_LIST,
        "function %s does not exist: the schema is of another version", missing);
    err_code(err, sqlstate_text(SQLSTATE_UNDEFINED_FUNCTION));
    return rc;
}

/* The server lets the login in, and may still lack, or refuse it, the functions that record an
 * attempt: that is known before a task begins. */
enum rc fitness_check(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_reader_granted, NULL, &row, err);
    if (rc == RC_OK && !db_null(row, 0, READER_GRANTED_MISSING))
        return of_another_schema(db_text(row, 0, READER_GRANTED_MISSING), err);
    if (rc != RC_OK || db_null(row, 0, READER_GRANTED_REFUSED))
        return rc;
    const char *login = db_text(row, 0, READER_GRANTED_LOGIN);
    const char *refused = db_text(row, 0, READER_GRANTED_REFUSED);
    rc = err_set(err, RC_FATAL, ERR_DB_DOWN, OBJECT, NULL,
                 "login \"%s\" may not call %s: permission denied", login, refused);
    err_code(err, sqlstate_text(SQLSTATE_INSUFFICIENT_PRIVILEGE));
    switch (db_word(row, 0, READER_GRANTED_LACKS)) {
    case READER_GRANTED_IS_FUNCTION:
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_FUNCTIONS, refused);
        break;
    case READER_GRANTED_IS_SCHEMA:
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_SCHEMA);
        break;
    case READER_GRANTED_IS_INHERIT:
        utf8_format(err->hint, sizeof err->hint, REMEDY_INHERIT(login));
        break;
    default:
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_TASK(login));
    }
    return rc;
}

bool fitness_found(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) && strcmp(err->object, OBJECT) == 0;
}

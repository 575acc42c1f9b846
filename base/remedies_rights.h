/**
 * What: the remedies that grant a right, as the statements that an administrator runs.
 * Invariants: those of base/remedies.h, which has the others. A remedy that names a login or a
 *   database takes the name as its parameter and stands for the format with its values, so that no
 *   caller forgets to quote: any login can be pasted.
 * Threads: any. Ownership: literals, and names as QUOTED has them. Failure: none.
 */
#ifndef BASE_REMEDIES_RIGHTS_H
#define BASE_REMEDIES_RIGHTS_H

#include "base/quoted.h"

#define REMEDY_GRANT(role, login)                                                                  \
    "Run it as a login that is a member of %s (-s postgres.user=LOGIN), or: GRANT %s TO %s;",      \
        role, role, QUOTED(login)
#define REMEDY_GRANT_GROUP(role, login)                                                            \
    "GRANT %s TO %s; if it is a member, grant to %s what the message names", role, QUOTED(login),  \
        role
#define REMEDY_GRANT_ONE(login)                                                                    \
    "GRANT lockstep_executor TO %s; is for executors. lockstep_producer publishes, "               \
    "lockstep_operator controls, lockstep_monitor looks",                                          \
        QUOTED(login)
#define REMEDY_GRANT_CONNECT(database, login)                                                      \
    "GRANT CONNECT ON DATABASE %s TO %s;", QUOTED(database), QUOTED(login)
#define REMEDY_LOGIN(login) "ALTER ROLE %s LOGIN;", QUOTED(login)
#define REMEDY_ROLE_LIMIT(login)                                                                   \
    "ALTER ROLE %s CONNECTION LIMIT -1; removes the limit of the login; or lower the readers.",    \
        QUOTED(login)
#define REMEDY_DATABASE_LIMIT(database)                                                            \
    "ALTER DATABASE %s CONNECTION LIMIT -1; removes the limit of the database; or lower the "      \
    "readers.",                                                                                    \
        QUOTED(database)
#define REMEDY_GRANT_LOOK(login)                                                                   \
    "To look: GRANT lockstep_monitor TO %s; to act: GRANT lockstep_operator TO %s;",               \
        QUOTED(login), QUOTED(login)
#define REMEDY_GRANT_SIGN_IN(login)                                                                \
    "Sign in with a login of PostgreSQL and its password. If both are right, it may lack a "       \
    "group: GRANT lockstep_monitor TO %s; or pg_hba.conf has no line for it: the "                 \
    "console's log says which",                                                                    \
        QUOTED(login)
#define REMEDY_INHERIT(login)                                                                      \
    "ALTER ROLE %s INHERIT; from PostgreSQL 16 on, then revoke the group and grant it again",      \
        QUOTED(login)
#define REMEDY_GRANT_ACT(login) "GRANT lockstep_operator TO %s; then sign in again", QUOTED(login)
#define REMEDY_GRANT_END_OTHER(login)                                                              \
    "GRANT pg_signal_backend TO %s; the session of a superuser is ended by a superuser only",      \
        QUOTED(login)
#define REMEDY_GRANT_CONSOLE(login)                                                                \
    "GRANT lockstep_monitor, lockstep_operator TO %s;", QUOTED(login)
#define REMEDY_TOKEN_ACT                                                                           \
    "Use a token that may act, or [console] login = postgres and sign in: lockstep console token " \
    "create acts --role operator"
#define REMEDY_GRANT_TASK(login) "GRANT lockstep_task TO %s;", QUOTED(login)
#define REMEDY_GRANT_SCHEMA      "GRANT USAGE ON SCHEMA lockstep TO lockstep_task;"
#define REMEDY_GRANT_FUNCTIONS   "GRANT EXECUTE ON FUNCTION %s TO lockstep_task;"
#define REMEDY_GRANT_END(tasks, login)                                                             \
    "GRANT %s TO %s; or, for all logins: GRANT pg_signal_backend TO %s; GRANT pg_read_all_stats "  \
    "TO %s;",                                                                                      \
        QUOTED(tasks), QUOTED(login), QUOTED(login), QUOTED(login)

#endif

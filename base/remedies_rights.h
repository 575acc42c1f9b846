/**
 * What: the remedies that grant a right, as the statements that an administrator runs.
 * Invariants: those of base/remedies.h, which has the others; a name is in double quotes, so that
 *   any login can be pasted.
 * Threads: any. Ownership: literals. Failure: none.
 */
#ifndef BASE_REMEDIES_RIGHTS_H
#define BASE_REMEDIES_RIGHTS_H

#define REMEDY_GRANT                                                                               \
    "Run it as a login that is a member of %s (-s postgres.user=LOGIN), or: GRANT %s TO \"%s\";"
#define REMEDY_GRANT_GROUP                                                                         \
    "GRANT %s TO \"%s\"; if it is a member, grant to %s what the message names"
#define REMEDY_GRANT_ONE                                                                           \
    "GRANT lockstep_executor TO \"%s\"; is for executors. lockstep_producer publishes, "           \
    "lockstep_operator controls, lockstep_monitor looks"
#define REMEDY_GRANT_CONNECT "GRANT CONNECT ON DATABASE \"%s\" TO \"%s\";"
#define REMEDY_LOGIN         "ALTER ROLE \"%s\" LOGIN;"
#define REMEDY_ROLE_LIMIT                                                                          \
    "ALTER ROLE \"%s\" CONNECTION LIMIT -1; removes the limit of the login; or lower the readers."
#define REMEDY_DATABASE_LIMIT                                                                      \
    "ALTER DATABASE \"%s\" CONNECTION LIMIT -1; removes the limit of the database; or lower the "  \
    "readers."
#define REMEDY_GRANT_LOOK                                                                          \
    "To look: GRANT lockstep_monitor TO \"%s\"; to act: GRANT lockstep_operator TO \"%s\";"
#define REMEDY_GRANT_SIGN_IN                                                                       \
    "Sign in with a login of PostgreSQL and its password. If both are right, it may lack a "       \
    "group: GRANT lockstep_monitor TO \"%s\"; or pg_hba.conf has no line for it: the "             \
    "console's log says which"
#define REMEDY_INHERIT                                                                             \
    "ALTER ROLE \"%s\" INHERIT; from PostgreSQL 16 on, then revoke the group and grant it again"
#define REMEDY_GRANT_ACT "GRANT lockstep_operator TO \"%s\"; then sign in again"
#define REMEDY_GRANT_END_OTHER                                                                     \
    "GRANT pg_signal_backend TO \"%s\"; the session of a superuser is ended by a superuser "       \
    "only"
#define REMEDY_GRANT_CONSOLE "GRANT lockstep_monitor, lockstep_operator TO \"%s\";"
#define REMEDY_TOKEN_ACT                                                                           \
    "Use a token that may act, or [console] login = postgres and sign in: lockstep console token " \
    "create acts --role operator"
#define REMEDY_GRANT_TASK      "GRANT lockstep_task TO \"%s\";"
#define REMEDY_GRANT_SCHEMA    "GRANT USAGE ON SCHEMA lockstep TO lockstep_task;"
#define REMEDY_GRANT_FUNCTIONS "GRANT EXECUTE ON FUNCTION %s TO lockstep_task;"
#define REMEDY_GRANT_END                                                                           \
    "GRANT \"%s\" TO \"%s\"; or, for all logins: GRANT pg_signal_backend TO \"%s\"; GRANT "        \
    "pg_read_all_stats TO \"%s\";"

#endif

/* The group role that a command needs, for the hint of an error 42501. The table is for the hint
 * alone: PostgreSQL checks the right, by the grants in sql/security/.
 *
 * A new command that changes something needs a row, or its hint would name lockstep_monitor. The
 * rows of one noun go from the special to the general one. */
#include "cli/commands.h"
#include "cli/options.h"

#include "base/remedies_rights.h"
#include "config/conninfo.h"
#include "db/backend.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

#define MONITOR  "lockstep_monitor"
#define OPERATOR "lockstep_operator"

/* The first row that fits. NULL fits any verb, and any command line. */
static const struct right {
    const char *noun, *verb;
    const char *with; /* the first argument, or an option that is given */
    const char *role;
} rights[] = {
    {"executor", "run", NULL, "lockstep_executor"},
    {"executor", "list", NULL, MONITOR},
    {"executor", NULL, NULL, OPERATOR},
    {"scheduler", NULL, NULL, "lockstep_executor"},
    {"all", NULL, NULL, "lockstep_executor"},
    {"publish", NULL, NULL, "lockstep_producer"},
    {"bench", NULL, NULL, OPERATOR},
    {"rejected", "redrive", NULL, "lockstep_producer"},
    {"replay", NULL, "--execute", OPERATOR},
    {"replay", NULL, "--resume", OPERATOR},
    {"replay", NULL, "--abandon", OPERATOR},
    {"migrate", "up", NULL, "lockstep_owner"},
    {"queue", "create", NULL, OPERATOR},
    {"queue", "set", NULL, OPERATOR},
    {"queue", "pause", NULL, OPERATOR},
    {"queue", "resume", NULL, OPERATOR},
    {"queue", "delete", NULL, OPERATOR},
    {"run", "cancel", NULL, OPERATOR},
    {"run", "end", NULL, OPERATOR},
    {"run", "pause", NULL, OPERATOR},
    {"run", "resume", NULL, OPERATOR},
    {"run", "retry", NULL, OPERATOR},
    {"task", "cancel", NULL, OPERATOR},
    {"task", "retry", NULL, OPERATOR},
    {"task", "complete", NULL, OPERATOR},
    {"task", "fail", NULL, OPERATOR},
    {"job", "apply", NULL, OPERATOR},
    {"job", "import", NULL, OPERATOR},
    {"job", "run", NULL, OPERATOR},
    {"job", "backfill", NULL, OPERATOR},
    {"job", "enable", NULL, OPERATOR},
    {"job", "disable", NULL, OPERATOR},
    {"job", "set", NULL, OPERATOR},
    {"job", "delete", NULL, OPERATOR},
    {"job", "withdraw", NULL, OPERATOR},
    {"schedule", "add", NULL, OPERATOR},
    {"schedule", "set", NULL, OPERATOR},
    {"schedule", "remove", NULL, OPERATOR},
    {"monitor", "run", NULL, OPERATOR},
    {"monitor", "ack", NULL, OPERATOR},
    {"monitor", "silence", NULL, OPERATOR},
    {"alert", "ack", NULL, OPERATOR},
    {"console", "token", "create", OPERATOR},
    {"console", "token", "revoke", OPERATOR},
    {NULL, NULL, NULL, MONITOR},
};

static bool fits(const char *expected, const char *given)
{
    return expected == NULL || (given != NULL && strcmp(expected, given) == 0);
}

static bool has(const struct cli *cli, const char *with)
{
    /* console token is one command whose first argument is its verb. */
    const char *argument = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    return with != NULL && with[0] == '-' ? cli_has(cli, with + 2) : fits(with, argument);
}

/* A daemon's sessions are closed by now, and only a session knows its login, which may come from a
 * service file or from the environment. */
static struct db *open_again(const struct cli *cli)
{
    struct db *db = NULL;
    struct err ignored;
    STR_AUTO conninfo = {0};
    config_conninfo(cli->config, &conninfo);
    return db_open(conninfo.data, DB_CLI, &db, &ignored) == RC_OK ? db : NULL;
}

enum rc rights_check(const struct cli *cli, const char *function, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(cli->db, &sql_session_may, (const char *const[]){function}, &row, err);
    if (rc != RC_OK || db_bool(row, 0, SESSION_MAY_MAY))
        return rc;
    rc = err_set(err, RC_FATAL, ERR_DB, db_login(cli->db), NULL, "it may not call lockstep.%s",
                 function);
    err_code(err, sqlstate_text(SQLSTATE_INSUFFICIENT_PRIVILEGE));
    return rc;
}

void rights_hint(const struct cli *cli, struct err *err)
{
    if (!sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) || cli->command == NULL ||
        /* A hint of the database itself knows more. Only the general one of 42501 is replaced. */
        (*err->hint != '\0' && strncmp(err->hint, "Grant the group role", 20) != 0))
        return;
    const struct right *right = rights;
    /* The last row fits every command, so the loop ends there. */
    while (right->noun != NULL && !(fits(right->noun, cli->command->noun) &&
                                    fits(right->verb, cli->command->verb) && has(cli, right->with)))
        right++;
    struct db *own = cli->db == NULL ? open_again(cli) : NULL;
    const struct db *db = own != NULL ? own : cli->db;
    if (db != NULL)
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_GRANT(right->role, db_login(db)));
    db_close(own);
}

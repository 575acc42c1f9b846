/* Which group role a command needs: for a word to whoever lacks it. */
#include "cli/commands.h"

#include "base/remedies.h"
#include "db/backend.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

static const struct right {
    const char *noun, *verb, *role; /* verb NULL: all others */
} rights[] = {
    {"executor", "run", "lockstep_executor"},     {"executor", "set", "lockstep_operator"},
    {"executor", "drain", "lockstep_operator"},   {"publish", NULL, "lockstep_producer"},
    {"rejected", "redrive", "lockstep_producer"}, {"replay", NULL, "lockstep_operator"},
    {"migrate", NULL, "lockstep_owner"},          {"queue", "create", "lockstep_operator"},
    {"queue", "set", "lockstep_operator"},        {"queue", "pause", "lockstep_operator"},
    {"queue", "resume", "lockstep_operator"},     {"queue", "delete", "lockstep_operator"},
    {"run", "cancel", "lockstep_operator"},       {"run", "end", "lockstep_operator"},
    {"run", "pause", "lockstep_operator"},        {"run", "resume", "lockstep_operator"},
    {"run", "retry", "lockstep_operator"},        {"task", "cancel", "lockstep_operator"},
    {"task", "retry", "lockstep_operator"},       {"task", "complete", "lockstep_operator"},
    {"task", "fail", "lockstep_operator"},        {NULL, NULL, "lockstep_monitor"},
};

void rights_hint(const struct cli *cli, struct err *err)
{
    if (!sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE) || cli->command == NULL ||
        (*err->hint != '\0' && strncmp(err->hint, "Grant the group role", 20) != 0))
        return;
    const struct right *right = rights;
    while (right->noun != NULL &&
           (strcmp(right->noun, cli->command->noun) != 0 ||
            (right->verb != NULL && strcmp(right->verb, cli->command->verb) != 0)))
        right++;
    (void)snprintf(err->hint, sizeof err->hint, REMEDY_GRANT, right->role,
                   cli->db != NULL ? db_login(cli->db) : "the login");
}

/* console token list, create, revoke: tokens with which programs use the console's API. The
 * database makes the token and stores its hash, so create prints it once and no command can show it
 * again.
 *
 * A console compares a token with its hash in the database and remembers the answer for some
 * seconds, so a revoked token is refused only after these. */
#include "cli/commands.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

static enum rc create(struct cli *cli, const char *name, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *role = cli_text(cli, "role");
    const char *const params[] = {name, role != NULL ? role : "monitor", cli_text(cli, "days"),
                                  cli_has(cli, "publish") ? "true" : "false",
                                  cli_text(cli, "reason")};
    enum rc rc = db_run(cli->db, &sql_console_token_create, params, &result, err);
    if (rc == RC_OK) {
        /* The token alone is on stdout, so that a script can keep it. */
        (void)puts(db_text(result, 0, CONSOLE_TOKEN_CREATE_TOKEN));
        cli_say(cli,
                "lockstep: it is shown this once. A program sends it as a header: Authorization: "
                "Bearer TOKEN\n");
    }
    return rc;
}

/* Names, roles and times; the tokens are not there. */
static enum rc list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = db_run(cli->db, &sql_console_token_list, NULL, &result, err);
    return rc == RC_OK ? cli_print_list(cli, result, NULL, err) : rc;
}

static enum rc revoke(struct cli *cli, const char *name, struct err *err)
{
    const char *const params[] = {name, cli_text(cli, "reason")};
    enum rc rc = db_run(cli->db, &sql_console_token_revoke, params, NULL, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: token %s is revoked; a console refuses it within ten seconds\n",
                name);
    return rc;
}

enum rc command_console_token(struct cli *cli, struct err *err)
{
    const char *action = cli->argument_count > 0 ? cli->arguments[0] : "list";
    const char *name = cli->argument_count > 1 ? cli->arguments[1] : NULL;
    if (strcmp(action, "list") == 0 && name == NULL)
        return list(cli, err);
    if (strcmp(action, "create") == 0 && name != NULL)
        return create(cli, name, err);
    if (strcmp(action, "revoke") == 0 && name != NULL)
        return revoke(cli, name, err);
    return err_set(err, RC_REJECT, ERR_USAGE, action, REMEDY_TOKEN,
                   "it is not said what to do with which token");
}

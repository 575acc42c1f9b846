/* How long a queue keeps what is done: options that `queue create` and `queue set` share. */
#include "cli/queue_keep.h"

#include <stdio.h>
#include <string.h>

static const char *const options[] = {"keep-runs", "keep-days", "keep-failed-days",
                                      "keep-from-file"};
enum { COUNT = sizeof options / sizeof *options };

bool queue_keep_given(const struct cli *cli)
{
    bool given = false;
    for (int i = 0; i < COUNT; i++)
        given = given || cli_has(cli, options[i]);
    return given;
}

/* A number of days or of runs, or none: then this rule keeps nothing. */
static enum rc check(const struct cli *cli, const char *option, struct err *err)
{
    const char *text = cli_text(cli, option);
    int64_t number;
    if (text == NULL || strcmp(text, "none") == 0 ||
        (int64_parse(text, strlen(text), &number) && number >= 0 && number <= INT32_MAX))
        return RC_OK;
    char object[64];
    (void)snprintf(object, sizeof object, "--%s", option);
    return err_set(err, RC_REJECT, ERR_USAGE, object, "A whole number, 0 or more, or none.",
                   "\"%s\" is no number", text);
}

enum rc queue_keep_check(const struct cli *cli, struct err *err)
{
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < COUNT - 1; i++)
        rc = check(cli, options[i], err);
    if (rc == RC_OK && cli_has(cli, "keep-from-file") &&
        (cli_has(cli, "keep-runs") || cli_has(cli, "keep-days") ||
         cli_has(cli, "keep-failed-days")))
        return err_set(err, RC_REJECT, ERR_USAGE, "--keep-from-file", "Give one of them.",
                       "it is either the configuration file's to say what is kept, or yours");
    return rc;
}

enum rc queue_keep_set(struct cli *cli, const char *name, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    const char *params[] = {name, cli_text(cli, "keep-runs"), cli_text(cli, "keep-days"),
                            cli_text(cli, "keep-failed-days"),
                            cli_has(cli, "keep-from-file") ? "true" : "false"};
    enum rc rc = db_run(cli->db, &sql_queue_keep, params, &row, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: kept: %s\n", name, db_text(row, 0, 0));
    return rc;
}

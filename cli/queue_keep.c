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

/* A number of days or of runs, or none: then there is no such rule. */
static enum rc check(const struct cli *cli, const char *option, struct err *err)
{
    const char *text = cli_text(cli, option);
    bool runs = strcmp(option, "keep-runs") == 0;
    int64_t number, most = runs ? KEEP_MOST_RUNS : KEEP_MOST_DAYS;
    if (text == NULL || strcmp(text, "none") == 0)
        return RC_OK;
    bool parsed = int64_parse(text, strlen(text), &number);
    if (parsed && number >= 1 && number <= most)
        return RC_OK;
    char object[64], hint[100];
    (void)snprintf(object, sizeof object, "--%s", option);
    (void)snprintf(hint, sizeof hint, "A whole number from 1 to %lld, or none: no such rule.",
                   (long long)most);
    return err_set(err, RC_REJECT, ERR_USAGE, object, hint, "\"%s\" is no number of %s%s", text,
                   runs ? "runs" : "days", parsed ? " that can be kept" : "");
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

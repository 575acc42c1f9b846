/* migrate up, list, validate, get, roles: db/migrate.c applies and compares; this file prints. up
 * waits for locks of other sessions like any DDL, so it names the sessions that it waits for
 * (cli/waiting.c).
 *
 * migrate up changes the schema, and dev up by the same function; commands with NEEDS_SCHEMA refuse
 * a schema of another version. list, validate and get change nothing. roles prints statements and
 * runs none: only an administrator may create roles, and should read the statements first. */
#include "db/migrate.h"

#include "cli/commands.h"
#include "cli/waiting.h"

#include "base/number.h"
#include "base/remedies.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rc command_migrate_up(struct cli *cli, struct err *err)
{
    int changes = 0;
    bool dry_run = cli_has(cli, "dry-run");
    /* A migration waits for a forgotten transaction without end, and would be silent. */
    struct waiting *waiting = waiting_start(cli);
    enum rc rc =
        migrate_up(cli->db, dry_run, cli_has(cli, "show-sql") ? stdout : NULL, &changes, err);
    waiting_stop(waiting);
    if (rc != RC_OK)
        return rc;
    if (changes == 0)
        cli_say(cli, "lockstep: the schema is current\n");
    else
        cli_say(cli, "lockstep: %d change%s %s to the schema\n", changes, NUMBER_S(changes),
                dry_run ? "would be made" : "made");
    return table_check(stdout, err);
}

/* Functions and views are summed up by their state, unless every row is asked for: people compare
 * the numbered migrations. */
enum rc command_migrate_list(struct cli *cli, struct err *err)
{
    static const char *const names[] = {"version", "name", "state", "applied_at"};
    static const char *const states[] = {"applied", "pending", "changed",
                                         "unknown", "newer",   "other"};
    struct migrate_item *items = NULL;
    int count = 0;
    enum rc rc = migrate_list(cli->db, &items, &count, err);
    if (rc != RC_OK)
        return rc;
    struct table *table = table_new(stdout, cli_style(cli), "itsz", names, 4, false);
    bool all = cli->output != OUTPUT_TABLE || cli->wide;
    int functions[sizeof states / sizeof *states] = {0};
    for (int i = 0; i < count; i++) {
        const char *cells[] = {items[i].version > 0 ? DB_INT(items[i].version) : NULL,
                               items[i].name, states[items[i].state],
                               *items[i].applied_at ? items[i].applied_at : NULL};
        if (items[i].version > 0 || all)
            table_row(table, cells);
        else
            functions[items[i].state]++;
    }
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        STR_AUTO name = {0};
        str_format(&name, "%d function%s of the schema", functions[i], NUMBER_S(functions[i]));
        if (functions[i] > 0)
            table_row(table, (const char *const[]){NULL, name.data, states[i], NULL});
    }
    free(items);
    return table_end(table, err);
}

/* The exit code is 5 when the schema is not current (cli/exit.c), for deployment scripts. */
enum rc command_migrate_validate(struct cli *cli, struct err *err)
{
    enum rc rc = migrate_validate(cli->db, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: the schema is current\n");
    return rc;
}

/* Without a version: everything, in the order in which it is applied. */
enum rc command_migrate_get(struct cli *cli, struct err *err)
{
    const char *named = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    int64_t version = 0;
    /* A migration has a number; functions and views, which each migrate up applies again, have a
     * name. */
    bool number = named != NULL && int64_parse(named, strlen(named), &version), found = false;
    for (int i = 0; i < SQL_SCRIPT_COUNT; i++) {
        const struct sql_script *script = &sql_scripts[i];
        if (named != NULL && (!number || script->version != version) &&
            strcmp(script->name, named) != 0)
            continue;
        found = true;
        (void)printf("%s%s", named == NULL && i > 0 ? "\n" : "", script->text);
    }
    if (!found)
        return err_set(err, RC_REJECT, ERR_USAGE, named, REMEDY_MIGRATE_LIST,
                       "there is no migration of this number");
    return table_check(stdout, err);
}

/* Statements that are done are comments, so that the whole can be run as it is. */
enum rc command_migrate_roles(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *roles = NULL;
    DB_RESULT_AUTO *locks = NULL;
    bool show = cli_has(cli, "show-sql");
    int missing = 0;
    const char *login = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    enum rc rc = db_run(cli->db, &sql_migrate_roles, &login, &roles, err);
    for (int i = 0; rc == RC_OK && i < db_rows(roles); i++) {
        missing += db_bool(roles, i, MIGRATE_ROLES_MISSING);
        if (show)
            (void)printf("%s%s\n", db_bool(roles, i, MIGRATE_ROLES_MISSING) ? "" : "-- done: ",
                         db_text(roles, i, MIGRATE_ROLES_STATEMENT));
    }
    if (rc == RC_OK && cli_has(cli, "advisory"))
        rc = db_run(cli->db, &sql_migrate_advisory, NULL, &locks, err);
    for (int i = 0; rc == RC_OK && locks != NULL && i < db_rows(locks); i++)
        (void)printf("%s\n", db_text(locks, i, MIGRATE_ADVISORY_STATEMENT));
    if (rc == RC_OK && !show && locks == NULL && missing > 0)
        return err_set(err, RC_REJECT, ERR_FAILED, "roles", REMEDY_MIGRATE_ROLES,
                       "an administrator has to run %d statements", missing);
    if (rc == RC_OK && missing == 0)
        cli_say(cli, "lockstep: nothing is missing\n");
    return rc == RC_OK ? table_check(stdout, err) : rc;
}

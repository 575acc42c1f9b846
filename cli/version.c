/* version: the program's version, and for programs also the number of migrations in it.
 *
 * The number of migrations says which schema the program needs: migrate up of this program brings a
 * database there. */
#include "cli/commands.h"

#include <stdio.h>

enum rc command_version(struct cli *cli, struct err *err)
{
    static const char *const names[] = {"version", "migrations"};
    char migrations[24];
    (void)snprintf(migrations, sizeof migrations, "%d", SQL_MIGRATION_COUNT);
    if (cli->output == OUTPUT_TABLE) {
        (void)puts("lockstep " LOCKSTEP_VERSION);
        return table_check(stdout, err);
    }
    struct table *table = table_new(stdout, cli_style(cli), "ti", names, 2, true);
    table_row(table, (const char *const[]){LOCKSTEP_VERSION, migrations});
    return table_end(table, err);
}

/* The options of the commands that set an installation up, check and measure it. They are here
 * because the table in cli/commands.c has no line left (500); the form of a row is in
 * cli/command.h. */
#include "cli/setup_options.h"

const struct option_spec migrate_up_options[] = {
    {"dry-run", NULL, "list the migrations that would be applied, change nothing", 0},
    {"show-sql", NULL, "print the SQL to stdout", 0},
    {0}};

const struct option_spec migrate_roles_options[] = {
    {"show-sql", NULL, "print the statements to stdout; those that are done as comments", 0},
    {"advisory", NULL, "also those that keep other logins from advisory locks", 0},
    {0}};
const struct option_spec bench_options[] = {
    {"phases", "N:1:10000", "phases of the run; default 100", 0},
    {"tasks", "N:1:100000", "tasks of each phase; default 20", 0},
    {"readers", "N:1:1000", "reader threads; default [executor] readers", 0},
    {"sql", "TEXT", "the statement of each task; default SELECT 1", 0},
    {"keep", NULL, "leave the queue and its topic, to look at the run", 0},
    {0}};
const struct option_spec check_options[] = {
    {"security", NULL, "instead: rights by which one role could become another", 0}, {0}};

/* job import: turns the jobs of another scheduler into a file for job apply, on standard output.
 * The readers (cli/import_crontab.c, import_pg_cron.c, import_agent.c) find jobs, cli/import_job.c
 * lets the database try each one and undo it, so job apply accepts the whole file. No job is made
 * here.
 *
 * stdout has the file alone; everything that is not carried over is a line on stderr and an item of
 * not_carried_over, so nothing is lost without a trace. */
#include "cli/import.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/job.h"

#include "base/remedies.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_FILES 3

/* Reads the files, each by itself, the three of SQL Server Agent together. */
static enum rc read_files(struct import *import, const char *from, struct err *err)
{
    struct cli *cli = import->cli;
    struct str texts[AGENT_FILES] = {{0}};
    bool agent = strcmp(from, "sqlagent") == 0;
    enum rc rc = RC_OK;
    if (agent && cli->argument_count != AGENT_FILES)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import", REMEDY_IMPORT_AGENT,
                       "three files are needed, %d are named", cli->argument_count);
    if (agent && import->zone == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import", "Write --zone Europe/Warsaw.",
                       "the tables do not say in which time zone the server's clock is");
    for (int i = 0; rc == RC_OK && i < cli->argument_count; i++) {
        /* Each file of cron or pg_cron is read and used up before the next; those of SQL Server
         * Agent refer to each other. */
        struct str *text = &texts[agent ? i : 0];
        const char *path = cli->arguments[i];
        str_clear(text);
        rc = job_read_file(path, text, err);
        const char *content = text->data != NULL ? text->data : "";
        if (rc == RC_OK && utf8_prefix(content, text->len) < text->len)
            rc = err_set(err, RC_REJECT, ERR_USAGE, path, "Save it as UTF-8.", "it is not UTF-8");
        if (rc == RC_OK && strcmp(from, "crontab") == 0)
            rc = import_crontab(import, path, content, err);
        else if (rc == RC_OK && !agent)
            rc = import_pg_cron(import, path, content, err);
    }
    if (rc == RC_OK && agent)
        rc = import_agent(import, cli->arguments, texts, err);
    for (int i = 0; i < AGENT_FILES; i++)
        str_done(&texts[i]);
    return rc;
}

static enum rc check_options(struct cli *cli, const char *from, struct import *import,
                             struct err *err)
{
    struct queue_row queue;
    import->watch = cli_has(cli, "watch");
    import->queue = cli_text(cli, "queue");
    import->zone = cli_text(cli, "zone");
    if (from == NULL || cli->argument_count == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import", REMEDY_IMPORT_CRON,
                       from == NULL ? "--from is missing" : "no file is named");
    if (import->watch == (import->queue != NULL))
        return err_set(err, RC_REJECT, ERR_USAGE, "job import",
                       "Write --watch for what stays where it is, or --queue Q for jobs that "
                       "executors run.",
                       import->watch ? "a watch has no queue" : "neither --watch nor --queue");
    enum rc rc = import->zone != NULL ? import_check_zone(import, err) : RC_OK;
    if (rc == RC_OK && !import->watch)
        rc = find_queue(cli, import->queue, &queue, err);
    return rc;
}

/* The file: jobs, the command lines that they name, and the lines that are not carried over. job
 * apply reads only the field jobs. */
static enum rc print(struct import *import, struct err *err)
{
    cJSON *file = cJSON_CreateObject();
    cJSON_AddItemReferenceToObject(file, "jobs", import->jobs);
    if (cJSON_GetArraySize(import->commands) > 0)
        cJSON_AddItemReferenceToObject(file, "commands", import->commands);
    cJSON_AddItemReferenceToObject(file, "not_carried_over", import->lost);
    FREE_AUTO char *text =
        import->cli->output == OUTPUT_TABLE ? cJSON_Print(file) : cJSON_PrintUnformatted(file);
    (void)printf("%s\n", text);
    cJSON_Delete(file);
    return table_check(stdout, err);
}

enum rc command_job_import(struct cli *cli, struct err *err)
{
    const char *from = cli_text(cli, "from");
    struct import import = {.cli = cli,
                            .jobs = cJSON_CreateArray(),
                            .lost = cJSON_CreateArray(),
                            .commands = cJSON_CreateObject()};
    enum rc rc = check_options(cli, from, &import, err);
    if (rc == RC_OK)
        rc = read_files(&import, from, err);
    if (rc == RC_OK)
        rc = print(&import, err);
    if (rc == RC_OK && cJSON_GetArraySize(import.commands) > 0)
        cli_say(cli, "lockstep: executors need the commands that the jobs name: [commands] in "
                     "lockstep.conf; the field commands has what each of them did\n");
    cJSON_Delete(import.jobs);
    cJSON_Delete(import.lost);
    cJSON_Delete(import.commands);
    return rc;
}

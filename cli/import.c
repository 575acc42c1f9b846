/* job import: a job file on standard output. The database tries each job (job apply, undone), so job apply accepts the file. */
#include "cli/import.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/job.h"

#include "base/ascii.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_FILES 3
#define TRIAL       "job-import-trial"

void import_place(char place[IMPORT_PLACE], const char *path, int line)
{
    (void)snprintf(place, IMPORT_PLACE, "%.250s:%d", path, line);
}

void import_lost(struct import *import, const char *place, const char *what, const char *reason)
{
    cJSON *lost = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(lost, "place", place);
    (void)cJSON_AddStringToObject(lost, "what", what);
    (void)cJSON_AddStringToObject(lost, "reason", reason);
    cJSON_AddItemToArray(import->lost, lost);
    cli_say(import->cli, "lockstep: %s: not carried over: %s: %s\n", place, what, reason);
}

void import_name(char name[64], const char *text)
{
    size_t len = 0;
    for (; *text != '\0' && len < 60; text++) {
        bool good =
            ascii_alnum(*text) || *text == '_' || (len > 0 && (*text == '.' || *text == '-'));
        if (good)
            name[len++] = *text;
        else if (len > 0 && name[len - 1] != '-')
            name[len++] = '-';
    }
    while (len > 0 && name[len - 1] == '-')
        len--;
    name[len] = '\0';
    if (len == 0)
        (void)strcpy(name, "job");
}

cJSON *import_cron(const char *expr, const char *zone)
{
    cJSON *schedule = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(schedule, "name", "cron");
    (void)cJSON_AddStringToObject(schedule, "kind", "cron");
    (void)cJSON_AddStringToObject(schedule, "expr", expr);
    (void)cJSON_AddStringToObject(schedule, "zone", zone);
    return schedule;
}

/* Whether an item of the list has this value of `field`. */
static bool has(const cJSON *list, const char *field, const char *value)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, field));
        if (text != NULL && strcmp(text, value) == 0)
            return true;
    }
    return false;
}

/* name, or name-2, name-3 ...: what the list does not have. */
static void unique(const cJSON *list, const char *field, const char *name, char ret_name[64])
{
    (void)snprintf(ret_name, 64, "%s", name);
    for (int n = 2; has(list, field, ret_name); n++)
        (void)snprintf(ret_name, 64, "%.50s-%d", name, n);
}

/* Whether the database accepts a job; RC_NONE: it does not, err says why. Nothing is changed. */
static enum rc try_job(struct import *import, const cJSON *job, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    FREE_AUTO char *text = cJSON_PrintUnformatted(job);
    enum rc rc = job_said(db_run(import->cli->db, &sql_job_apply,
                                 (const char *const[]){text, "job import", "true", "false", "true"},
                                 &rows, err),
                          err);
    return rc == RC_REJECT && err->kind == ERR_USAGE ? RC_NONE : rc;
}

/* A schedule, as that of a watch. As try_job. */
static enum rc try_schedule(struct import *import, cJSON *schedule, struct err *err)
{
    cJSON *trial = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(trial, "job", TRIAL);
    (void)cJSON_AddBoolToObject(trial, "watch", true);
    cJSON_AddItemReferenceToArray(cJSON_AddArrayToObject(trial, "schedules"), schedule);
    enum rc rc = try_job(import, trial, err);
    cJSON_Delete(trial);
    return rc;
}

static void lost_refused(struct import *import, const char *place, const char *what,
                         const struct err *err)
{
    char reason[1200];
    utf8_format(reason, sizeof reason, "%s%s%s", err->message, err->hint[0] != '\0' ? "; " : "",
                err->hint);
    import_lost(import, place, what, reason);
}

/* A schedule as people know it: its expression, or its name. */
static const char *words_of(const cJSON *schedule)
{
    const char *expr = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(schedule, "expr"));
    return expr != NULL ? expr
                        : cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(schedule, "name"));
}

/* Keeps the schedules that the database accepts, each under a name of its own. Takes the list. */
static enum rc add_schedules(struct import *import, const char *place, cJSON *job, cJSON *schedules,
                             struct err *err)
{
    enum rc rc = RC_OK;
    cJSON *kept = cJSON_CreateArray(), *schedule;
    while (rc == RC_OK && (schedule = cJSON_DetachItemFromArray(schedules, 0)) != NULL) {
        char name[64];
        unique(kept, "name",
               cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(schedule, "name")), name);
        cJSON_ReplaceItemInObjectCaseSensitive(schedule, "name", cJSON_CreateString(name));
        rc = try_schedule(import, schedule, err);
        if (rc == RC_OK) {
            cJSON_AddItemToArray(kept, schedule);
            continue;
        }
        if (rc == RC_NONE)
            lost_refused(import, place, words_of(schedule), err);
        cJSON_Delete(schedule);
        rc = rc == RC_NONE ? RC_OK : rc;
    }
    cJSON_Delete(schedules);
    if (cJSON_GetArraySize(kept) > 0)
        cJSON_AddItemToObject(job, "schedules", kept);
    else
        cJSON_Delete(kept);
    return rc;
}

/* What it does: a statement, or the command that has its name. */
static void add_tasks(struct import *import, cJSON *job, const struct found *found, cJSON *task)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(job, "job"));
    task = task != NULL ? task : cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(task, "order", 100);
    if (!cJSON_HasObjectItem(task, "sql")) {
        (void)cJSON_AddStringToObject(task, "command", name);
        (void)cJSON_AddStringToObject(import->commands, name, found->text);
    }
    (void)cJSON_AddStringToObject(job, "queue", import->queue);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(job, "tasks"), task);
}

enum rc import_job(struct import *import, const struct found *found, struct err *err)
{
    char name[64], text[1000];
    cJSON *job = cJSON_CreateObject();
    bool timed = cJSON_GetArraySize(found->schedules) > 0;
    unique(import->jobs, "job", found->name, name);
    utf8_copy(text, sizeof text, found->text);
    (void)cJSON_AddStringToObject(job, "job", name);
    (void)cJSON_AddStringToObject(job, "description", text);
    enum rc rc = add_schedules(import, found->place, job, found->schedules, err);
    bool kept = cJSON_HasObjectItem(job, "schedules");
    if (import->watch) {
        (void)cJSON_AddBoolToObject(job, "watch", true);
        cJSON_Delete(found->task);
    } else {
        add_tasks(import, job, found, found->task);
    }
    if (!found->enabled)
        (void)cJSON_AddBoolToObject(job, "enabled", false);
    if (rc == RC_OK && !kept && (timed || import->watch)) {
        import_lost(import, found->place, text,
                    timed ? "none of its schedules is carried over" : "it has no schedule");
    } else if (rc == RC_OK) {
        rc = try_job(import, job, err);
        if (rc == RC_NONE)
            lost_refused(import, found->place, text, err);
        kept = rc == RC_OK;
        if (kept) {
            cJSON_AddItemToArray(import->jobs, job);
            return RC_OK;
        }
    }
    cJSON_DeleteItemFromObjectCaseSensitive(import->commands, name);
    cJSON_Delete(job);
    return rc == RC_NONE ? RC_OK : rc;
}

/* Reads the files, each by itself, the three of SQL Server Agent together. */
static enum rc read_files(struct import *import, const char *from, struct err *err)
{
    struct cli *cli = import->cli;
    struct str texts[AGENT_FILES] = {{0}};
    bool agent = strcmp(from, "sqlagent") == 0;
    enum rc rc = RC_OK;
    if (agent && cli->argument_count != AGENT_FILES)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import",
                       "lockstep job import --from sqlagent sysjobs.csv sysschedules.csv "
                       "sysjobschedules.csv --watch --zone Europe/Warsaw",
                       "three files are needed, %d are named", cli->argument_count);
    if (agent && import->zone == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import", "Write --zone Europe/Warsaw.",
                       "the tables do not say in which time zone the server's clock is");
    for (int i = 0; rc == RC_OK && i < cli->argument_count; i++) {
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

/* Whether there is such a zone: else each line would be refused for it. */
static enum rc check_zone(struct import *import, struct err *err)
{
    cJSON *schedule = import_cron("@daily", import->zone);
    enum rc rc = try_schedule(import, schedule, err);
    cJSON_Delete(schedule);
    return rc == RC_NONE ? RC_REJECT : rc;
}

static enum rc check_options(struct cli *cli, const char *from, struct import *import,
                             struct err *err)
{
    struct queue_row queue;
    import->watch = cli_has(cli, "watch");
    import->queue = cli_text(cli, "queue");
    import->zone = cli_text(cli, "zone");
    if (from == NULL || cli->argument_count == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "job import",
                       "lockstep job import --from crontab /etc/crontab --watch --zone "
                       "Europe/Warsaw",
                       from == NULL ? "--from is missing" : "no file is named");
    if (import->watch == (import->queue != NULL))
        return err_set(err, RC_REJECT, ERR_USAGE, "job import",
                       "Write --watch for what stays where it is, or --queue Q for jobs that "
                       "executors run.",
                       import->watch ? "a watch has no queue" : "neither --watch nor --queue");
    enum rc rc = import->zone != NULL ? check_zone(import, err) : RC_OK;
    if (rc == RC_OK && !import->watch)
        rc = find_queue(cli, import->queue, &queue, err);
    return rc;
}

/* The file: jobs, the command lines that they name, and the lines that are not carried over. job apply reads only the field jobs. */
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

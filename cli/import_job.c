/* One found job: named, its schedules tried one by one, then tried as a whole, and kept or noted as
 * lost with the reason. Trying is job apply with dry-run, so the database's own checks decide, and
 * a job with one bad schedule keeps the others.
 *
 * A schedule is tried alone first, so that the reason names the schedule; the job is tried as a
 * whole afterwards, because its name, queue and tasks are checked only then. */
#include "cli/import.h"
#include "cli/job.h"

#include "base/ascii.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* A schedule is tried within a watch of this name, because a watch needs neither queue nor
 * tasks. */
#define TRIAL "job-import-trial"

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
        /* A dot or hyphen may not be first; a run of other characters becomes one hyphen. */
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

/* The first of name, name-2, name-3 ... that the list does not have. */
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
    enum rc rc =
        job_refused(db_run(import->cli->db, &sql_job_apply,
                           (const char *const[]){text, "job import", "true", "false", "true", NULL},
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
    static const char trial[] =
        "job " TRIAL ", schedule "; /* a name that is in no file of the user */
    char reason[1200];
    const char *why = err->message;
    if (strncmp(why, trial, sizeof trial - 1) == 0 && strstr(why, ": ") != NULL)
        why = strstr(why, ": ") + 2;
    utf8_format(reason, sizeof reason, "%s%s%s", why, err->hint[0] != '\0' ? "; " : "", err->hint);
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
    /* cron and pg_cron do not repeat a line that fails. */
    (void)cJSON_AddNumberToObject(task, "max_attempts", 1);
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
    /* A job without its times would be kept silently and never fire. */
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
    /* A job that is lost leaves no command behind for which [commands] would need a line. */
    cJSON_DeleteItemFromObjectCaseSensitive(import->commands, name);
    cJSON_Delete(job);
    return rc == RC_NONE ? RC_OK : rc;
}

enum rc import_check_zone(struct import *import, struct err *err)
{
    /* Any rule will do: only its zone is in question. */
    cJSON *schedule = import_cron("@daily", import->zone);
    enum rc rc = try_schedule(import, schedule, err);
    cJSON_Delete(schedule);
    return rc == RC_NONE ? RC_REJECT : rc;
}

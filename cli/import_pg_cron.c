/* pg_cron: its table cron.job as CSV with a header, COPY cron.job TO STDOUT (FORMAT csv, HEADER).
 * The statement of each row becomes a task; its schedule is a cron expression or "N seconds".
 * pg_cron runs in UTC unless cron.timezone is set (pg_cron's README), so UTC is the default zone
 * here. */
#include "cli/import.h"
#include "cli/import_csv.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "30 seconds" as 30s; "" if it is none. */
static void seconds_of(const char *schedule, char every[32])
{
    int seconds = 0, end = 0;
    *every = '\0';
    if (sscanf(schedule, " %d second%n", &seconds, &end) == 1 && end > 0 && seconds > 0)
        (void)snprintf(every, 32, "%ds", seconds);
}

/* The first five fields: pg_cron reads no more. A day of the month that is $, its last one, is our
 * L. */
static void expr_of(const char *schedule, struct str *expr)
{
    str_text(expr, ""); /* also when there is no field */
    schedule += strspn(schedule, " \t");
    /* @daily and its kind are one word. */
    if (*schedule == '@') {
        str_text(expr, schedule);
        return;
    }
    for (int field = 0; field < 5 && *schedule != '\0'; field++) {
        size_t len = strcspn(schedule, " \t");
        bool last_day = field == 2 && len == 1 && *schedule == '$';
        if (field > 0)
            str_text(expr, " ");
        str_add(expr, last_day ? "L" : schedule, len);
        schedule += len;
        schedule += strspn(schedule, " \t");
    }
}

static enum rc row_job(struct import *import, const struct import_csv *csv, const char *path,
                       int row, struct err *err)
{
    const char *schedule = import_csv_cell(csv, row, import_csv_column(csv, "schedule"));
    const char *named = import_csv_cell(csv, row, import_csv_column(csv, "jobname"));
    const char *sql = import_csv_cell(csv, row, import_csv_column(csv, "command"));
    const char *active = import_csv_cell(csv, row, import_csv_column(csv, "active"));
    char place[IMPORT_PLACE], name[64], every[32], number[80];
    STR_AUTO expr = {0};
    import_place(place, path, csv->rows[row].line);
    (void)snprintf(number, sizeof number, "pg_cron-%.60s",
                   import_csv_cell(csv, row, import_csv_column(csv, "jobid")));
    import_name(name, *named != '\0' ? named : number);
    cJSON *rule, *schedules = cJSON_CreateArray(), *task = cJSON_CreateObject();
    seconds_of(schedule, every);
    expr_of(schedule, &expr);
    if (*every != '\0') {
        rule = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(rule, "name", "interval");
        (void)cJSON_AddStringToObject(rule, "kind", "interval");
        (void)cJSON_AddStringToObject(rule, "every", every);
    } else {
        rule = import_cron(expr.data, import->zone != NULL ? import->zone : "UTC");
    }
    cJSON_AddItemToArray(schedules, rule);
    (void)cJSON_AddStringToObject(task, "sql", sql);
    for (int i = 0; i < 2 && !import->watch; i++) {
        static const char *const columns[] = {"username", "database"};
        const char *who = import_csv_cell(csv, row, import_csv_column(csv, columns[i]));
        char what[200];
        utf8_format(what, sizeof what, "%s %s", columns[i], who);
        if (*who != '\0')
            import_lost(import, place, what,
                        "tasks run in the database and as the login of task_conninfo");
    }
    const struct found found = {.place = place,
                                .text = sql,
                                .name = name,
                                .enabled = *active != 'f' && *active != 'F' && *active != '0',
                                .task = task,
                                .schedules = schedules};
    return import_job(import, &found, err);
}

enum rc import_pg_cron(struct import *import, const char *path, const char *text, struct err *err)
{
    struct import_csv csv = {0};
    enum rc rc = import_csv_read(path, text, &csv, err);
    if (rc == RC_OK &&
        (import_csv_column(&csv, "schedule") < 0 || import_csv_column(&csv, "command") < 0))
        rc = err_set(err, RC_REJECT, ERR_USAGE, path,
                     "psql -c 'COPY cron.job TO STDOUT (FORMAT csv, HEADER)' >jobs.csv",
                     "its header has no columns schedule and command");
    for (int row = 1; rc == RC_OK && row < csv.count; row++)
        rc = row_job(import, &csv, path, row, err);
    import_csv_done(&csv);
    return rc;
}

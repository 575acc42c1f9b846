/* SQL Server Agent: msdb's tables sysjobs, sysschedules and sysjobschedules as CSV with headers.
 * The columns of sysschedules are copied by name into a schedule of kind calendar, which has the
 * same fields with the same meaning (Microsoft's reference of dbo.sysschedules), so no rule is
 * translated here. */
#include "cli/import.h"
#include "cli/import_csv.h"

#include "base/ascii.h"
#include "base/number.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum msdb { JOBS, SCHEDULES, LINKS, TABLES };
static const char *const names[TABLES] = {"sysjobs", "sysschedules", "sysjobschedules"};

struct agent {
    struct import *import;
    struct import_csv tables[TABLES];
    const char *paths[TABLES];
};

static const char *cell(const struct agent *agent, enum msdb table, int row, const char *column)
{
    const struct import_csv *csv = &agent->tables[table];
    return import_csv_cell(csv, row, import_csv_column(csv, column));
}

/* Which of the tables a file is; TABLES: none of them. */
static enum msdb msdb_of(const struct import_csv *csv)
{
    /* By the columns and not by the files' names, so that the order of the arguments does not
     * matter. */
    bool job = import_csv_column(csv, "job_id") >= 0, name = import_csv_column(csv, "name") >= 0;
    bool schedule = import_csv_column(csv, "schedule_id") >= 0;
    if (schedule && import_csv_column(csv, "freq_type") >= 0)
        return SCHEDULES;
    return job && schedule ? LINKS : job && name ? JOBS : TABLES;
}

static bool is_on(const char *enabled)
{
    return strcmp(enabled, "0") != 0 && !ascii_same(enabled, "false");
}

/* A row of sysschedules as a schedule of ours, column by column. */
static cJSON *schedule_of(const struct agent *agent, int row)
{
    static const char *const columns[] = {"freq_type",
                                          "freq_interval",
                                          "freq_subday_type",
                                          "freq_subday_interval",
                                          "freq_relative_interval",
                                          "freq_recurrence_factor",
                                          "active_start_date",
                                          "active_end_date",
                                          "active_start_time",
                                          "active_end_time"};
    cJSON *schedule = cJSON_CreateObject();
    char name[64];
    import_name(name, cell(agent, SCHEDULES, row, "name"));
    (void)cJSON_AddStringToObject(schedule, "name", name);
    (void)cJSON_AddStringToObject(schedule, "kind", "calendar");
    (void)cJSON_AddStringToObject(schedule, "zone", agent->import->zone);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *text = cell(agent, SCHEDULES, row, columns[i]);
        int64_t number;
        if (*text == '\0')
            continue;
        /* A text that is no number goes to the database as it is, which refuses it with the
         * column's name. */
        if (int64_parse(text, strlen(text), &number))
            (void)cJSON_AddNumberToObject(schedule, columns[i], (double)number);
        else
            (void)cJSON_AddStringToObject(schedule, columns[i], text);
    }
    if (!is_on(cell(agent, SCHEDULES, row, "enabled")))
        (void)cJSON_AddBoolToObject(schedule, "enabled", false);
    return schedule;
}

/* The row of sysschedules with this number, 0: none. */
static int schedule_row(const struct agent *agent, const char *id)
{
    for (int row = 1; row < agent->tables[SCHEDULES].count; row++)
        if (strcmp(cell(agent, SCHEDULES, row, "schedule_id"), id) == 0)
            return row;
    return 0;
}

/* A job may have several schedules, and a schedule several jobs: sysjobschedules links them. */
static cJSON *schedules_of(const struct agent *agent, const char *place, const char *job)
{
    cJSON *schedules = cJSON_CreateArray();
    for (int link = 1; link < agent->tables[LINKS].count; link++) {
        const char *id = cell(agent, LINKS, link, "schedule_id");
        /* A uniqueidentifier may be exported in either case. */
        if (!ascii_same(cell(agent, LINKS, link, "job_id"), job))
            continue;
        int row = schedule_row(agent, id);
        char what[100];
        utf8_format(what, sizeof what, "schedule_id %s", id);
        if (row > 0)
            cJSON_AddItemToArray(schedules, schedule_of(agent, row));
        else
            import_lost(agent->import, place, what, "sysschedules has no such row");
    }
    return schedules;
}

/* Rows that no job uses are reported, too: an export may be incomplete. */
static void say_unused(const struct agent *agent)
{
    for (int row = 1; row < agent->tables[SCHEDULES].count; row++) {
        const char *id = cell(agent, SCHEDULES, row, "schedule_id");
        bool used = false;
        for (int link = 1; !used && link < agent->tables[LINKS].count; link++)
            used = strcmp(cell(agent, LINKS, link, "schedule_id"), id) == 0;
        char place[IMPORT_PLACE];
        import_place(place, agent->paths[SCHEDULES], agent->tables[SCHEDULES].rows[row].line);
        if (!used)
            import_lost(agent->import, place, cell(agent, SCHEDULES, row, "name"),
                        "no job has this schedule");
    }
    for (int link = 1; link < agent->tables[LINKS].count; link++) {
        const char *id = cell(agent, LINKS, link, "job_id");
        bool used = false;
        for (int row = 1; !used && row < agent->tables[JOBS].count; row++)
            used = ascii_same(cell(agent, JOBS, row, "job_id"), id);
        char place[IMPORT_PLACE];
        import_place(place, agent->paths[LINKS], agent->tables[LINKS].rows[link].line);
        if (!used)
            import_lost(agent->import, place, id, "sysjobs has no such row");
    }
}

static enum rc row_job(const struct agent *agent, int row, struct err *err)
{
    char place[IMPORT_PLACE], name[64];
    const char *called = cell(agent, JOBS, row, "name");
    import_place(place, agent->paths[JOBS], agent->tables[JOBS].rows[row].line);
    import_name(name, called);
    const struct found found = {.place = place,
                                .text = called,
                                .name = name,
                                .enabled = is_on(cell(agent, JOBS, row, "enabled")),
                                .schedules =
                                    schedules_of(agent, place, cell(agent, JOBS, row, "job_id"))};
    return import_job(agent->import, &found, err);
}

/* Each file is one of the tables, and each table is there once. */
static enum rc read_tables(struct agent *agent, char *const *paths, const struct str *texts,
                           struct err *err)
{
    for (int i = 0; i < TABLES; i++) {
        struct import_csv csv = {0};
        enum rc rc =
            import_csv_read(paths[i], texts[i].data != NULL ? texts[i].data : "", &csv, err);
        enum msdb table = rc == RC_OK ? msdb_of(&csv) : TABLES;
        if (rc == RC_OK && (table == TABLES || agent->paths[table] != NULL))
            rc = err_set(err, RC_REJECT, ERR_USAGE, paths[i],
                         "Export SELECT * FROM msdb.dbo.sysjobs, sysschedules and "
                         "sysjobschedules, each with its header.",
                         table == TABLES ? "its columns are of none of the three tables"
                                         : "there are two files of %s",
                         table == TABLES ? "" : names[table]);
        if (rc != RC_OK) {
            import_csv_done(&csv);
            return rc;
        }
        agent->tables[table] = csv;
        agent->paths[table] = paths[i];
    }
    return RC_OK;
}

enum rc import_agent(struct import *import, char *const *paths, const struct str *texts,
                     struct err *err)
{
    struct agent agent = {.import = import};
    enum rc rc = read_tables(&agent, paths, texts, err);
    for (int row = 1; rc == RC_OK && row < agent.tables[JOBS].count; row++)
        rc = row_job(&agent, row, err);
    if (rc == RC_OK)
        say_unused(&agent);
    for (int i = 0; i < TABLES; i++)
        import_csv_done(&agent.tables[i]);
    return rc;
}

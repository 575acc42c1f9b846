/**
 * What: job import: the jobs of cron, pg_cron and SQL Server Agent, as jobs that job apply accepts.
 *   import_crontab.c, import_pg_cron.c and import_agent.c read; import_job.c names, tries and
 *   keeps; import.c has the command.
 * Invariants: the database has accepted each job of `jobs` in a trial that changed nothing. `lost`
 *   has every line that is not carried over, with its place and the reason.
 * Threads: the main thread.
 * Ownership: struct import owns its lists; import_job takes the cJSON that it gets.
 * Failure: RC_REJECT: the file cannot be read as its kind. A job that the database refuses is no
 *   failure; it is in `lost`.
 */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "base/str.h"
#include "cli/cli.h"

#include <cjson/cJSON.h>

struct import {
    struct cli *cli;
    bool watch;        /* --watch: the other scheduler continues to do the work */
    const char *queue; /* of jobs */
    const char *zone;  /* NULL: not given */
    cJSON *jobs, *lost, *commands;
};

/* One job as it was found. */
struct found {
    const char *place; /* "crontab:12" */
    const char *text;  /* what it does, for people */
    const char *name;  /* the name that it should have; made valid, and unique */
    bool enabled;
    cJSON *task;      /* what it does; NULL: the command of its name, which is `text` */
    cJSON *schedules; /* a list */
};

/* "crontab:12" */
#define IMPORT_PLACE 300
void import_place(char place[IMPORT_PLACE], const char *path, int line);
void import_lost(struct import *import, const char *place, const char *what, const char *reason);
/** Keeps the job if the database accepts it, without the schedules that it refuses. Takes task and
 * schedules. */
MUST_CHECK enum rc import_job(struct import *import, const struct found *found, struct err *err);
/** A text as the name of a job or a schedule: letters, digits, dots, hyphens, underscores. */
void import_name(char name[64], const char *text);

/** Whether the database knows the time zone of import->zone: otherwise it would refuse each line.
 * RC_REJECT: it does not. */
MUST_CHECK enum rc import_check_zone(struct import *import, struct err *err);

/** A rule of the kind cron, named `cron`. */
cJSON *import_cron(const char *expr, const char *zone);

/* text: the whole file, which is UTF-8. */
MUST_CHECK enum rc import_crontab(struct import *import, const char *path, const char *text,
                                  struct err *err);
MUST_CHECK enum rc import_pg_cron(struct import *import, const char *path, const char *text,
                                  struct err *err);
/* sysjobs, sysschedules and sysjobschedules, in any order: their columns say which is which. */
MUST_CHECK enum rc import_agent(struct import *import, char *const *paths, const struct str *texts,
                                struct err *err);

#endif

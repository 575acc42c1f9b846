/* The options of the commands of jobs and schedules. They are here because the table in
 * cli/commands.c has no line left (500); the form of a row is in cli/command.h.
 *
 * An option that takes words or a number is checked by its form before the command runs; the
 * meaning of times, rules and names is checked by the database. Options that several commands share
 * are macros, so that their help is one text. */
#include "cli/job_options.h"

#define SCHEDULE_OPTIONS                                                                           \
    {"zone", "ZONE", "time zone of a cron expression; default: UTC", 0},                           \
        {"after", "WHEN", "after this time, 2026-01-31T06:00:00Z; default: now", 0},               \
    {                                                                                              \
        "count", "N:1:100000", "how many times; default 5", 'n'                                    \
    }
const struct option_spec schedule_next_options[] = {
    {"file", "FILE",
     "instead: rules in JSON, one a line; an answer in JSON for each; -: standard input", 0},
    SCHEDULE_OPTIONS,
    {0}};
const struct option_spec schedule_explain_options[] = {SCHEDULE_OPTIONS, {0}};

const struct option_spec schedule_forecast_options[] = {
    {"from", "WHEN", "from this time on, 2026-01-31T06:00:00Z; default: now", 0},
    {"to", "WHEN", "before this time", 0},
    {"count", "N:1:100000", "how many times; default 20", 'n'},
    {0}};
#define SCHEDULE_FIELDS                                                                            \
    {"cron", "EXPR", "a cron expression, '0 2 * * *'", 0},                                         \
        {"every", "LENGTH", "every so long: 90s, 5m, 1h30m, 2d", 0},                               \
        {"phase", "LENGTH", "of --every: so long after the full multiples", 0},                    \
        {"daily", "TIMES", "at these times of every day: 06:00,18:30", 0},                         \
        {"weekly", "DAYS TIMES", "'MON,FRI 06:00,18:30'", 0},                                      \
        {"monthly", "DAYS TIMES", "'1,15,-1 06:00'; below 0 from the end of the month", 0},        \
        {"at", "WHEN", "once, 2026-01-31T06:00:00Z, or 2026-01-31T06:00:00 by the zone's clock",   \
         0},                                                                                       \
        {"after-job", "JOB", "when a run of this job has ended", 0},                               \
        {"on", "success|failure|always", "of --after-job: how it has ended; default success", 0},  \
        {"rule", "JSON", "any rule, with the fields of a file: a calendar, for example", 0},       \
        {"zone", "ZONE", "its time zone; default UTC", 0},                                         \
        {"not-before", "WHEN", "not before this time, 2026-01-31T06:00:00Z", 0},                   \
        {"not-after", "WHEN", "not after this time", 0},                                           \
        {"misfire", "once|all|skip", "what becomes of times that passed undecided; default once",  \
         0},                                                                                       \
        {"catchup-window", "LENGTH", "what is older does not fire; default 1h", 0},                \
        {"jitter", "LENGTH", "it fires later by a share of this that its name decides", 0},        \
        {"grace", "LENGTH", "how late it may be before the monitor names it", 0},                  \
    {                                                                                              \
        "enabled", "on|off", "whether it fires", 0                                                 \
    }
/* Of add and set. A field that is not given stays as it is, or gets the default of a file for job
 * apply. */
const struct option_spec schedule_change_options[] = {
    SCHEDULE_FIELDS,
    {"if-version", "N:1:2147483647", "only if the job is of this version", 0},
    {0}};
/* Without --force a job that was changed by hand stays as it is (docs/reference/jobs.md). */
const struct option_spec job_apply_options[] = {
    {"dry-run", NULL, "check everything and say what would be changed", 0},
    {"prune", NULL, "delete jobs that the file declared once and does no more; not with -", 0},
    {"force", NULL, "overwrite what was changed by hand, or declared by another file", 0},
    {0}};
const struct option_spec job_test_options[] = {
    {"at", "WHEN", "as if it were this time, 2026-01-31T06:00:00Z; default: now", 0}, {0}};
const struct option_spec job_run_options[] = {
    {"param", "NAME=VALUE", "a parameter, instead of the job's default; as often as wanted", 0},
    {"wait", NULL, "watch the run until it ends; exit code 0 if it completed", 0},
    {"ascii", NULL, "draw with ASCII characters", 0},
    {0}};
const struct option_spec job_backfill_options[] = {
    {"from", "WHEN", "the first time, 2026-01-01T00:00:00Z", 0},
    {"to", "WHEN", "the end of the range, which is not part of it; not in the future", 0},
    {"schedule", "NAME", "only the times of this schedule; default: of all that are enabled", 0},
    {"overlap", "queue_one|allow|skip",
     "while a run of the job is open: queue_one (default) waits for its end before each time, "
     "allow "
     "fires all at once, skip leaves the time out",
     0},
    {"dry-run", NULL, "say what would fire, change nothing", 0},
    {0}};
#define VERSION_OPTION                                                                             \
    {                                                                                              \
        "if-version", "N:1:2147483647", "only if the job is of this version", 0                    \
    }
const struct option_spec job_change_options[] = {VERSION_OPTION, {0}};
const struct option_spec job_set_options[] = {
    {"change", "JSON", "the fields that change; null: as if it had never been set", 0},
    VERSION_OPTION,
    {0}};
const struct option_spec job_import_options[] = {
    {"from", "crontab|pg_cron|sqlagent", "whose jobs the files have", 0},
    {"watch", NULL, "watches: what is done stays where it is, and reports in", 0},
    {"queue", "Q", "jobs that executors of this queue run", 0},
    {"zone", "ZONE",
     "time zone of the times: of the host or the server; of pg_cron UTC if not given", 0},
    {"system", NULL, "crontab: its lines name a user; so do /etc/crontab and /etc/cron.d/*", 0},
    {0}};

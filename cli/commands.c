#include "cli/commands.h"

#include "cli/job_options.h"
#include "cli/setup_options.h"
#include "cli/words.h"

#include <string.h>

/* The one table of commands: help, dispatch and docs/reference/commands.md follow it. */

static const struct option_spec monitor_list_options[] = {
    {"problems", NULL, "only jobs that need a look", 0}, {0}};
static const struct option_spec ack_options[] = {
    {"reason", "TEXT", "needed: the person at work, the remedy", 0}, {0}};
static const struct option_spec monitor_silence_options[] = {
    {"for", "TIME:1000:31622400000", "for so long", 0},
    {"until", "WHEN", "until this time, 2026-01-31T06:00:00Z", 0},
    {"end", NULL, "instead: raise alerts again", 0},
    {"reason", "TEXT", "why nothing is to be raised; needed, but with --end", 0},
    {0}};
static const struct option_spec scheduler_run_options[] = {
    {"once", NULL, "fire the schedules that are due now, and end", 0}, {0}};

static const struct option_spec console_run_options[] = {
    {"listen", "ADDRESS",
     "instead of [console] listen: a port, HOST:PORT, a socket's path, systemd", 0},
    {"assets", "DIR", "serves the page from this folder instead: for work on it", 0},
    {0}};
static const struct option_spec all_run_options[] = {
    {"queue", "Q", "a queue to work on; may be repeated", 0},
    {"readers", "N:1:1000", "reader threads over all its queues", 0},
    {"listen", "ADDRESS", "of the console, instead of [console] listen", 0},
    {"assets", "DIR", "serves the page from this folder instead: for work on it", 0},
    {0}};
static const struct option_spec console_token_options[] = {
    {"role", "monitor|operator|ping", "the rights of a new token; default monitor", 0},
    {"days", "N:1:3650", "a new token expires after so many days; default never", 0},
    {"publish", NULL, "a new token may publish, too, and, as an operator, redrive and replay", 0},
    {"reason", "TEXT", "why, for the event log", 0},
    {0}};

#define QUEUE_OPTIONS                                                                              \
    {"max-readers", "N:0:1000", "tasks running at once, over all executors", 0},                   \
        {"on-failure", "stop|continue|pause", "the effect of a finally failed task on its run",    \
         0},                                                                                       \
        {"runs", "serial|concurrent", "order between runs", 0},                                    \
        {"max-attempts", "N:1:1000|default",                                                       \
         "attempts of a task that names no number; default: as its executors say", 0},             \
        {"retry-intervals", "LIST", "seconds until the next attempt, with commas", 0},             \
        {"retry-on", "LIST", "which errors are tried again: all,-42,-23505", 0},                   \
        {"dead-letters", "on|off", "rejected messages go to the topic <topic>.rejected, too", 0},  \
        {"external-lease", "TIME:1000:3600000000",                                                 \
         "how long a worker of an external task may be silent", 0},                                \
        {"events", "on|off", "publish the events of runs and phases on the topic <topic>.events",  \
         0},                                                                                       \
        {"keep-runs", "N:1:1000000|none", "keep the tasks of so many of the newest ended runs",    \
         0},                                                                                       \
        {"keep-days", "N:1:36500|none", "keep the tasks of runs that ended in the last N days",    \
         0},                                                                                       \
        {"keep-failed-days", "N:1:36500|none", "likewise of runs that did not complete", 0},       \
    {                                                                                              \
        "lookahead", "N:1:1000", "phases claimed beyond the open one", 0                           \
    }

static const struct option_spec queue_create_options[] = {
    {"topic", "T", "the topic; default: the queue's name", 0},
    {"partition", "N:0:2147483647", "the partition; default 0 of a topic with one", 0},
    QUEUE_OPTIONS,
    {"create-topic", NULL, "create the topic, if missing: one partition, kept without limit", 0},
    {"replication", "N:1:32767", "replication factor of a topic made here; default: the cluster's",
     0},
    {"from-offset", "N|earliest|latest", "begin here; default: earliest", 0},
    {"from-end", NULL,
     "short for --from-offset latest: the messages that are there now are not run", 0},
    {0},
};
static const struct option_spec queue_set_options[] = {
    QUEUE_OPTIONS,
    {"keep-from-file", NULL, "take the retention from [queue:NAME] of the executors' files again",
     0},
    {0}};
static const struct option_spec reason_options[] = {{"reason", "TEXT", "why, for the event log", 0},
                                                    {0}};
static const struct option_spec queue_resume_options[] = {
    {"reason", "TEXT", "why, for the event log", 0},
    {"accept-topic", NULL, "of a halted queue: the topic is right as it is now", 0},
    {"accept-server", NULL, "of a queue halted for its server: it may run on this one", 0},
    {"from-offset", "N|earliest|latest",
     "with --accept-topic: the first offset to run; default: the cursor", 0},
    {0},
};
static const struct option_spec queue_advise_options[] = {
    {"runs", "N:1:100", "so many of the newest that have ended; default 10", 0},
    {"readers", "N:1:64", "for 1 to N readers; default 64", 0},
    {0},
};
static const struct option_spec queue_delete_options[] = {
    {"yes", NULL,
     "needed: the queue's runs, tasks, records and jobs are deleted with it; the topic stays", 0},
    {0},
};

static const struct option_spec publish_options[] = {
    {"queue", "Q", "the queue", 0},
    {"format", "jsonl|csv", "form of the file; default: by its name", 0},
    {"query", "SQL", "read the work from a query: columns order and sql", 0},
    {"run", "UUID", "the run's id; default: a new one", 0},
    {"name", "TEXT", "the run's name, for people", 0},
    {"on-failure", "stop|continue|pause",
     "the effect of a finally failed task on the run; default: as the queue says", 0},
    {"stream", NULL, "send while reading, in constant memory; the work must come sorted", 0},
    {"resume", "RUN", "continue a run whose producer died; FILE if it has moved or was a pipe", 0},
    {"unfinished", "close|refuse",
     "the way to treat another run whose producer died; default: close", 0},
    {"wait", NULL, "wait for the run's end; exit code 1 if it did not complete", 0},
    {"timeout", "TIME:0:2147483647", "of --wait", 0},
    {"no-wait-lock", NULL, "give up at once if another producer is on the queue", 0},
    {"dry-run", NULL, "check the work, show its phases, send nothing", 0},
    {0},
};
static const struct option_spec executor_run_options[] = {
    {"queue", "Q", "a queue to work on; may be repeated", 0},
    {"readers", "N:1:1000", "reader threads over all its queues", 0},
    {"until-idle", NULL, "end with 0 when the topic's end is reached and nothing is unfinished", 0},
    {0},
};

#define LIMIT_OPTION                                                                               \
    {                                                                                              \
        "limit", "N:1:2147483647", "the newest N, the newest last; default 100", 'n'               \
    }
#define QUEUE_OPTION                                                                               \
    {                                                                                              \
        "queue", "Q", "of this queue only", 0                                                      \
    }

static const struct option_spec alert_list_options[] = {
    {"open", NULL, "only those that are open; the default", 0},
    {"all", NULL, "also those that are closed", 0},
    {"receivers", NULL, "instead: the receivers, and the notices that are not delivered to each",
     0},
    LIMIT_OPTION,
    {0}};
static const struct option_spec job_list_options[] = {QUEUE_OPTION, {0}};
static const struct option_spec job_newest_options[] = {LIMIT_OPTION, {0}};
static const struct option_spec job_history_options[] = {
    {"days", NULL, "sums by day (UTC) instead, also of times that are not kept", 0},
    LIMIT_OPTION,
    {0}};
static const struct option_spec run_list_options[] = {
    QUEUE_OPTION, {"status", RUN_STATUSES, "of this status only", 0}, LIMIT_OPTION, {0}};
static const struct option_spec run_show_options[] = {
    QUEUE_OPTION,
    {"latest", NULL, "the newest run instead of an id", 0},
    {"ascii", NULL, "draw with ASCII characters", 0},
    {"svg", "FILE",
     "instead, write a picture of its phases and tasks over time; -: to standard output", 0},
    {"html", "FILE", "instead, write the picture and its figures as a page; -: likewise", 0},
    {0},
};
static const struct option_spec run_watch_options[] = {
    QUEUE_OPTION,
    {"latest", NULL, "the newest run instead of an id", 0},
    {"ascii", NULL, "draw with ASCII characters", 0},
    {0},
};
static const struct option_spec task_list_options[] = {
    {"run", "ID", "of this run only", 0},
    QUEUE_OPTION,
    {"status", TASK_STATUS_WORDS, "of this status only", 0},
    LIMIT_OPTION,
    {0}};
static const struct option_spec task_show_options[] = {
    {"raw", "payload|response|error|notices", "this alone, as it is: no table, no escapes", 0},
    {0}};
static const struct option_spec run_retry_options[] = {
    QUEUE_OPTION,
    {"latest", NULL, "the newest run instead of an id", 0},
    {"status", "Failed|PartiallyCompleted|Cancelled|Paused",
     "instead of an id: all runs of this status, each by itself", 0},
    {"name", "PATTERN", "with --status: those with a name LIKE this", 0},
    LIMIT_OPTION,
    {"reason", "TEXT", "why, for the event log", 0},
    {0}};
static const struct option_spec run_control_options[] = {
    QUEUE_OPTION, {"reason", "TEXT", "why, for the event log", 0}, {0}};
static const struct option_spec run_explain_options[] = {
    QUEUE_OPTION, {"latest", NULL, "the newest run instead of an id", 0}, {0}};
static const struct option_spec executor_set_options[] = {
    {"readers", "N:0:1000", "so many of the readers it was started with", 0},
    {"reason", "TEXT", "why, for the event log", 0},
    {0}};
static const struct option_spec rejected_list_options[] = {QUEUE_OPTION, LIMIT_OPTION, {0}};
static const struct option_spec rejected_show_options[] = {
    {"raw", NULL, "only the bytes, as they came", 0}, {0}};
static const struct option_spec rejected_redrive_options[] = {
    QUEUE_OPTION,
    {"all", NULL, "instead of ids: all messages but duplicates and those that were redriven", 0},
    {"run", "ID", "instead of ids: the rejected messages of this run", 0},
    {"reason-is", REJECTED_REASONS,
     "instead of ids: the messages that were rejected for this reason, e.g. hole", 0},
    {"file", "FILE", "corrected messages as JSON Lines, each with the rejected_id that it corrects",
     0},
    {"order", "N", "the order of all of them; default: each keeps its own", 0},
    {"reason", "TEXT", "why, for the event log", 0},
    {"again", NULL, "also messages that were redriven before", 0},
    {"dry-run", NULL, "check the messages, show their phases, send nothing", 0},
    {"wait", NULL, "wait for the run's end; exit code 1 if it did not complete", 0},
    {"timeout", "TIME:0:2147483647", "of --wait", 0},
    {0}};
static const struct option_spec man_options[] = {
    {"directory", "DIR", "write all pages there, below man1 and man5", 0}, {0}};
static const struct option_spec message_check_options[] = {
    {"form", "record|staged|kcat",
     "the form of a line: a record's value (default), a task as `publish` reads it, or a line of "
     "kcat -J "
     "writes",
     0},
    {0}};
static const struct option_spec replay_options[] = {
    {"queue", "Q", "the queue", 0},
    {"from-offset", "N|earliest|latest", "begin here; default: earliest", 0},
    {"to-offset", "N|earliest|latest", "the first one that is not replayed; default: latest", 0},
    {"from-time", "TIMESTAMP", "begin with the first message of this time or later", 0},
    {"to-time", "TIMESTAMP", "end before the first message of this time or later", 0},
    {"run", "ID", "this run only", 0},
    {"phase", "N:1:9223372036854775807", "with --run: the phase of this order only", 0},
    {"mode", "missing|failed|all",
     "missing (default): messages without a row; failed: tasks that failed or were cancelled for "
     "it; "
     "all: completed tasks as well",
     0},
    {"execute", NULL, "do it; without, it is only shown", 0},
    {"reason", "TEXT", "with --execute, needed: why, for the event log", 0},
    {"resume", "N:1:2147483647", "continue an interrupted replay", 0},
    {"abandon", "N:1:2147483647", "give up a replay that was interrupted", 0},
    {0},
};
static const struct option_spec log_options[] = {
    {"run", "ID", "of this run only", 0},
    QUEUE_OPTION,
    {"event", EVENTS, "of this kind only", 0},
    {"executions", NULL, "the execution log instead: one row an attempt", 0},
    {"follow", NULL, "continue with new events as they come", 0},
    LIMIT_OPTION,
    {0}};
static const struct option_spec config_show_options[] = {
    {"origin", NULL, "where each value comes from", 0}, {0}};
static const struct option_spec dev_broker_options[] = {
    {"topic", "NAME[:N]", "make a topic with one partition, or with N; may be repeated", 0}, {0}};
static const struct option_spec dev_dir_options[] = {{"dir", "DIR", "where it lives", 0}, {0}};
static const struct option_spec dev_up_options[] = {
    {"dir", "DIR", "where it lives", 0}, {"no-console", NULL, "PostgreSQL alone", 0}, {0}};

const struct command commands[] = {
    {"help", "", "[NOUN [VERB]]", NEEDS_NOTHING, command_help, "prints help", NULL, NULL},
    {"version", "", "", NEEDS_NOTHING, command_version, "prints the version", NULL, NULL},
    {"completion", "", "SHELL", NEEDS_NOTHING, command_completion,
     "prints a script for the shell (bash or zsh) that completes commands, options and words", NULL,
     "source <(lockstep completion bash)"},
    {"man", "", "[PAGE]", NEEDS_NOTHING, command_man,
     "prints a page for man: lockstep (default), lockstep.conf or a noun", man_options,
     "lockstep man publish | man -l -"},
    {"check", "", "", NEEDS_CONFIG, command_check,
     "tests all that Lockstep needs, end to end, one line each", check_options, NULL},
    {"bench", "", "", NEEDS_SCHEMA | NEEDS_KAFKA | NEEDS_PRIMARY, command_bench,
     "measures this installation: a synthetic run on a queue of its own", bench_options,
     "lockstep bench --phases 200 --tasks 50 --readers 8"},
    {"migrate", "up", "", NEEDS_DB | NEEDS_PRIMARY, command_migrate_up,
     "brings the schema lockstep up to date", migrate_up_options,
     "lockstep migrate up --dry-run --show-sql"},
    {"migrate", "list", "", NEEDS_DB, command_migrate_list,
     "lists the migrations: applied and pending", NULL, NULL},
    {"migrate", "validate", "", NEEDS_DB, command_migrate_validate,
     "checks the schema: exit code 0 if it is current, 5 if not", NULL, NULL},
    {"migrate", "roles", "[LOGIN]", NEEDS_DB, command_migrate_roles,
     "prints the statements that let LOGIN (default: this one) migrate, for an administrator",
     migrate_roles_options, "lockstep migrate roles --show-sql"},
    {"migrate", "get", "[VERSION]", NEEDS_NOTHING, command_migrate_get,
     "prints the SQL of one migration, or of all", NULL, "lockstep migrate get 1"},
    {"queue", "create", "NAME", NEEDS_SCHEMA | NEEDS_KAFKA, command_queue_create,
     "makes a queue over a topic with one partition", queue_create_options,
     "lockstep queue create orders --create-topic --max-readers 5"},
    {"queue", "list", "", NEEDS_SCHEMA, command_queue_list, "lists the queues", NULL, NULL},
    {"queue", "show", "NAME", NEEDS_SCHEMA, command_queue_show,
     "shows a queue: cursor, readers, lag", NULL, NULL},
    {"queue", "set", "NAME", NEEDS_SCHEMA, command_queue_set,
     "changes a queue; running executors follow at once", queue_set_options,
     "lockstep queue set orders --max-readers 20"},
    {"queue", "pause", "NAME", NEEDS_SCHEMA, command_queue_pause,
     "pauses a queue: nothing new starts, running tasks finish", reason_options, NULL},
    {"queue", "resume", "NAME", NEEDS_SCHEMA, command_queue_resume,
     "continues a paused or halted queue", queue_resume_options,
     "lockstep queue resume orders --accept-topic --from-offset 0"},
    {"queue", "explain", "NAME", NEEDS_SCHEMA, command_queue_explain,
     "explains why no task of a queue runs: cause, since when, remedy", NULL, NULL},
    {"queue", "advise", "NAME", NEEDS_SCHEMA, command_queue_advise,
     "predicts the times of runs with more or fewer readers, from the task times of the last runs",
     queue_advise_options, "lockstep queue advise orders --runs 5"},
    {"queue", "delete", "NAME", NEEDS_SCHEMA, command_queue_delete,
     "deletes a queue and its records", queue_delete_options, NULL},
    {"publish", "", "[FILE|-]", NEEDS_SCHEMA | NEEDS_KAFKA, command_publish,
     "publishes staged work as one run", publish_options,
     "lockstep publish --queue orders work.csv --wait"},
    {"executor", "run", "", NEEDS_SCHEMA | NEEDS_KAFKA | NEEDS_PATIENCE, command_executor_run,
     "runs the executor, in the foreground", executor_run_options,
     "lockstep executor run --queue orders --readers 5"},
    {"executor", "list", "", NEEDS_SCHEMA, command_executor_list,
     "lists the executors that have not ended", NULL, NULL},
    {"executor", "set", "ID", NEEDS_SCHEMA, command_executor_set,
     "changes a running executor; it follows at once", executor_set_options,
     "lockstep executor set 3f2a --readers 2 --reason 'host is loaded'"},
    {"executor", "drain", "ID", NEEDS_SCHEMA, command_executor_drain,
     "ends an executor as SIGTERM does: running tasks finish, the others are returned",
     reason_options, NULL},
    {"run", "list", "", NEEDS_SCHEMA, command_run_list, "lists runs, the newest last",
     run_list_options, NULL},
    {"run", "show", "[ID]", NEEDS_SCHEMA, command_run_show,
     "shows a run and its phases, with a picture over time", run_show_options, NULL},
    {"run", "watch", "[ID]", NEEDS_SCHEMA, command_run_watch,
     "shows a run until it ends; exit code 0 if it completed", run_watch_options,
     "lockstep run watch --latest --queue orders"},
    {"run", "cancel", "ID", NEEDS_SCHEMA, command_run_cancel,
     "cancels a run: waiting tasks are cancelled, running tasks are stopped", run_control_options,
     "lockstep run cancel 0190 --reason 'wrong source file'"},
    {"run", "end", "ID", NEEDS_SCHEMA, command_run_end,
     "closes a run whose end never comes, because its producer is gone", run_control_options,
     "lockstep run end 0190 --reason 'its producer was killed'"},
    {"run", "pause", "ID", NEEDS_SCHEMA, command_run_pause,
     "pauses a run: nothing new of it starts, running tasks finish", run_control_options, NULL},
    {"run", "resume", "ID", NEEDS_SCHEMA, command_run_resume,
     "continues a paused run, without its failed tasks", run_control_options, NULL},
    {"run", "retry", "[ID]", NEEDS_SCHEMA, command_run_retry,
     "runs the failed tasks of a run again, and those that were cancelled for them, in order",
     run_retry_options,
     "lockstep run retry --queue orders --status Failed --reason 'disk was full'"},
    {"run", "explain", "[ID]", NEEDS_SCHEMA, command_run_explain,
     "explains why a run does not continue: cause, since when, remedy", run_explain_options, NULL},
    {"task", "list", "", NEEDS_SCHEMA, command_task_list, "lists tasks, in the order of their run",
     task_list_options, "lockstep task list --run 0190 --status Failed"},
    {"task", "show", "ID", NEEDS_SCHEMA, command_task_show, "shows a task and its attempts",
     task_show_options, "lockstep task show 17 --raw response"},
    {"task", "cancel", "ID", NEEDS_SCHEMA, command_task_cancel,
     "cancels or stops a task; it counts as failed", reason_options, NULL},
    {"task", "retry", "ID", NEEDS_SCHEMA, command_task_retry,
     "tries a task again, or at once if it is due later", reason_options, NULL},
    {"task", "complete", "ID", NEEDS_SCHEMA, command_task_complete,
     "declares a task done that was done by other means", reason_options, NULL},
    {"task", "fail", "ID", NEEDS_SCHEMA, command_task_fail,
     "declares a task failed, even if it has attempts left", reason_options, NULL},
    {"task", "explain", "ID", NEEDS_SCHEMA, command_task_explain,
     "explains why a task does not run: cause, since when, remedy", NULL, NULL},
    {"rejected", "list", "", NEEDS_SCHEMA, command_rejected_list,
     "lists the messages that could not become tasks", rejected_list_options, NULL},
    {"rejected", "show", "ID", NEEDS_SCHEMA, command_rejected_show,
     "shows a rejected message, with its bytes escaped", rejected_show_options, NULL},
    {"rejected", "redrive", "[ID...]", NEEDS_SCHEMA | NEEDS_KAFKA, command_rejected_redrive,
     "publishes rejected messages again, corrected or as they are, as a run of their own",
     rejected_redrive_options,
     "lockstep rejected redrive 17 18 --reason \"the phase before came late\""},
    {"message", "check", "FILE|-", NEEDS_NOTHING, command_message_check,
     "judges messages, JSON Lines, as an executor would; needs no server", message_check_options,
     "kcat -C -J -e -t orders | lockstep message check --form kcat -"},
    {"replay", "", "", NEEDS_SCHEMA | NEEDS_KAFKA, command_replay,
     "runs part of the topic again: shows a plan, and executes it with --execute", replay_options,
     "lockstep replay --queue orders --from-offset 0 --to-offset latest --mode missing"},
    {"schedule", "next", "[RULE]", NEEDS_SCHEMA, command_schedule_next,
     "prints the next times of a rule, a cron expression or an object, which need not be stored",
     schedule_next_options, "lockstep schedule next '0 6 * * MON-FRI' --zone Europe/Warsaw -n 3"},
    {"schedule", "explain", "RULE", NEEDS_SCHEMA, command_schedule_explain,
     "prints a rule in words, its next times, and the effect of clock changes",
     schedule_explain_options, "lockstep schedule explain '30 2 * * *' --zone America/New_York"},
    {"schedule", "list", "[JOB]", NEEDS_SCHEMA, command_schedule_list,
     "lists the schedules of jobs, and their next times", NULL, NULL},
    {"schedule", "forecast", "[JOB]", NEEDS_SCHEMA, command_schedule_forecast,
     "lists the coming times of stored schedules", schedule_forecast_options,
     "lockstep schedule forecast --to 2026-02-01T00:00:00Z"},
    {"schedule", "add", "JOB NAME", NEEDS_SCHEMA, command_schedule_add, "adds a schedule to a job",
     schedule_change_options,
     "lockstep schedule add load-sales night --cron '0 2 * * *' --zone Europe/Warsaw"},
    {"schedule", "set", "JOB NAME", NEEDS_SCHEMA, command_schedule_set,
     "changes fields of a schedule; a change fires nothing", schedule_change_options,
     "lockstep schedule set load-sales night --enabled off"},
    {"schedule", "remove", "JOB NAME", NEEDS_SCHEMA, command_schedule_remove,
     "removes a schedule from a job; its occurrences stay", job_change_options, NULL},
    {"job", "apply", "[FILE...]", NEEDS_SCHEMA, command_job_apply,
     "creates and changes jobs and their schedules as a file in JSON declares them, all or none",
     job_apply_options, "lockstep job apply jobs.json --dry-run"},
    {"job", "list", "", NEEDS_SCHEMA, command_job_list, "lists jobs and their next times",
     job_list_options, NULL},
    {"job", "show", "NAME", NEEDS_SCHEMA, command_job_show,
     "shows a job, its schedules, and the firings that wait for a dispatcher", NULL, NULL},
    {"job", "export", "NAME", NEEDS_SCHEMA, command_job_export, "prints a file for job apply", NULL,
     NULL},
    {"job", "import", "[FILE...]", NEEDS_SCHEMA, command_job_import,
     "turns the jobs of cron, pg_cron or SQL Server Agent into a file for job apply",
     job_import_options,
     "lockstep job import --from crontab /etc/crontab --watch --zone Europe/Warsaw >jobs.json"},
    {"job", "test", "NAME", NEEDS_SCHEMA, command_job_test,
     "tests a job: prints the dispatcher's decision and its reason, changes nothing",
     job_test_options, "lockstep job test nightly --at 2026-03-29T02:30:00Z"},
    {"job", "run", "NAME", NEEDS_SCHEMA, command_job_run, "fires a job by hand", job_run_options,
     "lockstep job run nightly --param region=eu --wait"},
    {"job", "backfill", "NAME", NEEDS_SCHEMA, command_job_backfill,
     "fires the times of a range that have not fired, oldest first", job_backfill_options,
     "lockstep job backfill nightly --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z"},
    {"job", "withdraw", "NAME", NEEDS_SCHEMA, command_job_withdraw,
     "withdraws the firings of a job that wait for a dispatcher", NULL, NULL},
    {"job", "enable", "NAME", NEEDS_SCHEMA, command_job_enable,
     "lets a job fire again, from its next time on", job_change_options, NULL},
    {"job", "disable", "NAME", NEEDS_SCHEMA, command_job_disable,
     "keeps a job from firing at its times; its open run continues", job_change_options, NULL},
    {"job", "set", "NAME", NEEDS_SCHEMA, command_job_set, "changes fields of a job",
     job_set_options, "lockstep job set nightly --change '{\"overlap\": \"queue_one\"}'"},
    {"job", "delete", "NAME", NEEDS_SCHEMA, command_job_delete,
     "deletes a job with its schedules; its runs stay", job_change_options, NULL},
    {"job", "history", "[NAME]", NEEDS_SCHEMA, command_job_history,
     "lists the occurrences of a job, the newest last", job_history_options, NULL},
    {"job", "log", "[NAME]", NEEDS_SCHEMA, command_job_log, "lists the events of jobs",
     job_newest_options, NULL},
    {"monitor", "list", "", NEEDS_SCHEMA, command_monitor_list,
     "lists the health of each job: missed, stuck, failed, late, blocked, or well",
     monitor_list_options, NULL},
    {"monitor", "check", "", NEEDS_SCHEMA, command_monitor_check,
     "prints one line for monitoring tools; exit code 1 if a job needs a look", NULL,
     "lockstep monitor check -o json"},
    {"monitor", "run", "", NEEDS_SCHEMA | NEEDS_PATIENCE, command_monitor_run,
     "runs the monitor, in the foreground: it opens, closes and sends alerts", NULL, NULL},
    {"monitor", "ack", "ALERT|JOB", NEEDS_SCHEMA, command_monitor_ack,
     "acknowledges an alert, or all open ones of a job: no reminder is sent", ack_options,
     "lockstep monitor ack backup --reason 'the disk is replaced today'"},
    {"monitor", "silence", "JOB", NEEDS_SCHEMA, command_monitor_silence,
     "raises no alert of a job for a while", monitor_silence_options,
     "lockstep monitor silence backup --for 2h --reason 'the disk is replaced'"},
    {"alert", "list", "", NEEDS_SCHEMA, command_alert_list,
     "lists the incidents of jobs: missed, stuck, failed, late, never, blocked", alert_list_options,
     "lockstep alert list --all"},
    {"alert", "show", "ID", NEEDS_SCHEMA, command_alert_show,
     "shows an incident and its notices: receivers, attempts and errors", NULL, NULL},
    {"alert", "ack", "ID", NEEDS_SCHEMA, command_alert_ack,
     "acknowledges an alert: no reminder is sent", ack_options, NULL},
    {"scheduler", "run", "", NEEDS_SCHEMA | NEEDS_PATIENCE, command_scheduler_run,
     "runs the dispatcher of jobs in a process of its own; executors have one, too",
     scheduler_run_options, "lockstep scheduler run --once"},
    {"all", "run", "", NEEDS_SCHEMA | NEEDS_KAFKA | NEEDS_PATIENCE, command_all_run,
     "runs an executor, which fires jobs, too, and the console in one process", all_run_options,
     "lockstep all run --queue orders"},
    {"console", "run", "", NEEDS_CONFIG | NEEDS_PATIENCE, command_console_run,
     "runs the console, HTTP API and pages, in the foreground", console_run_options,
     "lockstep console run --listen 8330"},
    {"console", "token", "[ACTION [NAME]]", NEEDS_SCHEMA, command_console_token,
     "manages the tokens of programs that use the API: list, create NAME, revoke NAME",
     console_token_options, "lockstep console token create deploy --role operator --days 90"},
    {"console", "openapi", "", NEEDS_NOTHING, command_console_openapi,
     "prints the OpenAPI document of the console's API", NULL, "lockstep console openapi | jq"},
    {"lock", "list", "", NEEDS_SCHEMA, command_lock_list,
     "lists phase locks and slots, with holders and waiters", NULL, NULL},
    {"log", "", "", NEEDS_SCHEMA, command_log, "lists the event log", log_options,
     "lockstep log --queue orders --follow"},
    {"config", "show", "", NEEDS_CONFIG, command_config_show,
     "shows the configuration in force, secrets masked", config_show_options, NULL},
    {"config", "check", "", NEEDS_CONFIG, command_config_check,
     "checks the configuration: exit code 0 if it is right", NULL, NULL},
    {"config", "list", "", NEEDS_NOTHING, command_config_list,
     "lists all keys, their types and defaults", NULL, NULL},
    {"dev", "broker", "", NEEDS_NOTHING, command_dev_broker,
     "runs an embedded broker for trials; the first line is its address", dev_broker_options, NULL},
    {"dev", "up", "", NEEDS_NOTHING, command_dev_up,
     "starts a private PostgreSQL with the schema, and the console; prints its connection string",
     dev_up_options, NULL},
    {"dev", "down", "", NEEDS_NOTHING, command_dev_down, "stops both; the data stays",
     dev_dir_options, NULL},
    {0},
};

bool is_noun(const char *word)
{
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, word) == 0)
            return true;
    return false;
}

bool first_of_noun(const struct command *row)
{
    for (const struct command *before = commands; before != row; before++)
        if (strcmp(before->noun, row->noun) == 0)
            return false;
    return true;
}

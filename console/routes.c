/* The API's routes, one row each: method, path, statement, level, parameters in the order of the
 * statement's $1, $2 ..., and for the OpenAPI document the summary and the members of the answer.
 * A row without a statement has its C function in the second table, in route_code. A new route
 * needs a row here, a file in sql/console/, new parameters a row in console/field.c, and new
 * objects of its answer one in console/shape.c; nothing else. */
#include "console/route.h"

#include "advise/advise.h"
#include "console/prepare.h"
#include "console/queue.h"
#include "console/redrive.h"
#include "console/replay.h"
#include "console/runs.h"
#include "console/settings.h"

#include "base/str.h"

#include <string.h>

#define MONITOR  LEVEL_MONITOR
#define OPERATOR LEVEL_OPERATOR
#define PING     LEVEL_PING

#define ADVISE_READ 20000 /* tasks; `lockstep queue advise` reads more, and takes a second */

/* Here and not in advise/, which knows neither routes nor fields. */
static enum rc advise(const struct route_context *context, struct db *db, const char *const *params,
                      struct str *document, struct err *err)
{
    (void)context;
    int64_t runs = ADVISE_RUNS;
    (void)int64_parse(params[1], strlen(params[1]), &runs);
    const struct advice_bounds bounds = {
        .runs = (int)runs, .readers = ADVISE_READERS, .tasks = ADVISE_READ};
    return advise_document(db, params[0], &bounds, document, err);
}

const struct route routes[] = {
    [ROUTE_SIGN_IN] = {"POST", "session", NULL, LEVEL_NONE, "login! password!",
                       "signs in with a PostgreSQL login; the answer has the cookie", "+Session"},
    [ROUTE_SESSION] = {"GET", "session", NULL, MONITOR, "", "the visitor and its rights",
                       "+Session"},
    [ROUTE_SIGN_OUT] = {"DELETE", "session", NULL, MONITOR, "", "signs out", "signed_out:bool"},
    [ROUTE_STREAM] = {"GET", "stream", NULL, MONITOR, "",
                      "the events of the database, as server-sent events; Last-Event-ID continues",
                      NULL},
    [ROUTE_OPENAPI] = {"GET", "openapi.json", NULL, LEVEL_NONE, "", "this document",
                       "openapi:text info:object servers:object[] paths:object components:object "
                       "security:object[]"},
    [ROUTE_CLUSTERS] = {"GET", "clusters", NULL, LEVEL_NONE, "",
                        "the databases that this console serves, whether each answers, and figures "
                        "of those into which the visitor may look",
                        "items:Cluster[]"},

    {"GET", "overview", &sql_console_overview, MONITOR, "@payloads",
     "every queue at a glance and the obstacle that stops it, open alerts, the next firings",
     "queues:OverviewQueue[] alerts:OverviewAlert[] next:NextFiring[] queues_all:int "
     "open_runs:int alerts_all:int executors:int now:time"},

    {"GET", "queues", &sql_console_queues, MONITOR, "limit after=after_name", "queues by name",
     "+List items:ListedQueue[]"},
    {"POST", "queues", NULL, OPERATOR,
     "name=queue_name! topic partition from_offset from_end create_topic replication max_readers "
     "on_failure runs=run_order max_attempts=times lookahead=times dead_letters "
     "external_lease retry_intervals retry_on reason!",
     "makes one over a topic, which is judged, and made if that is asked for",
     "queue:text topic:text partition:int next_offset:int waiting:int topic_created:bool "
     "warnings:Warning[]"},
    {"GET", "queues/{queue}", &sql_console_queue, MONITOR, "queue", "one queue",
     "queue:QueueDetail"},
    {"DELETE", "queues/{queue}", &sql_console_queue_delete, OPERATOR, "queue reason!",
     "deletes it with its runs, tasks, records and jobs; its topic stays",
     "queue:text deleted:bool topic:text tasks:int"},
    {"GET", "queues/{queue}/readers", &sql_console_readers, MONITOR, "queue since",
     "its readers over time",
     "queue:text since:time until:time bucket_s:number points:ReadersPoint[]"},
    {"GET", "queues/{queue}/explain", &sql_console_explain_queue, MONITOR, "queue @payloads",
     "why it does not continue", "lines:ExplainLine[]"},

    {"GET", "runs", &sql_console_runs, MONITOR,
     "limit after queue status=run_status name since until @payloads", "runs, the newest first",
     "+List items:Run[]"},
    {"GET", "runs/{run}", &sql_console_run, MONITOR, "run @payloads", "one run", "run:Run"},
    {"GET", "runs/{run}/phases", &sql_console_phases, MONITOR, "limit run after",
     "its phases in order", "+List items:Phase[]"},
    {"GET", "runs/{run}/tasks", &sql_console_tasks, MONITOR,
     "limit run after order status name @payloads", "its tasks in order", "+List items:Task[]"},
    {"GET", "runs/{run}/attempts", &sql_console_attempts, MONITOR,
     "limit run after=after_place order status @payloads",
     "attempts of its tasks, in the order of the tasks", "+List items:Attempt[]"},
    {"GET", "runs/{run}/gantt", &sql_console_gantt, MONITOR, "run buckets",
     "its attempts over time, phase by phase", "+Gantt"},
    {"GET", "runs/{run}/bars", &sql_console_bars, MONITOR, "run from_ms! to_ms!",
     "its attempts in a part of its time, of phases of which few ran then",
     "from_s:number to_s:number phases:BarsPhase[]"},
    {"GET", "runs/{run}/events", &sql_console_run_events, MONITOR, "limit run after @payloads",
     "its events, the newest first", "+List items:Event[]"},
    {"GET", "runs/{run}/explain", &sql_console_explain_run, MONITOR, "run @payloads",
     "why it does not continue", "lines:ExplainLine[]"},
    {"POST", "runs/actions", NULL, OPERATOR, "action! runs^ filter^ reason!",
     "does one thing with several runs, for 5 s at most; the ids of those that it has not come to "
     "are "
     "`left`",
     "done:int refused:RunRefused[] left:uuid[]"},
    {"POST", "runs/{run}/cancel", &sql_console_run_cancel, OPERATOR, "run reason!", "cancels it",
     "run_id:uuid status:RunStatus cancelled:int stopping:int"},
    {"POST", "runs/{run}/pause", &sql_console_run_pause, OPERATOR, "run reason!", "pauses it",
     "run_id:uuid status:RunStatus"},
    {"POST", "runs/{run}/resume", &sql_console_run_resume, OPERATOR, "run reason!", "continues it",
     "run_id:uuid status:RunStatus"},
    {"POST", "runs/{run}/end", &sql_console_run_end, OPERATOR, "run reason!",
     "closes one whose end never comes, because its producer is gone",
     "run_id:uuid status:RunStatus unfinished:int"},
    {"POST", "runs/{run}/retry", &sql_console_run_retry, OPERATOR, "run reason!",
     "runs the tasks that did not complete again", "run_id:uuid tasks:int phases:int order:int"},

    {"GET", "tasks", &sql_console_task_list, MONITOR,
     "limit after=after_place queue status name @payloads",
     "tasks of all runs, those of the newest runs first", "+List items:ListedTask[]"},
    {"GET", "tasks/{task}", &sql_console_task, MONITOR, "task @payloads",
     "one task and its attempts", "task:TaskDetail attempts:TaskAttempt[]"},
    {"GET", "tasks/{task}/explain", &sql_console_explain_task, MONITOR, "task @payloads",
     "why it does not continue", "lines:ExplainLine[]"},

    {"GET", "events", &sql_console_events, MONITOR,
     "limit after kind queue run text event since until @payloads",
     "the event log, the newest first", "+List items:Event[]"},

    {"GET", "jobs", &sql_console_jobs, MONITOR, "limit after=after_name name queue @payloads",
     "jobs by name", "+List items:ListedJob[]"},
    {"GET", "jobs/{job}", &sql_console_job, MONITOR, "job @payloads", "one job",
     "job:JobDetail health:JobHealth schedule_list:Schedule[] requests:JobRequest[]"},
    {"GET", "jobs/{job}/occurrences", &sql_console_job_occurrences, MONITOR,
     "limit job after=after_place @payloads", "its times that were decided, the newest first",
     "+List items:Occurrence[]"},
    {"GET", "jobs/{job}/next", &sql_console_job_next, MONITOR, "job count", "its next times",
     "+List items:Firing[]"},
    {"GET", "jobs/{job}/days", &sql_console_job_days, MONITOR, "limit job after",
     "sums of its times by day (UTC), the newest first", "+List items:JobDay[]"},
    {"GET", "jobs/{job}/history", &sql_console_job_history, MONITOR,
     "limit after=after_place job kind text since until @payloads", "its log, the newest first",
     "+List items:JobLine[]"},
    {"GET", "occurrences", &sql_console_occurrences, MONITOR,
     "limit after=after_place status=outcome name since until @payloads",
     "times of all jobs, the newest first", "+List items:Occurrence[]"},
    {"GET", "health", &sql_console_health, MONITOR, "limit after=after_name name kind @payloads",
     "how jobs do, those with an incident first; kind: their states, or problem",
     "+List items:JobHealth[]"},
    {"GET", "schedules", &sql_console_schedules, MONITOR, "limit after name", "schedules of jobs",
     "+List items:Schedule[]"},
    {"GET", "calendar", &sql_console_calendar, MONITOR, "limit after=after_name name queue",
     "by job, its schedules in words and their times of the coming week",
     "+List items:CalendarJob[]"},
    {"GET", "forecast", &sql_console_forecast, MONITOR,
     "limit job after=after_place from=from_time to=to_time",
     "times of stored schedules that are to come, the first ones first", "+List items:Firing[]"},
    {"GET", "triggers", &sql_console_triggers, MONITOR, "limit after name @payloads",
     "triggers of jobs and their last look", "+List items:Trigger[]"},
    {"GET", "alerts", &sql_console_alerts, MONITOR,
     "limit after status=alert_status name @payloads", "incidents of jobs, the newest first",
     "+List items:ListedAlert[]"},
    {"GET", "alerts/{alert}", &sql_console_alert, MONITOR, "alert @payloads",
     "one incident and its notices", "alert:Alert notices:Notice[]"},
    {"GET", "job-log", &sql_console_job_log, MONITOR,
     "limit after=after_place name kind text since until @payloads",
     "the log of all jobs, the newest first", "+List items:JobLine[]"},

    {"GET", "executors", &sql_console_executors, MONITOR, "limit after",
     "executors that have not ended", "+List items:Executor[]"},
    {"GET", "locks", &sql_console_locks, MONITOR, "limit queue @payloads",
     "locks that are held and waited for", "+List items:Lock[] hidden:Hidden?"},
    {"GET", "rejected", &sql_console_rejected, MONITOR,
     "limit after queue text since until @payloads run",
     "messages that could not become tasks, the newest first", "+List items:Rejected[]"},
    {"GET", "rejected/{rejected}", &sql_console_rejected_message, MONITOR, "rejected @payloads",
     "one of them", "message:RejectedDetail"},
    {"POST", "rejected/{rejected}/redrive", &sql_console_rejected_redrive, OPERATOR,
     "rejected value reason! again preview",
     "publishes it again, corrected or as it is; needs lockstep_producer", "+Redriven"},
    {"POST", "rejected/redrive", NULL, OPERATOR,
     "messages=corrections^ filter=rejected_filter^ reason! again preview",
     "publishes some of them again as one run; needs lockstep_producer", "+Redriven"},
    {"POST", "replay", NULL, OPERATOR, "queue! mode run^ from^ to order resume^ reason! preview",
     "runs a part of the topic, or a run, again; needs lockstep_producer",
     "preview:bool replay_id~:int from:int to:int wanted~:int readable:int counts:ReplayCounts "
     "open_runs~:text lines:ReplayLine[]"},
    {"POST", "replays/{replay}/abandon", NULL, OPERATOR, "replay reason!",
     "gives one up that was interrupted; needs lockstep_producer", "replay_id:int abandoned:bool"},
    {"GET", "replays", &sql_console_replays, MONITOR, "limit after queue",
     "replays, the newest first", "+List items:Replay[]"},
    {"GET", "settings", NULL, MONITOR, "", "the console's configuration with origins, masked",
     "items:Setting[]"},
    {"GET", "tokens", &sql_console_tokens, MONITOR, "", "tokens of programs", "items:Token[]"},
    {"POST", "tokens", &sql_console_token_make, OPERATOR,
     "name=token! role=level! days publish reason!", "makes one; the answer has it, this once",
     "name:text role:TokenRole publishes:bool token:text"},
    {"DELETE", "tokens/{token}", &sql_console_token_end, OPERATOR, "token reason!", "revokes it",
     "name:text revoked:bool"},
    {"GET", "system", &sql_console_system, MONITOR, "@payloads",
     "checks, versions, sessions and tokens",
     "checks:Check[] sessions:DatabaseSession[] hidden:Hidden? versions:Versions "
     "database:Database tokens:Token[]"},

    {"POST", "tasks/{task}/retry", &sql_console_task_retry, OPERATOR, "task reason!",
     "starts its next attempt", "task_id:int status:TaskStatus"},
    {"POST", "tasks/{task}/cancel", &sql_console_task_cancel, OPERATOR, "task reason!",
     "cancels it", "task_id:int status:TaskStatus"},
    {"POST", "tasks/{task}/complete", &sql_console_task_complete, OPERATOR, "task reason!",
     "takes it for completed", "task_id:int status:TaskStatus"},
    {"POST", "tasks/{task}/fail", &sql_console_task_fail, OPERATOR, "task reason!",
     "takes it for failed", "task_id:int status:TaskStatus"},

    {"GET", "queues/{queue}/advise", NULL, MONITOR, "queue runs=runs_count",
     "the effect of more readers, from measured task times",
     "most_tasks:int larger_runs:int runs:int tasks:int measured:Measured? "
     "readers:Advice[] knee:int? stragglers:AdviceStraggler[]"},
    {"POST", "queues/{queue}/pause", &sql_console_queue_pause, OPERATOR, "queue reason!",
     "pauses it", "queue:text paused:bool changed:bool"},
    {"POST", "queues/{queue}/resume", &sql_console_queue_resume, OPERATOR, "queue reason!",
     "continues it", "queue:text paused:bool changed:bool"},
    {"POST", "queues/{queue}/accept", NULL, OPERATOR, "queue from_offset=accept_from reason!",
     "accepts the topic of a halted queue as it is now",
     "queue:text next_offset:int warning~:text"},
    {"POST", "queues/{queue}/accept-server", &sql_queue_accept_server, OPERATOR, "queue reason!",
     "accepts the server that a halted queue is on now", "queue:text next_offset:int"},
    {"PUT", "queues/{queue}/readers", &sql_console_queue_readers, OPERATOR,
     "queue max_readers! reason!", "changes how many tasks run at once, while it runs",
     "queue:text max_readers:int changed:bool"},
    {"PUT", "queues/{queue}/policy", &sql_console_queue_policy, OPERATOR, "queue policy! reason!",
     "changes on_failure, runs, max_attempts, lookahead",
     "queue:text on_failure:OnFailure runs:RunOrder max_attempts:int? lookahead:int "
     "changed:bool"},
    {"POST", "queues/{queue}/runs", &sql_console_publish, MONITOR,
     "queue tasks! name=title run=new_run on_failure",
     "publishes tasks as one run; needs lockstep_producer", "run_id:uuid"},

    {"POST", "executors/{executor}/drain", &sql_console_executor_drain, OPERATOR,
     "executor reason!", "has it end", "executor_id:uuid changed:bool"},
    {"PUT", "executors/{executor}/readers", &sql_console_executor_readers, OPERATOR,
     "executor readers reason!", "changes how many of its readers work",
     "executor_id:uuid changed:bool"},

    {"POST", "jobs", &sql_console_jobs_apply, OPERATOR,
     "jobs=definitions! file=declared! prune force dry_run reason",
     "declares jobs by a list, all of them or none",
     "file:text dry_run:bool kept:int items:JobApplied[]"},
    {"PUT", "jobs/{job}", &sql_console_job_put, OPERATOR, "job definition! version dry_run reason",
     "makes it as the definition says",
     "job:text version:int dry_run:bool action:(create|change|unchanged)"},
    {"DELETE", "jobs/{job}", &sql_console_job_delete, OPERATOR, "job version reason!",
     "deletes it with its schedules; its runs stay", "job:text deleted:bool"},
    {"POST", "jobs/{job}/backfill", &sql_console_job_backfill, OPERATOR,
     "job from=from_time! to=to_time! schedule overlap dry_run reason!",
     "fires the times of a range that have not fired", "items:Backfilled[]"},
    {"POST", "jobs/{job}/run", &sql_console_job_run, OPERATOR, "job parameters reason",
     "fires it by hand; requested: a dispatcher does, because it has SQL of its own",
     "run_id:uuid requested:bool"},
    {"DELETE", "jobs/{job}/requests", &sql_console_job_withdraw, OPERATOR, "job reason!",
     "withdraws the firings that wait for a dispatcher", "job:text withdrawn:int"},
    {"POST", "jobs/{job}/test", &sql_console_job_test, MONITOR, "job at @payloads",
     "the decision of the dispatcher's next cycle about it, and the reason", "items:Decision[]"},
    {"POST", "jobs/{job}/enable", &sql_console_job_enable, OPERATOR, "job version reason!",
     "it fires at its times", "job:text version:int changed:bool"},
    {"POST", "jobs/{job}/disable", &sql_console_job_disable, OPERATOR, "job version reason!",
     "it does not fire at its times", "job:text version:int changed:bool"},
    {"POST", "jobs/{job}/silence", &sql_console_job_silence, OPERATOR, "job until reason!",
     "raises no alert of it until then", "job:text until:time?"},
    {"POST", "jobs/{job}/schedules", &sql_console_schedule_add, OPERATOR,
     "job definition=schedule_definition! version reason!", "adds a schedule to it",
     "job:text schedule:text version:int"},
    {"PUT", "jobs/{job}/schedules/{schedule}", &sql_console_schedule_set, OPERATOR,
     "job schedule change! version reason!",
     "changes some fields of a schedule; {\"enabled\": false}: it does not fire",
     "job:text schedule:text version:int"},
    {"DELETE", "jobs/{job}/schedules/{schedule}", &sql_console_schedule_remove, OPERATOR,
     "job schedule version reason!", "removes a schedule",
     "job:text schedule:text deleted:bool version:int"},
    {"POST", "schedules/explain", &sql_console_schedule_explain, MONITOR, "rule! count",
     "the meaning of a rule of times, and its next times",
     "means:text warnings:text[] next:RuleTime[] clock_changes:ClockChange[]"},
    {"POST", "ping/{job}", &sql_console_ping, PING, "job status=report detail=report_detail",
     "a watch reports that its work elsewhere has ended well, or has failed",
     "job:text status:(ok|fail) next_at:time?"},
    {"POST", "alerts/{alert}/ack", &sql_console_alert_ack, OPERATOR, "alert reason!",
     "acknowledges it", "acknowledged:int"},
    {"POST", "locks/{pid}/end", &sql_console_session_end, OPERATOR, "pid reason!",
     "ends the session that holds or awaits a lock", "pid:int ended:bool reason:text"},

    {0},
};

const struct route_code *route_code(const struct route *route)
{
    /* Few routes do more than their statement, so this is a table of its own and not six more
     * columns above. */
    static const struct route_code codes[] = {
        {"GET", "queues/{queue}/advise", .make = advise},
        {"GET", "settings", .make = settings_make},
        {"POST", "replay", .make = replay_make, .keyless = true},
        {"POST", "replays/{replay}/abandon", .make = replay_abandon_make, .keyless = true},
        {"POST", "runs/actions", .make = runs_act_make, .left = runs_left},
        {"POST", "tokens", .once = true},
        {"POST", "queues", .make = queue_create_make, .after = queue_create_mark},
        {"DELETE", "queues/{queue}", .before = queue_may_delete},
        {"POST", "queues/{queue}/accept", .before = queue_may_accept, .make = queue_accept_make},
        {"POST", "queues/{queue}/accept-server", .before = queue_may_accept_server},
        {"POST", "jobs/{job}/test", .reads = true},
        {"POST", "schedules/explain", .reads = true},
        {"POST", "jobs", .before = prepare_jobs},
        {"PUT", "jobs/{job}", .before = prepare_job},
        {"POST", "rejected/redrive", .make = redrive_make},
        {"POST", "rejected/{rejected}/redrive", .before = prepare_redrive}};
    static const struct route_code none = {0};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(route->path, codes[i].path) == 0 && strcmp(route->method, codes[i].method) == 0)
            return &codes[i];
    return &none;
}

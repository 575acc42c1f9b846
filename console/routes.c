/* The API's routes. Where two fit a path, the one with a word comes before the one with braces. */
#include "console/route.h"

#define MONITOR  LEVEL_MONITOR
#define OPERATOR LEVEL_OPERATOR

const struct route routes[] = {
    {"GET", "queues", &sql_console_queues, MONITOR, "", "all queues"},

    {"GET", "runs", &sql_console_runs, MONITOR,
     "limit after queue status=run_status name since until", "runs, the newest first"},
    {"GET", "runs/{run}", &sql_console_run, MONITOR, "run", "one run"},
    {"GET", "runs/{run}/phases", &sql_console_phases, MONITOR, "limit run after",
     "its phases in order"},
    {"GET", "runs/{run}/tasks", &sql_console_tasks, MONITOR, "limit run after order status name",
     "its tasks in order"},
    {"GET", "runs/{run}/explain", &sql_console_explain_run, MONITOR, "run",
     "why it does not continue"},
    {"POST", "runs/actions", &sql_console_runs_act, OPERATOR, "action! runs filter reason!",
     "does one thing with several runs"},
    {"POST", "runs/{run}/cancel", &sql_console_run_cancel, OPERATOR, "run reason!", "cancels it"},
    {"POST", "runs/{run}/pause", &sql_console_run_pause, OPERATOR, "run reason!", "pauses it"},
    {"POST", "runs/{run}/resume", &sql_console_run_resume, OPERATOR, "run reason!", "continues it"},
    {"POST", "runs/{run}/retry", &sql_console_run_retry, OPERATOR, "run reason!",
     "runs what did not complete again"},

    {"GET", "tasks/{task}", &sql_console_task, MONITOR, "task @payloads",
     "one task and its attempts"},

    {"POST", "tasks/{task}/retry", &sql_console_task_retry, OPERATOR, "task reason!",
     "starts its next attempt"},
    {"POST", "tasks/{task}/cancel", &sql_console_task_cancel, OPERATOR, "task reason!",
     "cancels it"},
    {"POST", "tasks/{task}/complete", &sql_console_task_complete, OPERATOR, "task reason!",
     "takes it for completed"},
    {"POST", "tasks/{task}/fail", &sql_console_task_fail, OPERATOR, "task reason!",
     "takes it for failed"},

    {"POST", "queues/{queue}/pause", &sql_console_queue_pause, OPERATOR, "queue reason!",
     "pauses it"},
    {"POST", "queues/{queue}/resume", &sql_console_queue_resume, OPERATOR, "queue reason!",
     "continues it"},
    {"POST", "queues/{queue}/accept", &sql_console_queue_accept, OPERATOR, "queue reason!",
     "accepts the topic of a halted queue as it is now"},
    {"PUT", "queues/{queue}/readers", &sql_console_queue_readers, OPERATOR,
     "queue max_readers! reason!", "changes how many tasks run at once, while it runs"},
    {"PUT", "queues/{queue}/policy", &sql_console_queue_policy, OPERATOR, "queue policy! reason!",
     "changes on_failure, runs, max_attempts, lookahead"},
    {"POST", "queues/{queue}/runs", &sql_console_publish, MONITOR, "queue tasks! name=title",
     "publishes tasks as one run; needs lockstep_producer"},

    {"POST", "executors/{executor}/drain", &sql_console_executor_drain, OPERATOR,
     "executor reason!", "has it end"},
    {"PUT", "executors/{executor}/readers", &sql_console_executor_readers, OPERATOR,
     "executor readers reason!", "changes how many of its readers work"},

    {"POST", "jobs/{job}/run", &sql_console_job_run, OPERATOR, "job parameters reason",
     "fires it by hand"},
    {"POST", "jobs/{job}/test", &sql_console_job_test, MONITOR, "job @payloads",
     "what the dispatcher's next cycle does with it, and why"},
    {"POST", "jobs/{job}/enable", &sql_console_job_enable, OPERATOR, "job reason!",
     "it fires at its times"},
    {"POST", "jobs/{job}/disable", &sql_console_job_disable, OPERATOR, "job reason!",
     "it does not fire at its times"},
    {"POST", "jobs/{job}/silence", &sql_console_job_silence, OPERATOR, "job until reason!",
     "raises no alert of it until then"},
    {"POST", "alerts/{alert}/ack", &sql_console_alert_ack, OPERATOR, "alert reason!",
     "acknowledges it"},
    {"POST", "locks/{pid}/end", &sql_console_session_end, OPERATOR, "pid reason!",
     "ends the session that holds or awaits a lock"},

    {0},
};

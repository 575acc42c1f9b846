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
    {"POST", "runs/{run}/cancel", &sql_console_run_cancel, OPERATOR, "run reason!", "cancels it"},

    {"GET", "tasks/{task}", &sql_console_task, MONITOR, "task @payloads",
     "one task and its attempts"},

    {0},
};

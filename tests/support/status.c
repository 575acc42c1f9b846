/* The states of a task and the ways between them, written down a second time: tests compare this
 * table with the guard in the database and with docs/reference/states.md. */
#include "tests/support/status.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    bool processable, finished, editable;
    const char *description;
} statuses[] = {
#define ROW(constant, name, processable, finished, editable, description)                          \
    [constant] = {name, processable, finished, editable, description},
    TASK_STATUSES(ROW)
#undef ROW
};

static const char *const transitions[TASK_STATUS_COUNT][TASK_STATUS_COUNT] = {
    [TASK_PENDING] =
        {
            [TASK_PROCESSING] = "an attempt has run for 50 ms",
            [TASK_COMPLETED] = "a short attempt succeeded",
            [TASK_ERROR] = "a short attempt failed, another is due later",
            [TASK_FAILED] = "a short attempt failed for good",
            [TASK_CANCELLED] = "cancelled before it ran",
            [TASK_PAUSED] = "held by an operator",
        },
    [TASK_PROCESSING] =
        {
            [TASK_PENDING] = "the attempt was lost; the task waits for another",
            [TASK_COMPLETED] = "the attempt succeeded",
            [TASK_ERROR] = "the attempt failed, another is due later",
            [TASK_FAILED] = "the attempt failed for good",
            [TASK_TERMINATED] = "stopped by an operator while it ran",
            [TASK_PARTIALLY_COMPLETED] = "some steps are done, the rest is given up",
        },
    [TASK_ERROR] =
        {
            [TASK_PENDING] = "taken for its next attempt",
            [TASK_PROCESSING] = "its next attempt runs",
            [TASK_COMPLETED] = "its next attempt succeeded at once",
            [TASK_FAILED] = "no attempt is left",
            [TASK_CANCELLED] = "cancelled while waiting for its next attempt",
            [TASK_PAUSED] = "held by an operator",
        },
    [TASK_PAUSED] =
        {
            [TASK_PENDING] = "released by an operator",
            [TASK_CANCELLED] = "cancelled while held",
        },
    [TASK_FAILED] =
        {
            [TASK_PENDING] = "retried by an operator",
            [TASK_COMPLETED] = "declared done by an operator",
        },
    [TASK_CANCELLED] =
        {
            [TASK_PENDING] = "retried by an operator",
            [TASK_COMPLETED] = "declared done by an operator",
        },
    [TASK_TERMINATED] =
        {
            [TASK_PENDING] = "retried by an operator",
            [TASK_COMPLETED] = "declared done by an operator",
        },
    [TASK_PARTIALLY_COMPLETED] = {[TASK_PENDING] = "retried by an operator"},
    [TASK_COMPLETED] = {[TASK_PENDING] = "run again by a replay of all"},
};

const char *task_status_name(enum task_status status)
{
    return statuses[status].name;
}

const char *task_status_description(enum task_status status)
{
    return statuses[status].description;
}

bool task_status_parse(const char *name, enum task_status *ret_status)
{
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        if (strcmp(statuses[i].name, name) == 0) {
            *ret_status = (enum task_status)i;
            return true;
        }
    }
    return false;
}

bool task_status_is_processable(enum task_status status)
{
    return statuses[status].processable;
}

bool task_status_is_finished(enum task_status status)
{
    return statuses[status].finished;
}

bool task_status_is_editable(enum task_status status)
{
    return statuses[status].editable;
}

const char *task_status_transition(enum task_status from, enum task_status to)
{
    return transitions[from][to];
}

/* The steps of a task: each is done and recorded in a transaction of its own, so whoever tries the task again goes on with the step
 * that is not done. The row names it. A step finds a clean session, as it would after a retry. */
#include "executor/attempt.h"

#include "base/probe.h"
#include "base/str.h"
#include "executor/lane.h"

#include <stdio.h>
#include <string.h>

static int find(const struct message *msg, const char *name)
{
    int i = 0;
    while (i < msg->step_count && strcmp(msg->steps[i].name, name) != 0)
        i++;
    return i;
}

void steps_tell(const struct message *msg, int text, struct err *why)
{
    int i = msg->step_count - 1;
    while (i >= 0 && msg->steps[i].first > text)
        i--;
    if (i < 0)
        return;
    STR_AUTO told = {0};
    str_format(&told, "step \"%.200s\" (%d of %d)", msg->steps[i].name, i + 1, msg->step_count);
    if (why->context[0] != '\0')
        str_format(&told, "\n%s", why->context);
    (void)snprintf(why->context, sizeof why->context, "%s", told.data);
}

/* Which step comes now, and since when this attempt runs. */
static enum rc begin(struct db *db, const struct work *work, struct db_result **ret_row,
                     int *ret_step, struct err *why)
{
    const struct message *msg = work->msg;
    enum rc rc =
        db_run(db, &sql_reader_step_begin,
               (const char *const[]){DB_INT(work->task_id), work->token, msg->steps[0].name},
               ret_row, why);
    if (rc != RC_OK)
        return rc;
    *ret_step = find(msg, db_text(*ret_row, 0, 0));
    if (*ret_step == msg->step_count)
        return err_set(why, RC_REJECT, ERR_FAILED, "task",
                       "lockstep replay --mode all begins with its first step again.",
                       "its row is at the step \"%.200s\", which the message does not have",
                       db_text(*ret_row, 0, 0));
    return RC_OK;
}

enum rc steps_run(struct db *db, struct work *work, const _Atomic bool *cancelled,
                  bool *ret_stopped, struct err *why)
{
    const struct message *msg = work->msg;
    DB_RESULT_AUTO *row = NULL;
    int at = 0;
    enum rc rc = begin(db, work, &row, &at, why);
    probe("step.begun");
    for (bool go_on = true; rc == RC_OK && at < msg->step_count; at++) {
        const struct message_step *step = &msg->steps[at];
        if (*cancelled || !go_on) {
            *ret_stopped = true;
            return RC_OK;
        }
        if (work->timed_out) /* between two steps */
            return err_set(why, RC_REJECT, ERR_TIMEOUT, "task", NULL, "time-out");
        struct part part = {.first = step->first,
                            .count = step->count,
                            .transaction = step->transaction,
                            .next = at + 1 < msg->step_count ? step[1].name : NULL,
                            .started = db_text(row, 0, 1)};
        rc = part_run(db, work, &part, why);
        if (rc != RC_OK && rc != RC_LOST)
            steps_tell(msg, step->first, why);
        go_on = part.go_on;
        probe("step.done");
    }
    return rc;
}

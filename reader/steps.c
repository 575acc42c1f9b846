/* The steps of a task: each is done and recorded in a transaction of its own, so the next attempt
 * at the task continues with the first step that is not done. The row names it. A step finds a
 * clean session, as it would after a retry. A command or a request is done outside the database
 * (outside.c), and its record is the transaction. */
#include "reader/attempt.h"

#include "base/probe.h"
#include "base/str.h"
#include "base/utf8.h"
#include "reader/outside.h"
#include "reader/steps.h"

#include <string.h>

#define NAME_SHOWN 200 /* bytes of a step's name */

static int find(const struct message *msg, const char *name)
{
    int i = 0;
    while (i < msg->step_count && strcmp(msg->steps[i].name, name) != 0)
        i++;
    return i;
}

int steps_find(const struct message *msg, int text)
{
    int i = msg->step_count - 1;
    while (i >= 0 && msg->steps[i].first > text)
        i--;
    return i;
}

void steps_add_context(const struct message *msg, int step, struct err *why)
{
    if (step < 0)
        return;
    const char *name = msg->steps[step].name;
    STR_AUTO text = {0};
    str_text(&text, "step \"");
    utf8_add(&text, name, strlen(name), NAME_SHOWN);
    str_format(&text, "\" (%d of %d)", step + 1, msg->step_count);
    if (why->context[0] != '\0')
        str_format(&text, "\n%s", why->context);
    utf8_copy(why->context, sizeof why->context, text.data);
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
    *ret_step = find(msg, db_text(*ret_row, 0, READER_STEP_BEGIN_STEP));
    if (*ret_step == msg->step_count)
        return err_set(why, RC_REJECT, ERR_FAILED, "task",
                       "Replay its run in mode all, which begins with its first step again.",
                       "its row is at the step \"%s\", which the message does not have",
                       db_text(*ret_row, 0, READER_STEP_BEGIN_STEP));
    return RC_OK;
}

/* The name of the next step is written with the effect of this one, in one transaction (or behind
 * it, where the step has none). A task that was cancelled meanwhile is not continued, and its
 * attempt counts as lost. */
static enum rc run_sql(struct db *db, struct work *work, int at, const char *started,
                       struct err *why)
{
    const struct message *msg = work->msg;
    const struct message_step *step = &msg->steps[at];
    struct part part = {.first = step->first,
                        .count = step->count,
                        .transaction = step->transaction,
                        .next = at + 1 < msg->step_count ? step[1].name : NULL,
                        .started = started};
    enum rc rc = part_run(db, work, &part, why);
    work_ends(work, part.next == NULL ? OUTCOME_COMPLETED
                    : part.continues  ? OUTCOME_CONTINUES
                                      : OUTCOME_LOST);
    return rc;
}

/* The row and not this loop says where to begin, so an attempt of any executor continues where the
 * last one was recorded (tests/e2e/steps_kill.sh). Between two steps nothing is on the session that
 * a cancel could hit; so cancel and time-out are checked here, too. */
enum rc steps_run(struct reader_thread *reader, struct work *work, struct err *why)
{
    const struct message *msg = work->msg;
    DB_RESULT_AUTO *row = NULL;
    int at = 0;
    enum rc rc = begin(reader->db, work, &row, &at, why);
    probe("step.begun");
    work_ends(work, OUTCOME_CONTINUES);
    for (; rc == RC_OK && work->end.outcome == OUTCOME_CONTINUES; at++) {
        if (reader->cancelled) {
            work_ends(work, OUTCOME_LOST);
            return RC_OK;
        }
        if (work->timed_out) /* between two steps */
            return err_set(why, RC_REJECT, ERR_TIMEOUT, "task", NULL, "time-out");
        rc = msg->steps[at].type == MESSAGE_SQL
                 ? run_sql(reader->db, work, at, db_text(row, 0, READER_STEP_BEGIN_STARTED_AT), why)
                 : outside_step(reader, work, at, why);
        if (rc != RC_OK && rc != RC_LOST)
            steps_add_context(msg, at, why);
        probe("step.done");
    }
    return rc;
}

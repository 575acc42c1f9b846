/* Tasks that the configuration of this executor does not allow are left to other executors, which
 * may know the command or call the host. leave_unable() judges tasks in hand when they arrive and
 * after each reload. The database keeps what each task needs and which executors lack it, so that
 * adoption does not bring the task back here. */
#include "executor/able.h"
#include "action/settings.h"

#include "executor/assignment.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/server.h"

#include "action/action.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "db/db.h"
#include "db/parameter.h"
#include "reader/work.h"
#include "task/message.h"

#include <string.h>
#include <unistd.h>

#define LOGGED_MOST 16384 /* messages invent names: bytes of those that were logged */

/* Once for each need, as long as this process lives. */
static bool logged_before(struct executor *ex, const char *need)
{
    struct str *known = &ex->memory->needs_logged;
    STR_AUTO line = {0};
    str_format(&line, "\n%s\n", need);
    if (known->len > LOGGED_MOST || (known->len > 0 && strstr(known->data, line.data) != NULL))
        return true;
    str_add(known, line.data, line.len);
    return false;
}

void needs_start(struct needs *needs)
{
    db_array_start(&needs->tasks);
    db_array_start(&needs->tokens);
    db_array_start(&needs->needs);
    db_array_start(&needs->lacks);
}

/* One element for each need: a task with several needs has several rows with the same id and
 * token. */
void needs_add(struct needs *needs, const struct work *work, const char *need, bool has)
{
    db_array_int(&needs->tasks, work->task_id);
    db_array_text(&needs->tokens, work->token, strlen(work->token));
    db_array_text(&needs->needs, need, strlen(need));
    db_array_text(&needs->lacks, has ? "f" : "t", 1);
}

void needs_done(struct needs *needs)
{
    str_done(&needs->tasks);
    str_done(&needs->tokens);
    str_done(&needs->needs);
    str_done(&needs->lacks);
}

/* All needs are sent, also those that this executor has: another executor must have all of them. */
enum rc needs_send(struct lane *lane, struct needs *needs, struct works *works, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    db_array_end(&needs->tasks);
    db_array_end(&needs->tokens);
    db_array_end(&needs->needs);
    db_array_end(&needs->lacks);
    for (struct work *work = works->first; work != NULL; work = work->next)
        work_ends(work, OUTCOME_UNSTARTED);
    enum rc rc =
        db_run(lane->ex->control.db, &sql_executor_leave,
               (const char *const[]){DB_INT(lane->queue.id),
                                     DB_INT(lane->ex->incarnation.executor_no), needs->tasks.data,
                                     needs->tokens.data, needs->needs.data, needs->lacks.data},
               &row, err);
    return late_settle(lane, works, rc == RC_OK ? db_int(row, 0, EXECUTOR_LEAVE_LEFT) : 0, rc, err);
}

/* Adds all needs of the task, and the database gets all of them: another executor is judged by
 * those that this one has, too. */
static void add_needs(struct needs *needs, const struct action_settings *settings,
                      const struct work *work, bool log)
{
    char need[ACTION_NEED_SIZE], first[ACTION_NEED_SIZE] = "";
    bool has;
    for (int i = 0; action_need(settings, work->msg, i, need, &has); i++) {
        if (need[0] == '\0')
            continue;
        needs_add(needs, work, need, has);
        if (!has && first[0] == '\0')
            memcpy(first, need, sizeof first);
    }
    if (log && !logged_before(assignment_of(work)->lane->ex, first)) {
        STR_AUTO hint = {0};
        str_format(&hint, REMEDY_ABLE, (int)getpid());
        log_event(LOG_WARN, "task_left", "queue", assignment_of(work)->lane->queue.name, "task",
                  LOG_INT(work->task_id), "needs", first, "hint", hint.data, NULL);
    }
}

static bool unable(const struct work *work, const void *settings)
{
    return work->msg->acts && !action_able(settings, work->msg);
}

/* Only the first task is logged, with its first missing need; the database gets all needs of all
 * tasks. */
static void take_unable(struct phase *phase, const struct action_settings *settings,
                        struct needs *needs, struct works *works)
{
    struct works taken = phase_take(phase, unable, settings);
    for (struct work *work; (work = works_take(&taken)) != NULL;) {
        add_needs(needs, settings, work, works->first == NULL);
        works_add(works, work);
    }
}

/* Settings are taken once for all tasks, so that a reload in between cannot judge two tasks of one
 * statement differently. */
enum rc leave_unable(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    struct works works = {0};
    NEEDS_AUTO needs = {0};
    phases_unjudge(&lane->phases, false);
    needs_start(&needs);
    const struct action_settings *settings = action_shelf_take(ex->options->actions);
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next)
        take_unable(phase, settings, &needs, &works);
    action_shelf_give_back(ex->options->actions, settings);
    if (works.first == NULL)
        return RC_OK;
    probe("leave.send");
    return needs_send(lane, &needs, &works, err);
}

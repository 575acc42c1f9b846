/* able: what the configuration of this executor does not let it do is left to others, who may know
 * the command or call the host. The database remembers what is needed and who lacks it, so that it
 * does not come back to us. */
#include "executor/able.h"
#include "action/settings.h"

#include "executor/lane.h"
#include "executor/late.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/server.h"

#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"

#include <string.h>
#include <unistd.h>

enum { IDS, TOKENS, NEEDS, LACKS };

#define TOLD_MOST 16384 /* messages invent names: bytes of those that were told */

/* Once for each need, as long as this process lives. */
static bool told(struct executor *ex, const char *need)
{
    struct str *known = &ex->memory->needs_told;
    STR_AUTO line = {0};
    str_format(&line, "\n%s\n", need);
    if (known->len > TOLD_MOST || (known->len > 0 && strstr(known->data, line.data) != NULL))
        return true;
    str_add(known, line.data, line.len);
    return false;
}

void needs_start(struct executor *ex)
{
    for (int i = IDS; i <= LACKS; i++)
        db_array_start(&ex->scratch[i]);
}

void needs_add(struct executor *ex, const struct work *work, const char *need, bool has)
{
    struct str *s = ex->scratch;
    db_array_int(&s[IDS], work->task_id);
    db_array_text(&s[TOKENS], work->token, strlen(work->token));
    db_array_text(&s[NEEDS], need, strlen(need));
    db_array_text(&s[LACKS], has ? "f" : "t", 1);
}

enum rc needs_send(struct lane *lane, struct work *works, struct err *err)
{
    struct str *s = lane->ex->scratch;
    DB_RESULT_AUTO *row = NULL;
    for (int i = IDS; i <= LACKS; i++)
        db_array_end(&s[i]);
    for (struct work *work = works; work != NULL; work = work->next)
        work->outcome = OUTCOME_UNSTARTED;
    enum rc rc =
        db_run(lane->ex->control, &sql_executor_leave,
               (const char *const[]){DB_INT(lane->queue_id), DB_INT(lane->ex->executor_no),
                                     s[IDS].data, s[TOKENS].data, s[NEEDS].data, s[LACKS].data},
               &row, err);
    return late_settle(lane, works, rc == RC_OK ? db_int(row, 0, EXECUTOR_LEAVE_LEFT) : 0, rc, err);
}

/* All that the task needs, and what of it is not here: the others are judged by that, too. */
static void add_needs(const struct action_settings *settings, const struct work *work, bool tell)
{
    char need[ACTION_NEED_SIZE], first[ACTION_NEED_SIZE] = "";
    bool has;
    for (int i = 0; action_need(settings, work->msg, i, need, &has); i++) {
        if (need[0] == '\0')
            continue;
        needs_add(work->lane->ex, work, need, has);
        if (!has && first[0] == '\0')
            memcpy(first, need, sizeof first);
    }
    if (tell && !told(work->lane->ex, first)) {
        STR_AUTO hint = {0};
        str_format(&hint, REMEDY_ABLE, (int)getpid());
        log_event(LOG_WARN, "task_left", "queue", work->lane->name, "task", LOG_INT(work->task_id),
                  "needs", first, "hint", hint.data, NULL);
    }
}

static bool unable(const struct work *work, const void *settings)
{
    return work->msg->acts && !action_able(settings, work->msg);
}

static void take_unable(struct phase *phase, const struct action_settings *settings,
                        struct work **works)
{
    for (struct work *work = phase_take(phase, unable, settings), *next; work != NULL;
         work = next) {
        next = work->next;
        add_needs(settings, work, *works == NULL);
        work->next = *works;
        *works = work;
    }
}

enum rc leave_unable(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    struct work *works = NULL;
    phases_judged(lane);
    needs_start(ex);
    const struct action_settings *settings = action_shelf_take(ex->options->actions);
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        take_unable(phase, settings, &works);
    action_shelf_give_back(ex->options->actions, settings);
    if (works == NULL)
        return RC_OK;
    probe("leave.send");
    return needs_send(lane, works, err);
}

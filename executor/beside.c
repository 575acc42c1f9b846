/* The work of control while the server works on a claim, which takes as long as many short tasks:
 * completed works make room at their readers, and waiting works are assigned in their place. All
 * other work needs a statement, or may need one: other mail, time-outs, cancels and a drain wait
 * for the answer, at most for the session's patience.
 *
 * Begin with run_beside(). take_completed() runs inside db_run_beside(), which polls the mailbox
 * and the session at once. It must send nothing on control's session, which waits for an answer;
 * that is why it takes in only completed work, whose record is committed already
 * (tests/e2e/beside.sh). */
#include "executor/beside.h"

#include "executor/execute.h"
#include "executor/lane.h"
#include "executor/record.h"
#include "executor/turn.h"

#include "base/mailbox.h"
#include "reader/work.h"

struct beside {
    struct executor *ex;
    struct mail *others, **last;
};

static void take_completed(void *context)
{
    struct beside *beside = context;
    struct executor *ex = beside->ex;
    turn_clock(&ex->turn);
    turn_again(&ex->turn);
    for (struct mail *mail = mailbox_take(&ex->inbox), *next; mail != NULL; mail = next) {
        struct work *work = (struct work *)mail;
        next = mail->next;
        if (mail->kind == MAIL_WORK_DONE && work->end.outcome == OUTCOME_COMPLETED) {
            record_completed(ex, work);
            continue;
        }
        mail->next = NULL;
        *beside->last = mail;
        beside->last = &mail->next;
    }
    assign_waiting(ex);
}

enum rc run_beside(struct executor *ex, const struct sql_statement *stmt, const char *const *params,
                   struct db_result **ret_result, struct err *err)
{
    struct beside beside = {.ex = ex, .last = &beside.others};
    const struct db_beside with = {.fd = ex->inbox.fd, .fn = take_completed, .context = &beside};
    enum rc rc = db_run_beside(ex->control.db, stmt, params, &with, ret_result, err);
    mailbox_put_back(&ex->inbox, beside.others);
    return rc;
}

/* beside: what control does while the server works on a claim, which takes as long as many short tasks: completed ones make room at
 * their readers, and what waits for a reader goes there. Other mail may take a statement: it waits for the answer. */
#include "executor/lane.h"

#include "base/clock.h"

struct beside {
    struct executor *ex;
    struct mail *others, **last;
};

static void take_completed(void *context)
{
    struct beside *beside = context;
    struct executor *ex = beside->ex;
    struct err ignored;
    ex->now_us = clock_boot_us();
    for (struct mail *mail = mailbox_take(&ex->inbox), *next; mail != NULL; mail = next) {
        struct work *work = (struct work *)mail;
        next = mail->next;
        if (mail->kind == MAIL_WORK_DONE && work->outcome == OUTCOME_COMPLETED) {
            enum rc always_ok = record(ex, work, &ignored);
            (void)always_ok;
            ex->news = true;
            continue;
        }
        mail->next = NULL;
        *beside->last = mail;
        beside->last = &mail->next;
    }
    hand_on(ex);
}

enum rc run_beside(struct executor *ex, const struct sql_statement *stmt, const char *const *params,
                   struct db_result **ret_result, struct err *err)
{
    struct beside beside = {.ex = ex, .last = &beside.others};
    const struct db_beside with = {.fd = ex->inbox.fd, .fn = take_completed, .context = &beside};
    enum rc rc = db_run_beside(ex->control, stmt, params, &with, ret_result, err);
    mailbox_put_back(&ex->inbox, beside.others);
    return rc;
}

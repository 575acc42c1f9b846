/* One thread that asks `may` for one visitor after the other, each a statement that may take
 * seconds, so that the thread of the event stream never waits for them. console/stream.c sends the
 * questions and drops the clients of visitors who may not listen any more. */
#include "console/recheck.h"

#include "base/memory.h"
#include "console/visitor.h"

static void *recheck_main(void *context)
{
    struct recheck *recheck = context;
    bool stopping = false;
    while (!stopping) {
        struct mail *mail = thread_take(&recheck->thread, &stopping), *next;
        for (; mail != NULL; mail = next) {
            struct rechecked *asked = (struct rechecked *)mail;
            next = mail->next;
            /* An unanswered visitor would be held for ever; "may" changes nothing at the end. */
            asked->may = recheck->ending || recheck->may(recheck->context, asked->visitor);
            mailbox_put(recheck->answers, mail);
        }
        if (!stopping)
            mailbox_wait(&recheck->thread.inbox, -1);
    }
    return NULL;
}

enum rc recheck_start(struct recheck *recheck, struct err *err)
{
    return thread_start(&recheck->thread, "recheck", recheck_main, recheck, err);
}

void recheck_ask(struct recheck *recheck, struct visitor *visitor)
{
    struct rechecked *asked = xcalloc(1, sizeof *asked);
    asked->visitor = visitor_hold(visitor);
    thread_send(&recheck->thread, &asked->mail);
}

void recheck_stop(struct recheck *recheck)
{
    /* The flag overtakes the questions, the order to stop comes behind them: all are answered. */
    recheck->ending = true;
    thread_stop(&recheck->thread);
}

/* The causes of lost attempts: the works that a session had in hand when it was lost get the reason
 * of the loss. Only a loss that a task may have caused counts against it. */
#include "reader/state.h"

#include "base/clock.h"
#include "db/sqlstate.h"

/* The server says why when it ends sessions itself, and nothing when a backend crashes. 57P01
 * (admin_shutdown) is also what pg_terminate_backend causes, so a task may do it to itself:
 * record.c lets the time since its beginning decide (AT_ONCE_US). */
static enum loss loss_of(const struct err *why)
{
    static const enum sqlstate servers[] = {SQLSTATE_INSUFFICIENT_RESOURCES, SQLSTATE_SYSTEM_ERROR,
                                            SQLSTATE_CRASH_SHUTDOWN, SQLSTATE_CANNOT_CONNECT_NOW,
                                            SQLSTATE_READ_ONLY_SQL_TRANSACTION};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (sqlstate_is(why, servers[i]))
            return LOSS_SERVER;
    if (sqlstate_barred(why))
        return LOSS_BARRED;
    if (sqlstate_other_schema(why))
        return LOSS_SCHEMA;
    return sqlstate_is(why, SQLSTATE_ADMIN_SHUTDOWN) ? LOSS_CANCELLED : LOSS_UNKNOWN;
}

static void name(const struct works *works, enum loss loss)
{
    for (struct work *work = works->first; work != NULL; work = work->next)
        work_lost(work, loss);
}

/* Only one that was alone in the session is known to have run. Of several tasks in a batch any one
 * may have crashed its backend. All of them are doubted: none is counted as lost, and each runs
 * alone the next time, with a row that says so before it begins (tests/e2e/not_its_fault.sh). */
void reader_name_losses(struct reader_thread *reader, const struct err *why)
{
    const struct works *sent = &reader->batch.sent;
    int tasks = 0;
    enum loss loss = loss_of(why);
    if (reader->cancelled && loss == LOSS_UNKNOWN) /* by us */
        return;
    for (struct work *work = sent->first; work != NULL; work = work->next) {
        tasks += !work->sent.cleans;
        work_ran(work, clock_boot_us() - reader->batch.head_us, work->end.alone);
    }
    bool known = loss == LOSS_SERVER || loss == LOSS_BARRED || loss == LOSS_SCHEMA;
    name(sent, tasks > 1 && !known ? LOSS_DOUBTED : loss);
    if (reader->lost_pid != 0) /* of the session before */
        return;
    name(&reader->lost, loss);
    name(&reader->broken, loss);
}

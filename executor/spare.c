/* This incarnation is lost, and its process lives on. The running attempts were ended by this
 * executor, by an operator or by a planned end of the server, unless the server has crashed. The
 * next incarnation reports them to the database (spare_report), which would count them as lost
 * otherwise.
 *
 * The order: spare_start() before the sessions of the readers are severed, because they may still
 * get the report of a crash; spare_note() for each attempt that returns; spare_end(). */
#include "executor/spare.h"

#include "executor/lane.h"
#include "executor/server.h"

#include "base/clock.h"
#include "db/db.h"
#include "db/parameter.h"
#include "db/sqlstate.h"
#include "reader/reader.h"
#include "reader/session.h"
#include "reader/work.h"

#include <poll.h>
#include <string.h>

#define NOTICE_MS 300         /* until any session gets the report of a crash */
#define ENDING_MS (10 * 1000) /* a server that crashes kills what has not ended after 5 s */

/* The server crashed, or its sessions ended without a reason: a running task may be the cause. */
static bool crashed(const struct err *why)
{
    return sqlstate_is(why, SQLSTATE_CRASH_SHUTDOWN) ||
           (why->code[0] == '\0' && why->kind == ERR_DB_DOWN);
}

static bool all_ended(const struct readers *readers)
{
    for (int i = 0; i < readers->count; i++)
        if (readers->list[i].count > 0 && !reader_bereft(readers->list[i].thread))
            return false;
    return true;
}

static bool saw_crash(const struct readers *readers, const struct err *why)
{
    bool heard = sqlstate_is(why, SQLSTATE_CRASH_SHUTDOWN);
    for (int i = 0; i < readers->count; i++)
        heard = heard || reader_saw_crash(readers->list[i].thread);
    return heard;
}

/* In a crash the server sends each session the reason, but nothing to the session that is the
 * cause. A reader with a task reads it before its session is severed here. When only control's own
 * line broke, no other session ends. */
static void wait_for_last_replies(const struct readers *readers, const struct err *why)
{
    int64_t from_us = clock_boot_us();
    while (!all_ended(readers) &&
           clock_boot_us() - from_us < (saw_crash(readers, why) ? ENDING_MS : NOTICE_MS) * 1000LL)
        (void)poll(NULL, 0, 5);
}

void spare_start(struct executor *ex, const struct err *why)
{
    struct spared *spared = &ex->memory->spared;
    if (spared->count > 0) /* not reported yet: this incarnation did not come up, and ran nothing */
        return;
    for (int i = 0; i < 3; i++)
        db_array_start(&spared->of[i]);
    spared->whole = false;
    spared->crashed = crashed(why);
    memcpy(spared->executor, ex->incarnation.id, sizeof spared->executor);
    if (spared->crashed)
        wait_for_last_replies(&ex->readers, why);
}

void spare_note(struct spared *spared, const struct work *work)
{
    /* If the server crashed, an attempt that this process ended itself may still be the cause, so
     * it is spared only if the server reported a reason to it (tests/e2e/not_its_fault.sh). */
    bool said = work->end.loss == LOSS_SERVER || work->end.loss == LOSS_BARRED ||
                work->end.loss == LOSS_SCHEMA || work->end.loss == LOSS_CANCELLED;
    bool ours = work->end.loss == LOSS_OWN || work->end.loss == LOSS_DOUBTED;
    if (work->end.outcome != OUTCOME_LOST || !(said || (ours && !spared->crashed)))
        return;
    db_array_int(&spared->of[0], work->task_id);
    db_array_text(&spared->of[1], work->token, strlen(work->token));
    db_array_int(&spared->of[2], work->attempt);
    spared->count++;
}

void spare_end(struct spared *spared)
{
    for (int i = 0; !spared->whole && i < 3; i++)
        db_array_end(&spared->of[i]);
    spared->whole = true;
}

enum rc spare_report(struct spared *spared, struct db *db, struct err *err)
{
    if (spared->count == 0)
        return RC_OK;
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_executor_spare,
                        (const char *const[]){spared->executor, spared->of[0].data,
                                              spared->of[1].data, spared->of[2].data},
                        &row, err);
    if (rc == RC_OK)
        spared->count = 0;
    return rc;
}

/* The log of events gets each opening behind the start of its tasks, because a barrier would wait
 * for the statement otherwise. If the process ends in between, the log lacks a line; opened_at of
 * the phase is written by the opening itself. gate.c decides when they are due, and
 * which session records them: that of a gate without a wait, or control's. */
#include "executor/openings.h"

#include "executor/late.h"

#include "base/probe.h"
#include "db/db.h"
#include "db/parameter.h"
#include "db/sqlstate.h"

void openings_add(struct openings *openings, int64_t phase_id, int64_t now_us)
{
    if (openings_full(openings))
        return;
    if (openings->count == 0)
        openings->since_us = now_us;
    openings->phase_ids[openings->count++] = phase_id;
}

void openings_join(struct openings *openings, const struct openings *others)
{
    for (int i = 0; i < others->count; i++)
        openings_add(openings, others->phase_ids[i], others->since_us);
}

void openings_clear(struct openings *openings)
{
    openings->count = 0;
}

/* gates_stop cancels the wait of a gate, and its cancel may hit this statement instead: then the
 * statement runs again. */
static enum rc record(const struct openings *openings, struct db *db, int executor_no,
                      struct err *err)
{
    STR_AUTO phases = {0};
    db_array_start(&phases);
    for (int i = 0; i < openings->count; i++)
        db_array_int(&phases, openings->phase_ids[i]);
    db_array_end(&phases);
    const char *const params[] = {phases.data, DB_INT(executor_no)};
    probe("gate.opened");
    enum rc rc = db_run(db, &sql_executor_opened, params, NULL, err);
    if (rc != RC_OK && sqlstate_is(err, SQLSTATE_QUERY_CANCELED))
        rc = db_run(db, &sql_executor_opened, params, NULL, err);
    return rc;
}

enum rc openings_flush(struct openings *openings, struct db *db, int executor_no, struct err *err)
{
    if (openings->count == 0)
        return RC_OK;
    enum rc rc = record(openings, db, executor_no, err);
    if (!lane_put_off(rc, err)) /* otherwise they are recorded later */
        openings->count = 0;
    return rc;
}

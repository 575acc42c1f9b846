/* locks: after a statement that failed, memory and session agree again about locks of phases. */
#include "executor/locks.h"

#include "executor/executor.h"
#include "executor/gate.h"
#include "executor/lane.h"
#include "executor/phase.h"
#include "executor/phases.h"

#include "base/memory.h"
#include "base/str.h"
#include "db/db.h"
#include "db/parameter.h"

#include <stdlib.h>

static enum rc settle(struct db *db, const struct str *shared, const struct str *intents,
                      struct db_result **ret_lost, struct err *err)
{
    return db_run(db, &sql_executor_locks_settle,
                  (const char *const[]){shared->data, intents->data}, ret_lost, err);
}

static void lost(struct executor *ex, int64_t phase_id, bool shared)
{
    for (int i = 0; i < ex->lane_count; i++)
        for (struct phase *phase = ex->lanes[i].phases.first; phase != NULL; phase = phase->next)
            if (shared && phase->phase_id == phase_id)
                phase_share(phase, false);
            else if (!shared && phase->gate == NULL && phase->previous_phase_id == phase_id)
                gate_release(phase);
}

enum rc locks_settle(struct executor *ex, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    STR_AUTO shared = {0}, intents = {0};
    db_array_start(&shared);
    db_array_start(&intents);
    for (int i = 0; i < ex->lane_count; i++)
        for (const struct phase *phase = ex->lanes[i].phases.first; phase != NULL;
             phase = phase->next) {
            if (phase->shared)
                db_array_int(&shared, phase->phase_id);
            if (phase->gate == NULL && phase->previous_phase_id != 0)
                db_array_int(&intents, phase->previous_phase_id);
        }
    db_array_end(&shared);
    db_array_end(&intents);
    enum rc rc = settle(ex->control.db, &shared, &intents, &rows, err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++)
        lost(ex, db_int(rows, i, EXECUTOR_LOCKS_SETTLE_PHASE_ID),
             db_bool(rows, i, EXECUTOR_LOCKS_SETTLE_SHARED));
    return rc;
}

void intents_add(struct intents *intents, int64_t phase_id)
{
    if (intents->count == intents->room) {
        intents->room = intents->room * 2 + 4;
        intents->ids = xrealloc(intents->ids, (size_t)intents->room, sizeof *intents->ids);
    }
    intents->ids[intents->count++] = phase_id;
}

void intents_remove(struct intents *intents, int64_t phase_id)
{
    for (int i = 0; i < intents->count; i++)
        if (intents->ids[i] == phase_id) {
            intents->ids[i] = intents->ids[--intents->count];
            return;
        }
}

/* Nothing can be missing: a gate releases IX in a statement of its own, whose failure ends it. */
enum rc intents_settle(const struct intents *intents, struct db *db, struct err *err)
{
    STR_AUTO shared = {0}, ids = {0};
    db_array_start(&shared);
    db_array_end(&shared);
    db_array_start(&ids);
    for (int i = 0; i < intents->count; i++)
        db_array_int(&ids, intents->ids[i]);
    db_array_end(&ids);
    return settle(db, &shared, &ids, NULL, err);
}

void intents_done(struct intents *intents)
{
    free(intents->ids);
    *intents = (struct intents){0};
}

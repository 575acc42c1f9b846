/* The log of events gets each opening behind the start of its tasks, because a barrier would wait
 * for the statement otherwise. If the process ends in between, the log lacks a line; opened_at of
 * the phase is written by the opening itself. gate.c decides when they are due, and
 * which session records them: that of a gate without a wait, or control's. */
#include "executor/openings.h"

#include "executor/late.h"

#include "base/mailbox.h"
#include "base/memory.h"
#include "base/probe.h"
#include "db/db.h"
#include "db/parameter.h"
#include "db/sqlstate.h"

#include <stdlib.h>
#include <string.h>

void openings_add(struct openings *openings, int64_t phase_id, int64_t now_us)
{
    if (openings->count == 0)
        openings->since_us = now_us;
    if (openings->count == openings->room) {
        openings->room += OPENINGS_ENOUGH;
        openings->phase_ids =
            xrealloc(openings->phase_ids, (size_t)openings->room, sizeof *openings->phase_ids);
    }
    openings->phase_ids[openings->count++] = phase_id;
}

/* One piece of memory, because an order that its thread does not take is freed as such
 * (base/thread.c). */
struct openings_mail {
    struct mail mail;
    int64_t since_us;
    int count;
    int64_t phase_ids[];
};

struct mail *openings_mail(struct openings *openings, int kind)
{
    size_t size = (size_t)openings->count * sizeof *openings->phase_ids;
    struct openings_mail *mail = xcalloc(1, sizeof *mail + size);
    mail->mail.kind = kind;
    mail->since_us = openings->since_us;
    mail->count = openings->count;
    memcpy(mail->phase_ids, openings->phase_ids, size);
    openings->count = 0;
    return &mail->mail;
}

void openings_join(struct openings *openings, const struct mail *mail)
{
    const struct openings_mail *others = (const struct openings_mail *)mail;
    for (int i = 0; i < others->count; i++)
        openings_add(openings, others->phase_ids[i], others->since_us);
}

void openings_done(struct openings *openings)
{
    free(openings->phase_ids);
    *openings = (struct openings){0};
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

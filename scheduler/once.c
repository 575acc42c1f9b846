/* One round for `scheduler run --once`: take the lock, cancel overdue runs, decide all that was due
 * at the start, delete old rows, release the lock. It has no thread, does not listen, and takes no
 * look at the health of jobs. The loop over days is the user's cron. */
#include "scheduler/once.h"

#include "base/clock.h"
#include "base/remedies.h"
#include "scheduler/asker.h"
#include "scheduler/firing.h"
#include "scheduler/house.h"
#include "scheduler/lasting.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE_MS 10000 /* for rows that another session holds */
#define AGAIN_MS    500   /* until they are tried again */

struct once {
    struct db *db;
    const struct dispatcher_options *options;
    struct asker *asker;
    char since[64]; /* when it began, by the database's clock */
    int64_t until_us;
};

/* The database's clock, because the schedules are compared with it; this host's may differ. */
static enum rc now(struct db *db, char *text, size_t size, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_job_now, NULL, &row, err);
    if (rc == RC_OK)
        (void)snprintf(text, size, "%s", db_text(row, 0, JOB_NOW_NOW));
    return rc;
}

/* Waits before what is held is tried again; false: there is no time left. */
static bool again(const struct once *once)
{
    if (clock_boot_us() >= once->until_us)
        return false;
    /* No notification says that a row is free, so this is a poll. */
    (void)poll(NULL, 0, AGAIN_MS);
    return true;
}

/* Runs SQL of users and reports its result, then the same for the firing that a look leads to. A
 * result that cannot be reported because another session holds the job is left. */
static enum rc run_asks(const struct once *once, struct ask *ask, struct err *err)
{
    enum rc rc = RC_OK;
    while (rc == RC_OK && ask != NULL) {
        struct ask *next = NULL;
        asker_run(once->asker, ask, db_server(once->db));
        do
            rc = firing_report(once->db, once->options, ask, &next, err);
        while (lasting_held(rc, err) && again(once));
        free(ask);
        ask = next;
        if (lasting_held(rc, err))
            return RC_OK;
    }
    return rc;
}

/* All that is due at one moment. */
static enum rc decide(const struct once *once, const char *at, struct err *err)
{
    int64_t wait_us = -1;
    enum rc rc = RC_OK;
    while (rc == RC_OK && wait_us < 0) {
        const struct firing_turn turn = {.asks = true, .most = 1, .now = at};
        struct ask *ask = NULL;
        rc = firing_fire(once->db, once->options, &turn, &wait_us, &ask, err);
        if (rc == RC_OK)
            rc = run_asks(once, ask, err);
        if (lasting_held(rc, err))
            return RC_OK;
    }
    return rc;
}

/* What was due when the round began and is not decided. RC_RETRY: something is; err names it. */
static enum rc left(const struct once *once, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(once->db, &sql_job_left, (const char *const[]){once->since}, &row, err);
    if (rc != RC_OK || db_int(row, 0, JOB_LEFT_COUNT) == 0)
        return rc;
    return err_set(err, RC_RETRY, ERR_HELD, db_text(row, 0, JOB_LEFT_JOB), REMEDY_JOB_PROBLEMS,
                   "schedule %s is due and could not be decided%s: another session holds its row, "
                   "or the tasks' login has no session",
                   db_text(row, 0, JOB_LEFT_SCHEDULE),
                   db_int(row, 0, JOB_LEFT_COUNT) > 1 ? ", nor could others" : "");
}

static enum rc round_of(struct once *once, struct err *err)
{
    enum rc rc = now(once->db, once->since, sizeof once->since, err);
    char at[64];
    (void)snprintf(at, sizeof at, "%s", once->since);
    for (;;) {
        if (rc == RC_OK)
            rc = decide(once, at, err);
        if (rc == RC_OK)
            rc = left(once, err);
        if (rc != RC_RETRY || err->kind != ERR_HELD || !again(once))
            return rc;
        /* A decision that met a held row has moved the schedule's next try to a later moment, so
         * the moment moves too. Only what was due at the beginning counts as left, and until_us
         * ends the round. */
        rc = now(once->db, at, sizeof at, err);
    }
}

enum rc dispatch_once(struct db *db, const struct dispatcher_options *options, bool *ret_held,
                      struct err *err)
{
    struct once once = {
        .db = db, .options = options, .until_us = clock_boot_us() + PATIENCE_MS * 1000LL};
    bool locked = false;
    enum rc rc = firing_lock(db, &locked, err);
    *ret_held = rc == RC_OK && !locked;
    if (rc != RC_OK || !locked)
        return rc;
    rc = house_cancel_overdue(db, err);
    once.asker = asker_new(options->task_conninfo);
    if (rc == RC_OK || lasting_held(rc, err))
        rc = round_of(&once, err);
    asker_free(once.asker);
    if (rc != RC_OK)
        return rc;
    bool more = true;
    while (rc == RC_OK && more)
        /* A round an hour apart may find more than a batch, so all of them are deleted now. */
        rc = house_sweep(db, options->keep_log_ms, &more, err);
    if (lasting_held(rc, err)) /* the next round deletes the rest */
        rc = RC_OK;
    return rc == RC_OK ? db_run(db, &sql_job_unlock, NULL, NULL, err) : rc;
}

/* Readers whose login does not let them open a session (its password has changed, it is barred, too
 * many connections), or may not record an attempt there (a grant is missing). They try again by
 * themselves, and cut_off_watch() compares them with the last turn: control assigns nothing to
 * them, and without any reader this executor returns its tasks and claims and adopts nothing. */
#include "executor/cut_off.h"

#include "executor/alive.h"
#include "executor/event.h"
#include "executor/lane.h"
#include "executor/returning.h"

#include "base/backoff.h"
#include "base/log.h"
#include "db/sqlstate.h"
#include "reader/fitness.h"
#include "reader/reader.h"
#include "reader/session.h"

#define AGAIN_FIRST_S 60 /* until it is logged again; doubled */
#define AGAIN_LAST_S  3600

static const char LOGIN_HINT[] =
    "let the login in again (password, NOLOGIN, pg_hba.conf); a new password in the configuration "
    "counts after a restart, not after SIGHUP, and one in a passfile at once";

const char *login_hint(const struct err *why)
{
    return sqlstate_is(why, SQLSTATE_INVALID_AUTHORIZATION) ? LOGIN_HINT : why->hint;
}

static bool all_cut_off(const struct cut_off *cut_off)
{
    return cut_off->count > 0 && cut_off->count == cut_off->limit;
}

/* Operators see whether the executor cannot work at all, or works with fewer readers. A right to
 * record attempts is lacking in each session: a reader that has one loses it with its next task. */
static void note_trouble(const struct executor *ex, const struct err *why)
{
    const struct cut_off *cut_off = &ex->readers.cut_off;
    bool lacks_right = sqlstate_is(why, SQLSTATE_INSUFFICIENT_PRIVILEGE);
    bool none_works = all_cut_off(cut_off) || (cut_off->count > 0 && fitness_found(why));
    STR_AUTO text = {0};
    str_format(&text, "%d of %d readers: %s%s%s", cut_off->count, cut_off->limit, why->object,
               *why->object ? ": " : "", why->message);
    if (lacks_right) /* explain finds the statement there */
        str_format(&text, ". %s", why->hint);
    alive_trouble(ex->services.alive, ALIVE_LOGIN, none_works ? text.data : NULL);
    alive_trouble(ex->services.alive, ALIVE_READERS,
                  cut_off->count > 0 && !none_works ? text.data : NULL);
}

/* True: it was logged. */
static bool log_when_due(struct executor *ex, const struct cut_off *before, const struct err *why)
{
    struct cut_off *cut_off = &ex->readers.cut_off;
    bool turned = (before->count == 0) != (cut_off->count == 0) ||
                  all_cut_off(before) != all_cut_off(cut_off);
    if (cut_off->count == 0) {
        if (turned)
            log_event(LOG_INFO, "readers_back", "readers", LOG_INT(cut_off->limit), NULL);
        cut_off->wait_s = 0;
        return turned;
    }
    if (!turned && ex->turn.now_us < cut_off->again_us)
        return false;
    cut_off->wait_s = backoff_next(turned ? 0 : cut_off->wait_s, AGAIN_FIRST_S, AGAIN_LAST_S);
    cut_off->again_us = ex->turn.now_us + cut_off->wait_s * 1000000LL;
    log_event(LOG_WARN, "readers_cut_off", "readers", LOG_INT(cut_off->count), "of",
              LOG_INT(cut_off->limit), "code", why->code, "error", why->message, "hint",
              login_hint(why), NULL);
    return true;
}

bool reader_usable(const struct readers *readers, const struct reader *reader)
{
    return reader - readers->list < readers->limit && !reader->cut_off &&
           !reader_bereft(reader->thread);
}

/* The count of cut-off readers is of the last turn, and the limit may have been lowered since. */
int readers_usable(const struct readers *readers)
{
    return readers->cut_off.count < readers->limit ? readers->limit - readers->cut_off.count : 0;
}

/* Every turn asks all readers, because a reader changes by itself when its login is let in again.
 * Tasks in hand are returned only when the last reader that may be used is cut off: the others can
 * still run them. A lowered limit may leave none but readers that are cut off, too. */
enum rc cut_off_watch(struct executor *ex, struct err *err)
{
    struct cut_off *cut_off = &ex->readers.cut_off, before = *cut_off;
    struct err why = {0};
    enum rc rc = RC_OK;
    cut_off->count = 0;
    cut_off->limit = ex->readers.limit;
    for (int i = 0; i < ex->readers.count; i++) {
        struct reader *reader = &ex->readers.list[i];
        reader->cut_off = reader_cut_off(reader->thread);
        if (!reader->cut_off || i >= cut_off->limit)
            continue;
        cut_off->count++;
        reader_cut_off_why(reader->thread, &why);
    }
    if (before.count == 0 && cut_off->count == 0)
        return RC_OK;
    if (why.kind == ERR_SCHEMA) { /* for all readers: the next incarnation checks the schema */
        *err = why;
        return RC_FATAL;
    }
    if (log_when_due(ex, &before, &why) || before.count != cut_off->count ||
        before.limit != cut_off->limit)
        note_trouble(ex, &why);
    bool fewer = cut_off->count > before.count || cut_off->limit < before.limit;
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        if (cut_off->count < before.count)
            event_raise(lane, EVENT_READERS_BACK);
        if (readers_usable(&ex->readers) == 0 && fewer) /* others may have a login */
            rc = return_or_keep(lane, -1, err);
    }
    return rc;
}

bool cut_off_all_that_runs(const struct readers *readers)
{
    for (int i = 0; i < readers->count; i++)
        if (readers->list[i].count > 0 && !readers->list[i].cut_off)
            return false;
    return true;
}

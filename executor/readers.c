/* Control's notes of each reader: its slot, the lane that the slot belongs to, and its works in the
 * order in which they were assigned. A work is removed by identity and not from the front, because
 * a batch with a failure returns in another order. The threads themselves are in reader/; a note
 * here may be older than the session that a reader has by now (cut_off.c, sessions.c). */
#include "executor/readers.h"

#include "executor/assignment.h"
#include "executor/lane.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "db/sqlstate.h"
#include "reader/reader.h"
#include "reader/work.h"

#include <stdlib.h>

/* The server has no connection left. Some are needed for the relay and people, and each queue needs
 * a gate. */
#define CONNECTIONS_LEFT 4

static void start_fewer(struct readers *readers, int wanted, int queues, const struct err *why)
{
    for (int i = 0; i < CONNECTIONS_LEFT + queues && readers->count > 1; i++)
        reader_stop(readers->list[--readers->count].thread);
    log_event(LOG_WARN, "readers_short", "readers", LOG_INT(readers->count), "wanted",
              LOG_INT(wanted), "code", why->code, "error", why->message, "hint", why->hint, NULL);
}

enum rc readers_start(struct readers *readers, int wanted, int queues, const char *conninfo,
                      const struct db_server *server, const struct reader_outside *outside,
                      struct mailbox *control, struct err *err)
{
    enum rc rc = RC_OK;
    readers->list = xcalloc((size_t)wanted, sizeof *readers->list);
    while (rc == RC_OK && readers->count < wanted) {
        rc = reader_start(conninfo, server, outside, control, &readers->list[readers->count].thread,
                          err);
        readers->count += rc == RC_OK;
    }
    if (rc == RC_RETRY && sqlstate_is(err, SQLSTATE_TOO_MANY_CONNECTIONS) && readers->count > 0) {
        start_fewer(readers, wanted, queues, err);
        rc = RC_OK;
    }
    readers_use(readers, readers->count);
    return rc;
}

void readers_use(struct readers *readers, int limit)
{
    readers->limit = limit;
}

void readers_keep_none(struct readers *readers)
{
    readers->slots_due_us = 0;
}

void readers_keep_until(struct readers *readers, int64_t until_us)
{
    readers->slots_due_us = clock_earlier_us(readers->slots_due_us, until_us);
}

void reader_take_slot(struct reader *reader, struct lane *lane, int slot_no, int pid)
{
    reader->lane = lane;
    reader->slot_no = slot_no;
    reader->slot_pid = pid;
    reader->idle_since_us = lane->ex->turn.now_us;
    slots_hold(&lane->share.slots, 1);
}

void reader_leave_slot(struct reader *reader)
{
    slots_hold(&reader->lane->share.slots, -1);
    reader->lane = NULL;
}

/* The reader runs its works in this order. Its last run is noted, because a reader that changes to
 * another run must clean its session first (execute.c, phase_for). */
void reader_add(struct reader *reader, struct work *work, int64_t now_us)
{
    struct assignment *own = assignment_own(work);
    own->behind = NULL;
    own->head_since_us = reader->first == NULL ? now_us : 0;
    if (reader->first == NULL)
        reader->first = own;
    else
        reader->last->behind = own;
    reader->last = own;
    reader->run_no = work->run_no;
    reader->count++;
}

/* The time of the next task begins when the one before it is back. That is the earliest moment that
 * control can know; in the pipeline the task may have begun a little earlier. */
void readers_remove(struct readers *readers, const struct work *work, int64_t now_us)
{
    for (int i = 0; i < readers->count; i++) {
        struct reader *reader = &readers->list[i];
        struct assignment *before = NULL, *at = reader->first;
        while (at != NULL && &at->work != work) {
            before = at;
            at = at->behind;
        }
        if (at == NULL)
            continue;
        if (before != NULL)
            before->behind = at->behind;
        else
            reader->first = at->behind;
        if (reader->last == at)
            reader->last = before;
        reader->count--;
        reader->idle_since_us = now_us;
        if (reader->first != NULL && reader->first->head_since_us == 0)
            reader->first->head_since_us = now_us;
        return;
    }
}

/* The works of a thread that has ended are gone. A count that stayed would keep the reader from
 * returning its slot (execute.c, return_some). */
void readers_forget(struct readers *readers)
{
    for (int i = 0; i < readers->count; i++)
        readers->list[i].count = 0;
}

void readers_done(struct readers *readers)
{
    free(readers->list);
}

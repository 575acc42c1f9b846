/* What control knows of each reader: its slot, the lane that the slot belongs to, and its works in
 * the order in which they were handed out. A work is removed by identity and not from the front,
 * because a batch with a failure comes back in another order. */
#include "executor/readers.h"

#include "executor/assignment.h"
#include "executor/lane.h"

void readers_use(struct executor *ex, int limit)
{
    ex->reader_limit = limit;
}

void reader_take_slot(struct reader *reader, struct lane *lane, int slot_no, int pid)
{
    reader->lane = lane;
    reader->slot_no = slot_no;
    reader->slot_pid = pid;
    reader->idle_since_us = lane->ex->turn.now_us;
    slots_hold(&lane->slots, 1);
}

void reader_leave_slot(struct reader *reader)
{
    slots_hold(&reader->lane->slots, -1);
    reader->lane = NULL;
}

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
void readers_remove(struct executor *ex, const struct work *work)
{
    for (int i = 0; i < ex->reader_count; i++) {
        struct reader *reader = &ex->readers[i];
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
        reader->idle_since_us = ex->turn.now_us;
        if (reader->first != NULL && reader->first->head_since_us == 0)
            reader->first->head_since_us = ex->turn.now_us;
        return;
    }
}

void readers_forget(struct executor *ex)
{
    for (int i = 0; i < ex->reader_count; i++)
        ex->readers[i].count = 0;
}

/* The readers of an executor among its queues. Each queue gets as many as the others, and more
 * where the others need fewer. When there are more queues than readers, the queues take turns.
 * share_readers() says how many readers each lane may use; execute.c takes and returns the
 * slots. */
#include "executor/share.h"

#include "executor/assignment.h"
#include "executor/cut_off.h"
#include "executor/executor.h"
#include "executor/idle.h"
#include "executor/lane.h"
#include "executor/phase.h"

#include "base/memory.h"

#include <stdlib.h>

#define TURN_US (100 * 1000) /* then it is the turn of another one */

void share_start(struct executor *ex)
{
    ex->line.lanes = xcalloc((size_t)ex->options->queue_count, sizeof(struct lane *));
}

void share_end(struct executor *ex)
{
    free(ex->line.lanes);
}

/* A reader counts for the lane whose slot it has, as long as it has works. */
static int busy_readers(const struct lane *lane)
{
    int count = 0;
    for (int i = 0; i < lane->ex->readers.count; i++)
        count += lane->ex->readers.list[i].lane == lane && lane->ex->readers.list[i].count > 0;
    return count;
}

/* The readers that the queue's bound allows. If other executors hold its slots, they should
 * claim. */
static int bound(const struct lane *lane)
{
    int usable = readers_usable(&lane->ex->readers);
    int most = usable < lane->queue.max_readers ? usable : lane->queue.max_readers;
    bool starved = lane->share.slots.after_us > lane->ex->turn.now_us;
    return starved && lane->share.slots.held < most ? lane->share.slots.held : most;
}

/* Over a barrier it keeps what it has, for as long as slots are kept. */
static int needed(const struct lane *lane)
{
    int work = phases_startable(&lane->phases) + busy_readers(lane), most = bound(lane);
    if (work < lane->share.slots.held && phases_next_is_ours(&lane->phases))
        work = lane->share.slots.held;
    return work < most ? work : most;
}

static int free_readers(const struct readers *readers)
{
    int count = 0;
    for (int i = 0; i < readers->limit; i++)
        count += readers->list[i].lane == NULL && !readers->list[i].cut_off;
    return count;
}

/* In the order of their turns; a lane that is new, or has had its turn while others wait, goes to
 * the end. */
static int line_up(struct executor *ex)
{
    int count = 0;
    for (int l = 0; l < ex->lane_count; l++) {
        struct lane *lane = &ex->lanes[l];
        lane->share.may = 0;
        lane->share.need = needed(lane);
        if (lane->share.need == 0) {
            lane->share.turn = 0;
            continue;
        }
        bool over = ex->line.count > readers_usable(&ex->readers) && lane->share.turn_us != 0 &&
                    ex->turn.now_us - lane->share.turn_us >= TURN_US;
        if (lane->share.turn == 0 || over) {
            lane->share.turn = ++ex->line.turns;
            lane->share.turn_us = 0;
        }
        int at = count++;
        for (; at > 0 && ex->line.lanes[at - 1]->share.turn > lane->share.turn; at--)
            ex->line.lanes[at] = ex->line.lanes[at - 1];
        ex->line.lanes[at] = lane;
    }
    return count;
}

/* One reader at a time in turn, so that a lane with a short need leaves its rest to the others and
 * no lane waits for another one's long need (tests/e2e/several_queues.sh). */
void share_readers(struct executor *ex)
{
    int count = line_up(ex), left = readers_usable(&ex->readers), before;
    ex->line.count = count;
    do {
        before = left;
        for (int i = 0; i < count && left > 0; i++)
            if (ex->line.lanes[i]->share.may < ex->line.lanes[i]->share.need) {
                ex->line.lanes[i]->share.may++;
                left--;
            }
    } while (left > 0 && left < before);
    ex->line.short_handed = false;
    int idle = free_readers(&ex->readers);
    for (int i = 0; i < count; i++) {
        struct lane *lane = ex->line.lanes[i];
        if (lane->share.may > 0 && lane->share.turn_us == 0)
            lane->share.turn_us = ex->turn.now_us;
        ex->line.short_handed =
            ex->line.short_handed || lane->share.may > lane->share.slots.held + idle;
    }
}

/* Readers that are not in another queue's long task. */
static int within_reach(const struct lane *lane)
{
    int count = 0;
    for (int i = 0; i < lane->ex->readers.limit; i++) {
        const struct reader *reader = &lane->ex->readers.list[i];
        count += !reader->cut_off && (reader->lane == NULL || reader->lane == lane ||
                                      reader->first == NULL || !reader->first->marked);
    }
    return count;
}

bool out_of_reach(const struct lane *lane)
{
    return lane->share.slots.held == 0 && within_reach(lane) == 0;
}

/* Of those within reach no more than the others may have. */
int lane_readers(const struct lane *lane)
{
    const struct executor *ex = lane->ex;
    int most = bound(lane);
    if (ex->lane_count == 1)
        return most;
    int reach = within_reach(lane),
        fair = readers_usable(&ex->readers) / (ex->line.count + (lane->share.need == 0));
    fair = fair > lane->share.may ? fair : lane->share.may;
    fair = fair < 1 ? 1 : fair;
    most = most < reach ? most : reach;
    return most < fair ? most : fair;
}

/* measure: how many tasks to have in hand, from how long they take. Claims and adoption go by it.
 *
 * Too little in hand makes readers wait for a claim; too much takes work from the idle readers of
 * other executors. The figures are measured: bench/notes/task.md for short tasks,
 * bench/notes/long-tasks.md for longer ones. record.c reports how long each task took (pace.h). */
#include "executor/measure.h"

#include "executor/lane.h"
#include "executor/share.h"

#include "reader/reader.h"

#define SHORT_ENOUGH  64 /* of short tasks, however few the readers */
#define WORK_AHEAD_US 8000.0
/* Of tasks that are not short; many readers may be done at the same time, and a claim takes
 * milliseconds. */
#define LONG_AHEAD_US 50000.0

/* So much work, in tasks per reader; more where the server is far. */
static double ahead(const struct lane *lane, double work_us)
{
    return pace_ahead(&lane->pace, lane->ex->control.round_us, work_us);
}

/* A long task never has another one behind it. */
int lane_depth(const struct lane *lane)
{
    double depth = ahead(lane, WORK_AHEAD_US);
    return depth < 1 ? 1 : depth > READER_MOST ? READER_MOST : (int)depth;
}

/* What the readers run and have behind it, and of short tasks as much again, for them to continue
 * with during a claim; of tasks that are not so short those that readers may come to in
 * LONG_AHEAD_US, at most one each. */
int lane_enough(const struct lane *lane)
{
    int readers = lane_readers(lane), depth = lane_depth(lane),
        ahead_of_readers = 2 * readers * depth;
    if (depth == 1) {
        double behind = ahead(lane, LONG_AHEAD_US);
        return readers + (int)(readers * (behind < 1 ? behind : 1));
    }
    bool few = readers > 0 && ahead_of_readers < SHORT_ENOUGH && ahead(lane, WORK_AHEAD_US) > depth;
    bool slots = lane->share.slots.held > 0 || lane->share.slots.after_us == 0;
    return few && slots ? SHORT_ENOUGH : ahead_of_readers;
}

/* Not one by one while the readers are busy: it is worth its round trip. */
int lane_worth(const struct lane *lane)
{
    int full = lane_enough(lane), spare = full - lane_readers(lane);
    int worth = lane_depth(lane) > 1 ? full / 2 : (spare + 1) / 2;
    if (worth > CLAIM_MOST) /* many readers */
        worth = CLAIM_MOST;
    return worth > 1 ? worth : 1;
}

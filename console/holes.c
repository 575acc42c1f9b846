/* A sorted list of stretches of event numbers that were not seen yet, in a fixed array. Each look
 * of the stream adds the numbers that it skipped, takes out those that came late, and drops
 * stretches whose transactions are all over. console/stream.c asks the database; this file only
 * keeps the books. */
#include "console/holes.h"

#include "db/parameter.h"

#include <string.h>

void holes_clear(struct holes *holes)
{
    *holes = (struct holes){0};
}

static void take_out(struct holes *holes, int i)
{
    memmove(&holes->items[i], &holes->items[i + 1],
            (size_t)(--holes->count - i) * sizeof *holes->items);
}

/* The oldest has waited for longest, so it is the least likely to come. The lost ones are joined to
 * one stretch, and its end costs all clients a reset. */
static void give_up_oldest(struct holes *holes)
{
    const struct hole oldest = holes->items[0];
    take_out(holes, 0);
    if (!holes->any_lost)
        holes->lost = oldest;
    holes->lost.last = oldest.last;
    holes->lost.until_xid = 0; /* the next look sets it: later than all of them */
    holes->any_lost = true;
}

static void insert(struct holes *holes, int i, struct hole hole)
{
    memmove(&holes->items[i + 1], &holes->items[i],
            (size_t)(holes->count++ - i) * sizeof *holes->items);
    holes->items[i] = hole;
}

void holes_add(struct holes *holes, int64_t first, int64_t last)
{
    if (first > last)
        return;
    if (holes->count == HOLES_MOST)
        give_up_oldest(holes);
    insert(holes, holes->count, (struct hole){.first = first, .last = last});
}

bool holes_fill(struct holes *holes, int64_t id)
{
    int i = 0;
    while (i < holes->count && holes->items[i].last < id)
        i++;
    if (i == holes->count || holes->items[i].first > id)
        return false;
    struct hole *hole = &holes->items[i];
    if (hole->first == id && hole->last == id) {
        take_out(holes, i);
    } else if (hole->first == id) {
        hole->first++;
    } else if (hole->last == id) {
        hole->last--;
    } else {
        /* A number in the middle came: the hole becomes two, which keep the bound of the one. */
        struct hole behind = {id + 1, hole->last, hole->until_xid};
        hole->last = id - 1;
        /* Giving up the oldest moves all others by one place. */
        if (holes->count == HOLES_MOST) {
            give_up_oldest(holes);
            i--;
        }
        insert(holes, i + 1, behind);
    }
    return true;
}

/* This look still finds the hole open. When all transactions that ran at its snapshot are over, so
 * is the one that has taken the hole's number, and it was either seen or rolled back. */
void holes_arm(struct holes *holes, int64_t xmax)
{
    for (int i = 0; i < holes->count; i++)
        if (holes->items[i].until_xid == 0)
            holes->items[i].until_xid = xmax;
    if (holes->any_lost && holes->lost.until_xid == 0)
        holes->lost.until_xid = xmax;
}

static bool is_over(const struct hole *hole, int64_t xmin)
{
    /* PostgreSQL, "Transaction ID and Snapshot Information Functions": every id below xmin has
     * ended. */
    return hole->until_xid != 0 && hole->until_xid <= xmin;
}

bool holes_settle(struct holes *holes, int64_t xmin)
{
    int kept = 0;
    for (int i = 0; i < holes->count; i++)
        if (!is_over(&holes->items[i], xmin))
            holes->items[kept++] = holes->items[i];
    holes->count = kept;
    if (!holes->any_lost || !is_over(&holes->lost, xmin))
        return false;
    holes->any_lost = false;
    return true;
}

int64_t holes_safe(const struct holes *holes, int64_t id)
{
    /* A client that reconnects with a number behind a hole would never get the event of the
     * hole. */
    int64_t first = id + 1;
    if (holes->count > 0 && holes->items[0].first < first)
        first = holes->items[0].first;
    if (holes->any_lost && holes->lost.first < first)
        first = holes->lost.first;
    return first - 1;
}

void holes_arrays(const struct holes *holes, struct str *firsts, struct str *lasts)
{
    db_array_start(firsts);
    db_array_start(lasts);
    for (int i = 0; i < holes->count; i++) {
        db_array_int(firsts, holes->items[i].first);
        db_array_int(lasts, holes->items[i].last);
    }
    db_array_end(firsts);
    db_array_end(lasts);
}

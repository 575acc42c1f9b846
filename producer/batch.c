/* All tasks of a finite source, one text behind the other, and an index that is sorted. The sort
 * must be stable, because a resumed publish has to make the same records again; qsort is not stable
 * by itself (ISO C), so by_order() compares the places, too. */
#include "producer/batch.h"

#include <stdlib.h>

void batch_add(struct batch *batch, const struct staged_task *task)
{
    if (batch->count == batch->room) {
        batch->room = batch->room > 0 ? 2 * batch->room : 1024;
        batch->items = xrealloc(batch->items, batch->room, sizeof *batch->items);
    }
    batch->sorted =
        batch->count == 0 || (batch->sorted && batch->items[batch->count - 1].order <= task->order);
    batch->items[batch->count++] =
        (struct batch_item){task->order, batch->texts.len, (uint32_t)task->len};
    str_add(&batch->texts, task->text, task->len);
}

/* start grows as tasks are read, so it makes any sort a stable one. */
static int by_order(const void *left, const void *right)
{
    const struct batch_item *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

void batch_sort(struct batch *batch)
{
    if (!batch->sorted && batch->count > 1)
        qsort(batch->items, batch->count, sizeof *batch->items, by_order);
    batch->sorted = true;
}

struct staged_task batch_task(const struct batch *batch, size_t i)
{
    const struct batch_item *item = &batch->items[i];
    return (struct staged_task){
        .order = item->order, .text = batch->texts.data + item->start, .len = item->len};
}

void batch_done(struct batch *batch)
{
    str_done(&batch->texts);
    free(batch->items);
    *batch = (struct batch){0};
}

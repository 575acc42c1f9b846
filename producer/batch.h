/**
 * What: the tasks of a finite source in memory, and their order.
 * Invariants: after batch_sort tasks come by order, and within an order as they were read.
 * Threads: plain data, one at a time.
 * Ownership: struct batch owns the texts; batch_done frees it. 24 bytes and the text a task.
 * Failure: none; memory that is not available ends the process.
 */
#ifndef PRODUCER_BATCH_H
#define PRODUCER_BATCH_H

#include "base/str.h"
#include "producer/staged.h"

struct batch {
    struct str texts;
    struct batch_item {
        int64_t order;
        size_t start; /* in texts */
        uint32_t len;
    } * items;
    size_t count, room;
    bool sorted; /* as read */
};

#define BATCH_AUTO __attribute__((cleanup(batch_done))) struct batch

void batch_add(struct batch *batch, const struct staged_task *task);
void batch_sort(struct batch *batch);
/** The i-th task; its line is not kept. */
struct staged_task batch_task(const struct batch *batch, size_t i);
void batch_done(struct batch *batch);

#endif

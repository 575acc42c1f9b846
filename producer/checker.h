/**
 * What: checks the tasks of a finite source on several processors while the caller continues
 *   reading: the caller fills chunks of tasks and gives them, a free thread checks them, and they
 *   come back in the order in which they were given.
 * Invariants: a chunk that is given comes back, checked, in order, unless the checker is closed
 *   before. One with a task that is wrong comes back as faulty; its tasks from the wrong one on are
 *   not checked, so that the caller, which checks them again, reports all in order.
 * Threads: all calls from the caller's own. One other for each processor but the first, a few at
 *   most; they start with the first chunk that is full, and call staged_check only.
 * Ownership: checker_open gives, checker_close takes; it borrows the source. Chunks are the
 *   checker's.
 * Failure: none. Where no thread can be started the caller checks by itself.
 */
#ifndef PRODUCER_CHECKER_H
#define PRODUCER_CHECKER_H

#include "base/str.h"
#include "producer/staged.h"

#define CHECKER_CHUNK 512 /* tasks */

struct checker;

struct checker_chunk {
    struct str texts; /* of all tasks, one behind the other */
    struct checker_task {
        size_t start, len; /* in texts */
        int64_t line, order;
    } tasks[CHECKER_CHUNK];
    int count;
    bool faulty;
    bool done; /* the checker's own */
};

struct checker *checker_open(const struct staged *staged);
void checker_close(struct checker *checker);
/** Adds a task that is not checked yet, and gives the chunk when it is full. There must be room:
 * checker_full is false. */
void checker_add(struct checker *checker, const struct staged_task *task);
/** Gives what there is. */
void checker_give(struct checker *checker);
/** Nothing may be added before a chunk is released. */
bool checker_full(const struct checker *checker);
/** The chunk that was given first of those that are not released; helps to check until it is. NULL:
 * all are released. */
struct checker_chunk *checker_oldest(struct checker *checker);
/** Forgets that chunk. */
void checker_release(struct checker *checker);
/** The i-th task of a chunk, as staged_check wants and leaves it. */
struct staged_task checker_task(const struct checker_chunk *chunk, int i);

#endif

/**
 * What: the readers as control knows them: the slot that each has, and the works that it was given,
 *   in the order in which it runs them.
 * Invariants: a reader with works has a slot.
 * Threads: control.
 * Ownership: the works belong to the reader's thread until they come back; a reader here only names
 *   them.
 * Failure: -
 */
#ifndef EXECUTOR_READERS_H
#define EXECUTOR_READERS_H

#include "base/err.h"
#include "reader/work.h"

struct assignment;
struct executor;
struct lane;

struct reader {
    struct reader_thread *thread; /* reader/reader.h */
    struct lane *lane;            /* whose slot it has, NULL: none */
    int slot_no, noted_pid;
    int slot_pid; /* the backend that the slot names: on another one nothing may run */
    struct assignment *first, *last; /* by behind: handed out, in the order it runs them */
    int count;
    int64_t run_no;                   /* of its last task */
    bool refill;                      /* within hand_out, */
    struct mail *given, **given_last; /* too: what it is given */
    int64_t idle_since_us;
    bool cut_off; /* has no session, as far as control knows: cut_off.c */
};

/** So many of them are used from now on. */
void readers_use(struct executor *ex, int limit);
/** It has this slot of the lane's queue, on the backend pid. */
void reader_take_slot(struct reader *reader, struct lane *lane, int slot_no, int pid);
/** It has none any more. */
void reader_leave_slot(struct reader *reader);
/** It is given a work, behind the others. */
void reader_add(struct reader *reader, struct work *work, int64_t now_us);
/** The work has come back from whichever has it. */
void readers_remove(struct executor *ex, const struct work *work);
/** Their threads have ended. */
void readers_forget(struct executor *ex);

#endif

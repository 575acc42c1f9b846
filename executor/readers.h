/**
 * What: the readers as control knows them: the slot that each has, and the works that are
 *   assigned to it, in the order in which it runs them.
 * Invariants: a reader with works has a slot. Only readers.c writes the fields of struct readers,
 *   but for cut_off.
 * Threads: control.
 * Ownership: the works belong to the reader's thread until they come back; a reader here only names
 *   them.
 * Failure: -
 */
#ifndef EXECUTOR_READERS_H
#define EXECUTOR_READERS_H

#include "base/err.h"
#include "executor/again.h"
#include "executor/cut_off.h"
#include "reader/work.h"

struct assignment;
struct db_server;
struct lane;
struct mailbox;
struct reader_outside;

struct reader {
    struct reader_thread *thread; /* reader/reader.h */
    struct lane *lane;            /* whose slot it has, NULL: none */
    int slot_no, noted_pid;
    int slot_pid; /* the backend that the slot names: on another one nothing may run */
    struct assignment *first, *last; /* by behind: assigned, in the order in which it runs them */
    int count;
    int64_t run_no;                         /* of its last task */
    bool refill;                            /* within assign_tasks, */
    struct mail *assigned, **assigned_last; /* too: the works that are assigned to it */
    int64_t idle_since_us;
    bool cut_off; /* has no session, as far as control knows: cut_off.c */
};

/** All readers of an executor. */
struct readers {
    struct reader *list;
    int count;
    int limit;            /* of them, the first so many are used */
    int64_t slots_due_us; /* when an idle reader's slot is to be returned, 0: none */
    struct cut_off cut_off;
    struct again marks; /* execute.c: tasks that run for long are to be shown as Processing */
};

/**
 * Starts as many as are wanted. A server without free connections lets it start fewer, which is
 * logged.
 */
MUST_CHECK enum rc readers_start(struct readers *readers, int wanted, int queues,
                                 const char *conninfo, const struct db_server *server,
                                 const struct reader_outside *outside, struct mailbox *control,
                                 struct err *err);
/** So many of them are used from now on. */
void readers_use(struct readers *readers, int limit);
/** No idle reader keeps a slot, as far as is known; and one does until then. */
void readers_keep_none(struct readers *readers);
void readers_keep_until(struct readers *readers, int64_t until_us);
/** The work has returned, from the reader that has it. */
void readers_remove(struct readers *readers, const struct work *work, int64_t now_us);
/** Their threads have ended. */
void readers_forget(struct readers *readers);
void readers_done(struct readers *readers);
/** It has this slot of the lane's queue, on the backend pid. */
void reader_take_slot(struct reader *reader, struct lane *lane, int slot_no, int pid);
/** It has none any more. */
void reader_leave_slot(struct reader *reader);
/** It is assigned a work, behind the others. */
void reader_add(struct reader *reader, struct work *work, int64_t now_us);

#endif

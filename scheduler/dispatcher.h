/**
 * What: fires jobs at their times: a thread that waits until the earliest of them, or until it
 *   hears that something changed, and then lets the database decide one due schedule after the
 *   other.
 * Guarantee: each time of a schedule is decided once: fired, skipped or failed.
 * Mechanism: the dispatcher is the process that has the lock of dispatch. A firing writes the
 *   enqueued run, the occurrence and the schedule's next time in one transaction, which may hold
 *   several firings. If two processes took themselves for the dispatcher, the job's row, which each
 *   locks, and the uniqueness of an occurrence would let only one of them fire a time
 *   (sql/functions/job/dispatch.sql). Nothing is kept in memory: a successor begins where the rows
 *   are.
 * Invariants: a dispatcher that stands by has neither a session nor a statement when its owner
 *   notifies it that the lock may be free; without such an owner it asks for the lock every two
 *   seconds. SQL of users runs in a session of the tasks' login on a thread of its own
 *   (scheduler/asker.h), one at a time; jobs without such SQL do not wait for it.
 * Not its concern: how the run that it enqueued is published (relay/) and executed (executor/).
 * Example: a job fires at 02:00, and its dispatcher dies at 02:00:00.1 before the commit. Nothing
 *   of the firing is in the database. The successor gets the lock when the server has ended the
 *   dead session, finds the schedule due, and fires it: once, late, with the time 02:00.
 * Threads: dispatcher_start, dispatcher_try and dispatcher_stop from the thread that owns it. Its
 *   own thread has the rest.
 * Ownership: borrows the strings; dispatcher_stop frees it.
 * Failure: never its owner's: a lost session is reported once in the log and opened again with
 *   growing pauses.
 */
#ifndef SCHEDULER_DISPATCHER_H
#define SCHEDULER_DISPATCHER_H

#include "base/err.h"
#include "db/db.h"

struct dispatcher;
struct tally;

/** The channel on which the database notifies that jobs have changed, or that a run of one has
 * ended. */
#define DISPATCHER_CHANNEL "lockstep_jobs"

/** Borrowed texts. */
struct dispatcher_options {
    const char *conninfo;
    const char *task_conninfo;      /* of the tasks' login, as which SQL of users runs */
    const struct db_server *server; /* that of its executor, or of a process of its own */
    /* For the executor that ends the sessions of a dead one. An executor begins again when its
     * server does, and with it its dispatcher, which works on no other server. 0: of none; then it
     * follows a promotion by itself. */
    int executor_no;
    const char *who;     /* as which the occurrences name it */
    int64_t keep_log_ms; /* of the jobs' log */
    /* Called by its thread: it waits for dispatcher_try, or does so no more. NULL: it does not wait
     * for it. */
    void (*stands_by)(void *context, bool stands_by);
    void *context;
    struct tally *tally; /* what it decides is counted there; NULL: it is not */
};

/** The thread. */
MUST_CHECK enum rc dispatcher_start(const struct dispatcher_options *options,
                                    struct dispatcher **ret_dispatcher, struct err *err);

/** The lock of dispatch may be free. */
void dispatcher_try(struct dispatcher *dispatcher);

/** After the firing in hand. NULL is fine. */
void dispatcher_stop(struct dispatcher *dispatcher);

#endif

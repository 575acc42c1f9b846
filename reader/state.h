/**
 * What: the inside of a reader, for the files of this folder: reader.c is its thread and its
 *   session, batch.c its pipeline, interrupt.c the cancels of its tasks.
 * Invariants: a work is in one of the lists, runs alone, or is on its way to control. Each field
 *   has one writer.
 * Threads: the reader's own, except the fields that are atomic or marked as guarded by lock.
 * Ownership: the lists own the works in them.
 * Failure: RC_LOST: the session is to be given up.
 */
#ifndef READER_STATE_H
#define READER_STATE_H

#include "base/outage.h"
#include "base/thread.h"
#include "db/canceller.h"
#include "reader/batch.h"
#include "reader/reader.h"
#include "reader/work.h"
#include "reader/works.h"

#include <pthread.h>
#include <stdatomic.h>

struct reader_thread {
    struct thread thread; /* its orders are works */
    struct mailbox *control;
    char *conninfo;
    struct db_server server; /* of the control session: work is done there only */
    struct db *db;
    struct works todo;   /* not sent yet */
    struct batch batch;  /* in the pipeline */
    struct works broken; /* failed; recorded when the pipeline is empty */
    struct works lost;   /* of unknown outcome; reported when the session they ran on is gone */
    struct work *alone;  /* runs outside the pipeline; guarded by lock */
    /* and outside the database: ended by stop_action, not by a cancel; guarded by lock */
    bool acting;
    /* to cancel what is on the session, since it was calm; written with the lock */
    _Atomic bool asked;
    bool cold; /* the session is new */
    bool worn; /* a request to cancel something on it has not ended: it is to be given up */
    struct reader_outside outside;
    struct action_stop stop_action;
    bool stopping;
    _Atomic bool cancelled; /* by us: a failure for that reason is a loss */
    _Atomic bool bereft;    /* its session broke, and no other one is ready */
    _Atomic bool crash;     /* the server reported a crash */
    /* control cut its session off: ends that are not recorded, also time-outs, are lost */
    _Atomic bool gives_up;
    _Atomic bool abandoned; /* the incarnation is over: no task starts any more */
    _Atomic bool cut_off;   /* it could not open a session, and takes nothing */
    int open_again_ms;      /* how long it waits before it tries again, 0: it has one */
    struct outage outage;   /* of its session */
    pthread_mutex_t lock;   /* guards what other threads read: */
    struct db_canceller *canceller;
    _Atomic int pid;
    char backend_start[64];
    struct err no_session; /* why it is cut off */
    int lost_pid;          /* the session of those in lost, 0: none */
    char lost_start[64];
};

/** Returns it to control. */
void reader_report(struct reader_thread *reader, struct work *work, enum outcome outcome);
/** All of todo, unstarted. */
void reader_return_all(struct reader_thread *reader);

/* interrupt.c */
/** This runs alone from now on, and may be cancelled. */
void reader_alone(struct reader_thread *reader, struct work *work);
/** The work on the session is over: no thread cancels it any more, and a cancel that was asked for
 * has had its effect. ALWAYS: none was. AGAIN: one was, and has ended. NEVER: it has not ended; the
 * session is to be given up. */
enum calm { CALM_ALWAYS, CALM_AGAIN, CALM_NEVER };
MUST_CHECK enum calm reader_calm(struct reader_thread *reader);
/** That, as the reason to give the session up. */
MUST_CHECK enum rc reader_disturbed(struct err *err);
/** Whether the work that runs alone acts outside the database from now on, until this is called
 * again: a request to end it must not hit its record. False: it has been asked to end already. */
bool reader_act(struct reader_thread *reader, bool acting);

/** The session is this one from now on; NULL: it is gone, and no thread cancels anything on it any
 * more. Returns false when the incarnation is over. */
bool reader_session_is(struct reader_thread *reader, struct db *db);

/* loss.c */
/** The works that were sent, have failed or are lost already were lost for this: each gets the
 * reason. */
void reader_name_losses(struct reader_thread *reader, const struct err *why);

#endif

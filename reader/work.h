/**
 * What: a work: one attempt at a task, as a reader gets it and returns it.
 * Invariants: what is to be done is set before a reader gets it and does not change; what became of
 *   it is set by the reader before it comes back. The reader sees nothing else of the thread that
 *   gave it.
 * Threads: it belongs to the thread that has it; what is atomic may be read by the giver while a
 *   reader has it.
 * Ownership: owns its message and what the reader notes in it; keeps its risks.
 * Failure: -
 */
#ifndef READER_WORK_H
#define READER_WORK_H

#include "action/action.h"
#include "base/err.h"
#include "base/mailbox.h"
#include "db/db.h"
#include "task/message.h"

#include <stdatomic.h>

struct lane;
struct phase;
struct risks;

enum outcome {
    OUTCOME_COMPLETED,
    OUTCOME_ERROR,     /* another attempt is due */
    OUTCOME_FAILED,    /* for good */
    OUTCOME_STALE,     /* somebody else has the task now; nothing was done */
    OUTCOME_LOST,      /* the reader's session is gone: outcome unknown */
    OUTCOME_UNSTARTED, /* the batch did not reach it: returned */
    OUTCOME_GO_ON      /* a step is done and recorded, more are to come: returned */
};

/** Of OUTCOME_LOST: what ended the attempt. Only what the task may have caused counts
 * (sql/functions/adopt/lose.sql). */
enum loss {
    LOSS_UNSAID = 0, /* not yet */
    LOSS_UNKNOWN,    /* its session ended without a word: the task may be the cause */
    /* the same, or any other way, while others were sent with it: it may not have begun */
    LOSS_DOUBTED,
    /* somebody cancelled it or ended its session: the task itself, if that was at once */
    LOSS_ASKED,
    LOSS_SERVER, /* the server ended all sessions, or lacked something */
    LOSS_OWN     /* this executor ended it */
};

struct work {
    struct mail mail; /* first: travels to a reader and back, with the kind that its giver set */

    /* What is to be done. */
    int64_t task_id, phase_id, run_no, offset;
    char token[37];
    int attempt;
    /* An attempt before may have ended its server: it runs alone, and its row shows that it runs
     * before it does. */
    bool wary;
    struct message *msg; /* owned */
    struct risks *risks; /* what is known of what it may do; kept; NULL: nothing */

    /* The giver's; nothing of it is read here. */
    struct work *behind; /* handed to the same reader after it */
    struct lane *lane;
    struct phase *phase;
    int64_t came;                   /* its place among all that came to the lane's hand */
    int64_t arrived_us;             /* when it came to the lane's hand */
    int64_t head_since_us;          /* when the reader came to it, 0 = not yet */
    bool marked;                    /* shown as Processing */
    int64_t stop_us, stop_again_us; /* since when it is to be stopped, 0 = not; not again before */
    bool severed;                   /* its session was cut off for that */
    int late; /* 1 its statement was cancelled for its time-out, 2 its session was cut off */

    /* How far it is: the reader's own, but for what is atomic. */
    struct work *next;              /* of a list of the thread that has it */
    _Atomic int64_t alone_since_us; /* when it began to run outside the pipeline, 0: not yet */
    _Atomic bool timed_out;         /* it was cancelled for that, in time */
    _Atomic bool piped;             /* it is in the pipeline */
    int replies;                    /* sent, and this many replies are to come before it is done */
    int got, command_at;  /* replies that have come, and the one to the command itself, from 1 */
    bool unrecorded;      /* it has failed, which is to be recorded on the next session */
    bool prepared, plain; /* sent by a prepared name; not to be sent so again */
    int undone;           /* times that another session made the server undo it */
    bool cleans;          /* the reader's own: no task, it cleans the session behind one */
    bool begun, last;     /* its transaction was opened; the last one of its batch */
    struct err *why;      /* the error that is to be recorded; owned */
    struct action_result *answer; /* outside.h; owned, */
    int answer_step;              /* and of which step; -1: the task has none */

    /* What became of it. */
    enum outcome outcome;
    enum loss loss; /* when it is lost */
    int64_t rows;   /* of its commands; -1: they count none */
    bool alone;     /* it ran outside the pipeline */
    int64_t ran_us;
    struct db_told *told; /* what the server said of the attempt; owned; NULL: nothing */
};

void work_free(struct work *work);

#endif

/**
 * What: a work: one attempt at a task, as a reader gets it and returns it.
 * Invariants: each field has one writer. work_init sets the task, which does not change. The reader
 *   reports the result before it returns the work, through functions of work.c, which writes it.
 *   The reader sees nothing else of the thread that assigned the work.
 * Threads: a work belongs to the thread that has it; control may read the atomic fields while a
 *   reader has the work.
 * Ownership: owns its message and the reader's notes; keeps its risks.
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

struct risks;

enum outcome {
    OUTCOME_COMPLETED,
    OUTCOME_ERROR,     /* another attempt is due */
    OUTCOME_FAILED,    /* for good */
    OUTCOME_STALE,     /* another executor has the task now; nothing was done */
    OUTCOME_LOST,      /* the reader's session is gone: outcome unknown */
    OUTCOME_UNSTARTED, /* the batch did not reach it: returned */
    OUTCOME_CONTINUES  /* a step is done and recorded, more are to come: returned */
};

/** Of OUTCOME_LOST: the end of the attempt. Only an end that the task may have caused counts
 * (sql/functions/adopt/lose.sql). */
enum loss {
    LOSS_UNDECIDED = 0, /* not yet */
    LOSS_UNKNOWN,       /* its session ended without a reason: the task may be the cause */
    /* the same, or any other way, while others were sent with it: it may not have begun */
    LOSS_DOUBTED,
    /* another session cancelled it or ended its session: the task itself, if that was at once */
    LOSS_CANCELLED,
    LOSS_SERVER, /* the server ended all sessions, or lacked something */
    LOSS_BARRED, /* the login of the session may not call what records it */
    LOSS_SCHEMA, /* the schema does not have what records it */
    LOSS_OWN     /* this executor ended it */
};

/** How it is sent and answered in the pipeline: batch.c's. */
struct work_sent {
    int replies;         /* this many are to come before it is done */
    int got, command_at; /* that have come, and the one to the command itself, from 1 */
    bool begun, last;    /* its transaction was opened; the last one of its batch */
    bool prepared;       /* by a prepared name */
    bool plain;          /* and not to be so again */
    bool cleans;         /* no task: it cleans the session behind one */
    int undone;          /* times that another session made the server undo it */
};

/** The result of the attempt. */
struct work_end {
    enum outcome outcome;
    enum loss loss;       /* when it is lost */
    bool unrecorded;      /* it has failed, which is to be recorded on the next session */
    bool alone;           /* it ran outside the pipeline */
    int64_t ran_us;       /* for how long */
    int64_t rows;         /* of its commands; -1: they count none */
    struct err *why;      /* the error that is to be recorded; owned; NULL: none */
    struct db_diag *diag; /* notices of the server during the attempt; owned; NULL: none */
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
    struct risks *risks; /* the known risks of the task; kept; NULL: not known */

    /* Its progress: the reader's own, except the atomic fields. */
    struct work *next;              /* in works.h */
    _Atomic int64_t alone_since_us; /* when it began to run outside the pipeline, 0: not yet */
    _Atomic bool timed_out;         /* it was cancelled for that, in time */
    _Atomic bool severed;           /* it did not end then, and its session was closed */
    _Atomic bool piped;             /* it is in the pipeline */
    struct work_sent sent;
    struct action_result *answer; /* outside.h; owned, */
    int answer_step;              /* and of which step; -1: the task has none */
    struct work_end end;
};

/** The row of a task that was claimed or adopted. */
struct work_row {
    int64_t task_id, phase_id, run_no, offset;
    const char *token; /* copied */
    int attempt;
    bool wary;
    struct message *msg; /* goes to the work; NULL: it cannot be read */
};

/** All of it is zero. */
void work_init(struct work *work, const struct work_row *row);
/** And frees what it is the first member of (executor/assignment.h). */
void work_free(struct work *work);

/* The end of the attempt is reported. */
void work_ends(struct work *work, enum outcome outcome);
void work_lost(struct work *work, enum loss loss); /* and ends as OUTCOME_LOST */
void work_ran(struct work *work, int64_t ran_us, bool alone);
void work_counts(struct work *work, int64_t rows);
/** It has failed for this, which is copied. */
void work_fails(struct work *work, const struct err *why);
void work_unrecorded(struct work *work);
/** Where messages of the server about it are kept; made when there is none. */
struct db_diag *work_diag(struct work *work);
/** These are the messages of the server about it (NULL: none), instead of those before. */
void work_set_diag(struct work *work, struct db_diag *diag);

#endif

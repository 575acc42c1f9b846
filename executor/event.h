/**
 * What: events: a change that one file of an executor reports to the parts of a lane. One table
 *   (event.c) has the effects of each event on the parts; the file that notices the event knows
 *   none of them.
 * Invariants: an effect only makes a note in a part, for its next turn: it sends nothing and causes
 *   no further event.
 * Threads: control.
 * Ownership: -
 * Failure: -
 */
#ifndef EXECUTOR_EVENT_H
#define EXECUTOR_EVENT_H

struct executor;
struct lane;

enum event {
    EVENT_LANE_OPENED,        /* the lane begins to work */
    EVENT_RECOGNISED,         /* its server is the one that it knows */
    EVENT_STATEMENT_UNDONE,   /* a statement of the lane has failed */
    EVENT_ASSIGNED,           /* its stream is read from the cursor on */
    EVENT_NOTIFIED,           /* any notification for the queue */
    EVENT_SLOT_FREED,         /* another executor returned a slot */
    EVENT_SLOT_WANTED,        /* another executor is short of slots */
    EVENT_WORK_UNOWNED,       /* tasks have no owner, now or soon: returned, put off, lost */
    EVENT_WORK_CLAIMED,       /* a claim brought tasks */
    EVENT_LOOKAHEAD_FULL,     /* a claim waits for phases that perhaps no executor opens */
    EVENT_PHASE_OPENED,       /* a phase may start */
    EVENT_PHASE_GONE,         /* a phase has ended, or was never there */
    EVENT_PASSED_OVER_OPENED, /* a phase whose orphans were passed over may start */
    EVENT_TASKS_DOUBTED,      /* tasks in hand may have been cancelled */
    EVENT_RUN_STOPPED,        /* tasks or a run were cancelled */
    EVENT_QUEUE_CHANGED,      /* an operator changed the queue, or a run of it */
    EVENT_READERS_CHANGED,    /* the executor may use more readers, or fewer */
    EVENT_READERS_BACK,       /* readers have sessions again */
    EVENT_ABILITIES_CHANGED,  /* the configuration was read again */
    EVENT_EXECUTOR_DIED,      /* another executor is gone */
    EVENTS
};

void event_raise(struct lane *lane, enum event event);
void event_raise_all(struct executor *ex, enum event event);

#endif

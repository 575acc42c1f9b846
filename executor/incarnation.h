/**
 * What: the identity of an incarnation: its id and number, whether it has the wishes of operators
 *   for the incarnation before, and whether it has completed a task.
 * Invariants: only incarnation.c writes the fields. The number and the id are fresh for each
 *   incarnation, and do not change once the liveness session has registered them.
 * Threads: control; a gate reads executor_no.
 * Ownership: embedded in the executor.
 * Failure: -
 */
#ifndef EXECUTOR_INCARNATION_H
#define EXECUTOR_INCARNATION_H

#include <stdbool.h>
#include <stdint.h>

struct incarnation {
    char id[37];
    int executor_no; /* 0: not registered yet */
    bool inherited;  /* from the incarnation before, or there is none: the next inherits from it */
    int64_t up_us;   /* since when it runs */
    bool completed;  /* it has completed a task */
};

/** Gives it a fresh id. */
void incarnation_name(struct incarnation *incarnation);
/** The database has registered it under this number. */
void incarnation_register(struct incarnation *incarnation, int executor_no);
/** It has all that the incarnation before left to it. */
void incarnation_inherited(struct incarnation *incarnation);
/** Its first turn begins. */
void incarnation_up(struct incarnation *incarnation, int64_t now_us);
/** A task of it is completed. */
void incarnation_completed(struct incarnation *incarnation);

#endif

/**
 * What: the control session of an incarnation, and the time that its statements need.
 * Invariants: only control.c writes the fields, but for db, which server.c opens. S, IX and slots
 *   belong to this session.
 * Threads: control, but for the canceller: the liveness thread severs the session with it.
 * Ownership: embedded in the executor. The canceller lives longer than the session, until the
 *   liveness thread has ended.
 * Failure: -
 */
#ifndef EXECUTOR_CONTROL_H
#define EXECUTOR_CONTROL_H

#include "base/err.h"

#include <stdint.h>

struct db;
struct db_canceller;

struct control {
    struct db *db;
    struct db_canceller *canceller;
    int patience_ms;  /* for an answer on control and gate sessions */
    int64_t round_us; /* about the least time of a statement, there and back; 0: not measured */
};

/** The session is open: it gets its patience and its canceller. */
MUST_CHECK enum rc control_ready(struct control *control, struct err *err);
/** A short statement took us. */
void control_round_trip(struct control *control, int64_t us);
void control_close(struct control *control);
/** Frees the canceller, behind control_close. */
void control_free(struct control *control);

#endif

/**
 * What: the processes that a killed runner leaves behind; this process is the reaper of its
 *   descendants, so they come here.
 * Invariants: a child of this process that is no runner is one of those: runners are started
 *   between leftover_lock and leftover_unlock, and forgotten when they are reaped. Other code that
 *   gives this process children has to do the same.
 * Threads: any; leftover_start before the first one.
 * Ownership: -
 * Failure: none.
 */
#ifndef ACTION_LEFTOVER_H
#define ACTION_LEFTOVER_H

#include <sys/types.h>

void leftover_start(void);
void leftover_lock(void);
/** runner: the pid of the runner that was started, 0: it was not. */
void leftover_unlock(pid_t runner);
void leftover_forget(pid_t runner);
/** A runner was killed; returns when nothing of its command is left. */
void leftover_end(void);

#endif

/**
 * What: the signals of an executor: SIGTERM and SIGINT drain it, the second one cancels; SIGUSR1
 *   and SIGUSR2 pause and resume its claims, SIGHUP has it read its configuration again.
 * Invariants: a handler only counts, and writes to an eventfd on which the control thread (and
 *   librdkafka, to wake it) polls.
 * Threads: control only, but for the descriptor, to which any may write.
 * Ownership: one executor a process.
 * Failure: -
 */
#ifndef EXECUTOR_SIGNALS_H
#define EXECUTOR_SIGNALS_H

#include <stdbool.h>

void signals_start(void);
void signals_end(void);
int signals_fd(void);
/** Makes the descriptor unreadable again. */
void signals_clear(void);
/** How many signals have asked it to stop. */
int signals_stop(void);
/** SIGUSR1 came, and no SIGUSR2 since: the process is held, over all its incarnations. */
bool signals_hold(void);
/** SIGHUP came since the last call. */
bool signals_reload(void);

#endif

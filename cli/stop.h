/**
 * What: SIGINT and SIGTERM as a flag, for commands that wait.
 * Invariants: the second signal ends the process at once.
 * Threads: stop_requested from any; stop_catch from the main thread.
 * Ownership: none.
 * Failure: none.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

void stop_catch(void); /* may be called again */
/** Behind stop_catch: a statement that is waited for when they come is cancelled, unless it is
 * answered at once. */
void stop_interrupts(void);
bool stop_requested(void);
/** The same, for options that take a callback. */
bool stop_asked(void *unused);

/** For daemons without a reload. SIGHUP, whose default ends a process and which systemd takes for a
 * clean end, is logged by the next stop_wait as reload_ignored. If the terminal of the process has
 * gone, it is a request to stop. stop_wait does not watch stdout then. */
void stop_outlives_hang_up(void);

/** Waits at most ms, or until a signal, or until the reader of stdout closes its end. */
void stop_wait(int ms);

#endif

/**
 * What: the console of `dev up`: a process of its own in the background, for a private PostgreSQL
 *   that each user who reaches its socket may use.
 * Invariants: one for each directory: it holds a lock on the file `console` in it, whose text is
 *   its pid and its address. It asks for no sign-in, so it listens on loopback: on port 8330, or if
 *   that is in use on a free one.
 * Threads: the main thread, while there is no other: it forks.
 * Ownership: none.
 * Failure: RC_FATAL + ERR_CONFIG or ERR_FAILED, with the message of that process.
 */
#ifndef CLI_DEV_CONSOLE_H
#define CLI_DEV_CONSOLE_H

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

struct dev_console {
    const char *dir, *conninfo;
    void (*become)(const void *context); /* in the new process: whose it is */
    const void *context;
};

/** *url: its address, whether it ran before or not. */
MUST_CHECK enum rc dev_console_start(const struct dev_console *options, struct str *url,
                                     struct err *err);
/** Whether one ran; it has ended then. *ret_killed: it had to be killed, because it did not end
 * within ten seconds. */
bool dev_console_stop(const char *dir, bool *ret_killed);

#endif

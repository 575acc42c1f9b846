/**
 * What: names on stderr the session for which a command waits when one of its statements takes
 *   long: the holder of the lock, and since when.
 * Invariants: nothing is printed in the first three seconds, and each holder is named once. The
 *   command itself is not touched.
 * Threads: waiting_start and waiting_stop: the command's. A thread of its own between them, with a
 *   session of its own after three seconds.
 * Ownership: start gives, stop takes (NULL is fine).
 * Failure: none: without a session for it, no reason is shown.
 */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "cli/cli.h"

struct waiting;

/** For the statements of cli->db from now on. NULL: there is no thread. */
struct waiting *waiting_start(struct cli *cli);
void waiting_stop(struct waiting *waiting);

#endif

/**
 * What: a thread with a session of the tasks' login, which runs one ask after the other
 *   (scheduler/ask.h), so that no SQL of users keeps the dispatcher. Without the thread it runs
 *   them in the caller's.
 * Invariants: an ask that was given comes back once, as mail to the mailbox of asker_start. The
 *   session is opened for the first ask, and closed when none has come for a minute. It leads to
 *   the server of the dispatcher's session, as that is when the ask is given.
 * Threads: all functions from the dispatcher's.
 * Ownership: an ask belongs to the asker until it comes back.
 * Failure: a session that cannot be opened, or is lost, is the failure of the ask.
 */
#ifndef SCHEDULER_ASKER_H
#define SCHEDULER_ASKER_H

#include "scheduler/ask.h"

struct asker;

/** conninfo: of the tasks' login; borrowed. */
MUST_CHECK enum rc asker_start(const char *conninfo, struct mailbox *owner,
                               struct asker **ret_asker, struct err *err);
void asker_give(struct asker *asker, struct ask *ask, const struct db_server *server);
/** Cuts off what runs. NULL is fine. */
void asker_stop(struct asker *asker);

/** Without a thread: asker_run runs the ask, and the ask has its result. */
struct asker *asker_new(const char *conninfo);
void asker_run(struct asker *asker, struct ask *ask, const struct db_server *server);
void asker_free(struct asker *asker);

#endif

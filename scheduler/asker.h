/**
 * What: a thread with a session of the tasks' login, which runs one ask after the other (scheduler/ask.h), so that no SQL of users keeps the dispatcher.
 * Invariants: an ask that was given comes back once, as mail to the mailbox of asker_start. The session is opened for the first ask, and closed when none
 *   has come for a minute.
 * Threads: asker_start, asker_give and asker_stop from the dispatcher's.
 * Ownership: an ask belongs to the asker until it comes back.
 * Failure: a session that cannot be opened, or is lost, is the failure of the ask.
 */
#ifndef SCHEDULER_ASKER_H
#define SCHEDULER_ASKER_H

#include "scheduler/ask.h"

struct asker;

/** conninfo: of the tasks' login; borrowed. server: it works on no other one. */
MUST_CHECK enum rc asker_start(const char *conninfo, const struct db_server *server,
                               struct mailbox *owner, struct asker **ret_asker, struct err *err);
void asker_give(struct asker *asker, struct ask *ask);
/** Cuts off what runs. NULL is fine. */
void asker_stop(struct asker *asker);

#endif

/**
 * What: the tags of messages in the order of the topic: seq, previous_order, the counts of the end.
 *   The rules are those of sql/functions/claim/claim.sql, without a database: for commands that
 *   check before anything is written.
 * Invariants: judges as if the first message that it is given were the first on the topic. A
 *   message that is refused counts in its run as it does when an executor claims it, so one mistake
 *   is reported once.
 * Threads: one at a time.
 * Ownership: tags_new gives, tags_free takes.
 * Failure: RC_REJECT with err->object = the field, err->code = the reason that an executor would
 *   give ("hole", ...; "loss": the run fails; "unknown_run": the queue is halted), err->hint = what
 *   to write instead.
 */
#ifndef TASK_TAGS_H
#define TASK_TAGS_H

#include "task/message.h"

struct tags;
struct tags *tags_new(void);
void tags_free(struct tags *tags); /* NULL is fine */

/** The next message. */
MUST_CHECK enum rc tags_check(struct tags *tags, const struct message *msg, struct err *err);

/** The next record, which is no message, with the run and seq of message_peek; run NULL: nothing
 * could be read. */
void tags_rejected(struct tags *tags, const char *run, int64_t seq);

/** The runs with an id that have no end, one a call from index 0 on; NULL: no more. */
const char *tags_endless(const struct tags *tags, int index);

#endif

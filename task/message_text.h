/**
 * What: messages as text: the tags that a producer puts before a staged task, the end of a run, and
 *   JSON objects and strings.
 * Invariants: a text that is passed in stays verbatim but for the tags that are put in front of it
 *   and the members that are left out.
 * Threads: any.
 * Ownership: each function appends to the caller's str.
 * Failure: message_without returns RC_REJECT for a text that is no JSON object.
 */
#ifndef TASK_MESSAGE_TEXT_H
#define TASK_MESSAGE_TEXT_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Turns the text of one valid staged object into a record value by putting the tags in front; all
 * else is kept verbatim. run is a UUID; "" or NULL and seq -1 are left out (the implicit run).
 */
void message_tag(struct str *out, const char *staged, size_t len, const char *run, int64_t seq,
                 int64_t previous_order);
/** The same for the first task of a run: the name of the run (NULL: none), and its policy. */
void message_tag_first(struct str *out, const char *staged, size_t len, const char *run,
                       int64_t previous_order, const char *run_name, const char *on_failure);
/** The end of a run, a UUID. run "" or NULL, seq, tasks, phases -1: left out (counts only if
 * aborted). */
void message_end(struct str *out, const char *run, int64_t seq, int64_t tasks, int64_t phases,
                 bool aborted);
/**
 * Appends the text of a JSON object on one line and without the members of its top level that are
 * named (ended by NULL); all else is kept verbatim. RC_REJECT: it is no JSON object.
 */
MUST_CHECK enum rc message_without(struct str *out, const char *text, size_t len,
                                   const char *const *names, struct err *err);
/** Whether the text is a JSON object of type end, well formed as the end of a run or not. */
bool message_says_end(const char *text, size_t len);
/** Appends text as a JSON string in its quotes. Invalid UTF-8 is copied: message_parse refuses it.
 */
void json_quote(struct str *out, const char *text, size_t len);

#endif

/**
 * What: bytes that a command or a server sent, as text that PostgreSQL can store.
 * Invariants: what is not UTF-8, and each NUL, becomes U+FFFD; a character that the limit cuts in
 *   two is left out.
 * Threads: any.
 * Ownership: each function appends to the caller's str.
 * Failure: none.
 */
#ifndef ACTION_TEXT_H
#define ACTION_TEXT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/** The beginning of what were `total` bytes, ACTION_MORE: nobody knows how many; says so at its end
 * if there were more. */
#define ACTION_MORE UINT64_MAX
void action_text(struct str *out, const char *bytes, size_t len, uint64_t total);
/** The end of what were `total` bytes; says so at its beginning. */
void action_text_tail(struct str *out, const char *bytes, size_t len, uint64_t total);

#endif

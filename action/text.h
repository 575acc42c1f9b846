/**
 * What: bytes that a command or a server sent, as text that PostgreSQL can store.
 * Invariants: each byte that is not UTF-8, and each NUL, becomes U+FFFD; a character that the limit
 *   cuts in two is left out.
 * Threads: any.
 * Ownership: each function appends to the caller's str.
 * Failure: none.
 */
#ifndef ACTION_TEXT_H
#define ACTION_TEXT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/** The beginning of `total` bytes, ACTION_MORE: of an unknown number; a note at its end says that
 * there were more. */
#define ACTION_MORE UINT64_MAX
void action_text(struct str *out, const char *bytes, size_t len, uint64_t total);
/** The end of `total` bytes; a note at its beginning says so. */
void action_text_tail(struct str *out, const char *bytes, size_t len, uint64_t total);

#endif

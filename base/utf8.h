/**
 * What: text that is UTF-8 (RFC 3629) and stays so when it is cut. PostgreSQL refuses a text with
 *   half a character, so every text that is copied into a buffer, or cut to a length, goes through
 *   here (tests/unit/utf8_cuts.sh knows no other way).
 * Invariants: these functions write UTF-8 without NUL, from any bytes; a cut is between two
 *   characters.
 * Threads: any. The locale plays no part.
 * Ownership: the caller's buffers.
 * Failure: none; a text that is too long is cut.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

#include <stdarg.h>

/** How many bytes from the start are UTF-8 without NUL; len if all are. */
size_t utf8_prefix(const char *text, size_t len);

/** How many of the len bytes of text to keep where there is room for most: never a part of a
 * character. */
size_t utf8_fit(const char *text, size_t len, size_t most);

/** In place: a character that is cut off at the end goes, every other byte that is not UTF-8
 * becomes '?'. */
void utf8_mend(char *text);

/** Copies what fits, mended. size: of the buffer, with the '\0'; at least 1. */
void utf8_copy(char *to, size_t size, const char *text);

/** As snprintf; the result is mended. */
void utf8_format(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void utf8_vformat(char *to, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/** Appends at most `most` bytes of the len bytes of text, mended. */
void utf8_add(struct str *str, const char *text, size_t len, size_t most);

/** Appends text with each byte that is not UTF-8 as \xNN. */
void utf8_escape(struct str *str, const char *text);

#endif

/**
 * What: a growing byte string, and integers as text.
 * Invariants: data[len] is always '\0' once data is not NULL; data may hold NUL bytes before
 *   len.
 * Threads: one at a time.
 * Ownership: struct str owns data; str_done frees it; STR_AUTO frees it at the end of the
 *   block.
 * Failure: memory that is not available ends the process (base/memory.h).
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    char *data;
    size_t len, cap;
};

#define STR_AUTO __attribute__((cleanup(str_done))) struct str

void str_add(struct str *str, const char *bytes, size_t len);
void str_text(struct str *str, const char *text);
void str_int(struct str *str, int64_t value); /* as int64_text */
void str_format(struct str *str, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_clear(struct str *str);           /* keeps the memory */
void str_cut(struct str *str, size_t len); /* to the first len bytes */
void str_done(struct str *str);            /* frees; may be called twice */

/** Equal. For the search of a word in a list, where nearly all differ in their first letter: most
 * calls of strcmp are saved. */
static inline bool str_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/** Decimal, as int64_parse reads it; within buffer, and quicker than printf. */
#define INT64_TEXT_SIZE 24
const char *int64_text(char buffer[INT64_TEXT_SIZE], int64_t value);

/** Strict decimal int64: optional '-', no leading zero, nothing after it. */
bool int64_parse(const char *text, size_t len, int64_t *ret_value);

#endif

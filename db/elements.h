/**
 * What: reads the text of a result's array, {a,b,c}, whose elements are numbers, UUIDs or NULL:
 *   nothing in it is quoted.
 * Threads: any.
 * Ownership: the text is the result's; elements are copied.
 * Failure: none; an element that is longer than its place is cut.
 */
#ifndef DB_ELEMENTS_H
#define DB_ELEMENTS_H

#include <stddef.h>

int elements_count(const char *array);
/** Copies the element at `at`, which is the array itself or the end of the element before. The SQL
 * null becomes the empty text, which is no number and no UUID. Returns where the next one is. */
const char *elements_next(const char *at, char *to, size_t size);

#endif

/**
 * What: allocation that cannot fail, and the cleanup attribute for its memory.
 * Invariants: no function of this header returns NULL.
 * Threads: any.
 * Ownership: the memory is the caller's until free(); FREE_AUTO frees a pointer at the end of the
 *   block.
 * Failure: memory that is not available ends the process with a message on stderr and exit code 70:
 *   this program keeps no state in memory that the database does not have, so a restart is the
 *   right recovery.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

#define FREE_AUTO __attribute__((cleanup(free_pointer)))

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
void free_pointer(void *address_of_pointer); /* for FREE_AUTO */

#endif

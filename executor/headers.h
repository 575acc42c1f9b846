/**
 * What: the headers of a record, kept while it is in the buffer in case that it is rejected.
 * Invariants: packed into one piece of memory.
 * Threads: control.
 * Ownership: headers_pack gives it to the caller.
 * Failure: -
 */
#ifndef EXECUTOR_HEADERS_H
#define EXECUTOR_HEADERS_H

#include "base/str.h"
#include "kafka/source.h"

struct buffered;

/** Name, value, ... of a record in one piece of memory. */
char *headers_pack(const struct kafka_record *record, size_t *ret_len);
/** As the claim's array parameters, to be ended by the caller. */
void headers_arrays(const struct buffered *buffered, struct str *offsets, struct str *names,
                    struct str *values);

#endif

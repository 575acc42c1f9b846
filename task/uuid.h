/**
 * What: UUIDs as text, in lower case.
 * Invariants: the id of an implicit run follows from its queue and its first offset, so a second
 *   reading of the record finds the same run.
 * Threads: any.
 * Ownership: the text goes into the caller's buffer.
 * Failure: none.
 */
#ifndef TASK_UUID_H
#define TASK_UUID_H

#include <stdbool.h>
#include <stdint.h>

/** Random (version 4). */
void uuid_new(char ret_uuid[37]);
/** Of queue and first offset (version 5). */
void uuid_implicit_run(char ret_uuid[37], const char *queue, int64_t first_offset);
bool uuid_valid(const char *text);

#endif

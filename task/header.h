/**
 * What: header fields of HTTP (RFC 9110, section 5): which names and values are valid, and which
 *   names say how a request is framed and to whom it goes. Messages and the configuration are read
 *   by the same rules.
 * Invariants: names are compared without case.
 * Threads: any; pure functions.
 * Ownership: nothing.
 * Failure: none.
 */
#ifndef TASK_HEADER_H
#define TASK_HEADER_H

#include <stdbool.h>

/** A token: not empty, letters, digits and some signs. */
bool header_name_valid(const char *name);
/** No control characters but the tab. */
bool header_value_valid(const char *value);
/** It follows from the URL and the body: Host, Content-Length, ... */
bool header_frames(const char *name);

#endif

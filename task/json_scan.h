/**
 * What: decides whether a text is JSON (RFC 8259), as strictly as task/json.h says, and finds where
 *   each of its values is. Private to json.c.
 * Invariants: every byte is read once; no recursion. The spans come in document order: a container
 *   before its members.
 * Threads: any; a struct json_scan belongs to one.
 * Ownership: the caller gives text and spans.
 * Failure: false: wrong describes the error at byte at.
 */
#ifndef TASK_JSON_SCAN_H
#define TASK_JSON_SCAN_H

#include "task/json.h"
#include <stdbool.h>

struct json_scan {
    const unsigned char *text;
    size_t len, at;
    struct json_span *spans; /* room for len / 2 + JSON_MAX_DEPTH + 2 */
    uint32_t count;
    uint32_t open[JSON_MAX_DEPTH]; /* the spans of the containers around at */
    int depth;
    const char *wrong;
};

/** text, len and spans are set, all else is zero. */
MUST_CHECK bool json_scan(struct json_scan *scan);

#endif

/**
 * What: strict RFC 8259 reading on top of cJSON, which by itself takes much that is not JSON
 *   (control characters, a BOM, \u0000, invalid UTF-8, 01, duplicate keys, trailing text) and
 *   rounds integers to doubles.
 * Invariants: a scan of our own sees every byte before cJSON does: grammar, UTF-8, no NUL in any
 *   spelling, no lone surrogate, depth <= JSON_MAX_DEPTH, white space only after the document. No
 *   object holds a key twice. The raw text of every value is kept: numbers stay as written, and are
 *   such as PostgreSQL's numeric and jsonb can hold.
 *   O(n log n) in the length; no recursion on input that has not passed the scan.
 * Threads: any; a struct json belongs to one.
 * Ownership: json_parse gives, json_done takes, with all nodes and strings of the tree: nothing may
 *   be taken out of it. A struct json borrows the text.
 * Failure: RC_REJECT; err->object = "$" with the byte position (from 0) in the message, or the path
 *   of a duplicate key, or of a number that is too large (err->code "out_of_range", else "").
 */
#ifndef TASK_JSON_H
#define TASK_JSON_H

#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH     32
#define JSON_PATH_SIZE     160
#define JSON_EXCERPT_BYTES 40
#define JSON_EXCERPT_SIZE  (JSON_EXCERPT_BYTES + 4)

struct cJSON;

/** Bytes start <= i < end of the text. */
struct json_span {
    uint32_t start, end;
};

/** node->valueint is the index of its span, for nodes of every type: read numbers with json_raw
 * only. */
struct json {
    struct cJSON *root;
    const char *text;
    struct json_span *spans;
    char *tree; /* where root's nodes and strings lie */
    size_t tree_size;
};

/** A step from the root (up == NULL) to a value; lives on the stack of the function that walks. key
 * NULL: an array's index. */
struct json_path {
    const struct json_path *up;
    const char *key;
    int index;
};

/** len <= max_bytes < 4 GB; a longer text is refused unread. */
MUST_CHECK enum rc json_parse(const char *text, size_t len, size_t max_bytes, struct json *ret_json,
                              struct err *err);
void json_done(struct json *json);

/** The value exactly as written; not terminated by '\0'. */
const char *json_raw(const struct json *json, const struct cJSON *node, size_t *ret_len);

/** The value as written, cut short and on one line: for messages to people. */
const char *json_excerpt(const struct json *json, const struct cJSON *node,
                         char buffer[JSON_EXCERPT_SIZE]);

/** "a string", "an object", ...: for messages to people. */
const char *json_type_name(const struct cJSON *node);

/** "$.params[2]"; keys that are no plain word as ["..."], cut short. */
const char *json_path_text(const struct json_path *path, char buffer[JSON_PATH_SIZE]);

#endif

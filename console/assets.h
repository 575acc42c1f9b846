/**
 * What: the files of the page: embedded in the program, or, for work on the page, those of a
 *   directory.
 * Invariants: only files below console/web/, by names without "..", and of known types. An embedded
 *   file has an ETag.
 * Threads: any.
 * Ownership: asset_table is static.
 * Failure: false: there is no such file.
 */
#ifndef CONSOLE_ASSETS_H
#define CONSOLE_ASSETS_H

#include "base/err.h"

#include <stdbool.h>

struct http_request;

struct asset_bytes {
    const char *path, *bytes, *end;
};
extern const struct asset_bytes asset_table[]; /* ended by one without path */

/** The media type of a file by its ending; NULL: it is none of ours. */
const char *asset_type(const char *path);
/** Whether the directory has the page; NULL: the embedded files. RC_FATAL + ERR_CONFIG: it has
 * not. */
MUST_CHECK enum rc asset_check(const char *directory, struct err *err);
/** Answers with the file. directory: NULL: an embedded one. */
bool asset_answer(struct http_request *request, const char *directory, const char *path);
/** Answers with index.html, whose <base href="/"> becomes base_path. */
void asset_answer_page(struct http_request *request, const char *directory, const char *base_path);

#endif

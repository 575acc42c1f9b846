/**
 * What: the OpenAPI 3.1 document of the API, made from the tables of routes, fields
 *   and shapes of answers.
 * Invariants: the document and the checks of requests come from the same tables. openapi_get makes
 *   each document once.
 * Threads: any.
 * Ownership: openapi_text appends to the caller's text; the text that openapi_get returns lives
 *   until openapi_free.
 * Failure: none.
 */
#ifndef CONSOLE_OPENAPI_H
#define CONSOLE_OPENAPI_H

#include "base/str.h"

/** cookie: the name of that of web sessions. */
void openapi_text(struct str *document, const char *base_path, const char *cookie);

struct openapi;

struct openapi *openapi_new(void);
void openapi_free(struct openapi *openapi); /* NULL is fine */
/** The same. base_path: one of the few below which the API is; the cookie is always the same. */
const struct str *openapi_get(struct openapi *openapi, const char *base_path, const char *cookie);

#endif

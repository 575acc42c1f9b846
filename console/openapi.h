/**
 * What: the OpenAPI 3.1 document of the API, made from the tables of routes and fields.
 * Invariants: what it says and what is answered come from the same tables.
 * Threads: any.
 * Ownership: appended to the caller's text.
 * Failure: none.
 */
#ifndef CONSOLE_OPENAPI_H
#define CONSOLE_OPENAPI_H

#include "base/str.h"

/** cookie: the name of that of web sessions. */
void openapi_text(struct str *document, const char *base_path, const char *cookie);

#endif

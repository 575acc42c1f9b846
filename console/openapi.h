/**
 * What: the OpenAPI 3.1 document of the API, made from the tables of routes and fields.
 * Invariants: what it says and what is answered come from the same tables.
 * Threads: any.
 * Ownership: none.
 * Failure: none.
 */
#ifndef CONSOLE_OPENAPI_H
#define CONSOLE_OPENAPI_H

struct http_request;

void openapi_answer(struct http_request *request, const char *base_path, const char *cookie);

#endif

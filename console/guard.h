/**
 * What: the checks of a request before all others.
 * Invariants: its Host is one of ours (against DNS rebinding). An Origin, if it has one, is that of
 *   the Host (against other sites); so is Sec-Fetch-Site, where a browser sends it, for every
 *   method but GET and HEAD. A change is POST, PUT or DELETE with application/json and, with a
 *   cookie, the CSRF token of its web session.
 * Threads: any.
 * Ownership: borrows.
 * Failure: false: it is answered with a problem document.
 */
#ifndef CONSOLE_GUARD_H
#define CONSOLE_GUARD_H

#include <stdbool.h>

struct http_request;

/** hosts: names with commas between, from the configuration. */
bool guard_host(struct http_request *request, const char *hosts);
/** encrypted: the console has TLS itself. One without may be behind a proxy that has. */
bool guard_origin(struct http_request *request, bool encrypted);
bool guard_change(struct http_request *request, const char *csrf, bool lines);
/** For each answer: the headers that protect browsers. */
void guard_headers(struct http_request *request, bool encrypted);

#endif

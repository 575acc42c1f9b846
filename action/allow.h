/**
 * What: which hosts may be called: the patterns of [http] allow, and the verdict on a URL.
 * Invariants: libcurl's own parser reads both pattern and URL, so the host that is judged is the
 *   host that the request goes to.
 * Threads: any.
 * Ownership: allow_parse gives the pattern's text to the caller; allow_done frees it.
 * Failure: a verdict, with the reason in why.
 */
#ifndef ACTION_ALLOW_H
#define ACTION_ALLOW_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/** A host and a port of [http] allow. */
struct allowed {
    const char *host; /* into text; lower case; "*.": any host below it; "*": any */
    char *text;       /* owned */
    int port;         /* 0: that of http or https, -1: any */
};

enum url_verdict { URL_ALLOWED, URL_NOT_ALLOWED, URL_BAD };
/** False: it is no such pattern. */
bool allow_parse(const char *text, size_t len, struct allowed *ret_allowed);
void allow_done(struct allowed *allowed);
/** host: in lower case, without a dot at the end. */
bool allow_covers(const struct allowed *allowed, const char *host, int port, bool encrypted);
/** The host that the URL calls, by the same reading of it as libcurl's own: ret_target "host:port".
 * URL_BAD: why has the fault of it. */
enum url_verdict allow_judge(const struct allowed *list, int count, const char *url,
                             char *ret_target, size_t size, struct err *why);

#endif

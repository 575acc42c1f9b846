/**
 * What: judging a URL and keeping what was judged, so that exactly that is called.
 * Invariants: as running.h.
 * Threads: any.
 * Ownership: url is the caller's.
 * Failure: URL_BAD and why.
 */
#ifndef ACTION_URL_H
#define ACTION_URL_H

#include "action/allow.h"

#include <curl/curl.h>

enum url_verdict url_judge(const struct allowed *list, int count, CURLU *url, const char *text,
                           char *ret_target, size_t size, struct err *why);

#endif

/**
 * What: the answers of the last two seconds, so that a hundred people who look at one page cost
 *   PostgreSQL what one costs.
 * Invariants: an answer is kept for two seconds, or until the event stream has news, and in any
 *   case for 40 times as long as it took to make, but for ten seconds at most, so that no page
 *   keeps the database busy. Its key has all that it depends on: the path, the query, and the level
 *   of its visitor. While it is being made, others who ask for it wait for it without a worker;
 *   when that fails after a second or more, they get the failure. At most CACHE_ENTRIES, and 8 MB,
 *   are kept.
 * Threads: any.
 * Ownership: an answer that is found is copied out.
 * Failure: none.
 */
#ifndef CONSOLE_CACHE_H
#define CONSOLE_CACHE_H

#include "base/err.h"
#include "base/str.h"

#define CACHE_ENTRIES 256

struct cache;
struct http_request;
struct cache *cache_new(void);
void cache_free(struct cache *cache);

/** The result of making one. A failure is passed to those who wait for it, too, if it took long and
 * is not the maker's own: that it has gone, or lost its session. */
struct cache_outcome {
    enum rc rc;
    struct str document; /* RC_OK */
    struct err err;
    bool own;
};
/** CACHE_MAKE: the caller makes it, and calls cache_put with the ticket in any case. CACHE_WAITS:
 * it is being made; the request waits as http_wait says. CACHE_BUSY: it has waited long enough. */
enum cache_found { CACHE_MAKE, CACHE_KEPT, CACHE_WAITS, CACHE_BUSY };
enum cache_found cache_get(struct cache *cache, const char *key, struct http_request *request,
                           struct cache_outcome *outcome, long *ret_ticket);
void cache_put(struct cache *cache, const char *key, long ticket, struct http_request *request,
               const struct cache_outcome *outcome);
/** Frees the answers that are too old. To be called now and then. */
void cache_tidy(struct cache *cache);
/** Something was changed by a visitor: nothing that was kept counts any more. */
void cache_clear(struct cache *cache);
/** Something happened in the database: answers that were begun before are old, unless they were
 * dear. */
void cache_news(struct cache *cache);

#endif

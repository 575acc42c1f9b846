/**
 * What: the answers of the last two seconds, so that a hundred people who look at one page cost PostgreSQL what one costs.
 * Invariants: an answer is kept for two seconds, or until the event stream has news, and in any case for 20 times as long as it took to make, so that no page keeps
 *   the database busy. It is kept under all that it depends on: the path, the query, and what its visitor may see. While it is being
 *   made, others who ask for it wait for it; when that fails each is told so by asking itself. At most CACHE_ENTRIES, and 8 MB,
 *   are kept.
 * Threads: any.
 * Ownership: what is found is copied out.
 * Failure: none.
 */
#ifndef CONSOLE_CACHE_H
#define CONSOLE_CACHE_H

#include "base/str.h"

#define CACHE_ENTRIES 256

struct cache;
struct cache *cache_new(void);
void cache_free(struct cache *cache);

/** Whether it is there, in *document; if not, the caller makes it and says so with cache_put, or cache_drop, and the ticket. */
bool cache_get(struct cache *cache, const char *key, struct str *document, long *ret_ticket);
void cache_put(struct cache *cache, const char *key, long ticket, const char *document, size_t len);
void cache_drop(struct cache *cache, const char *key, long ticket);
/** Gives back what is too old. To be called now and then. */
void cache_tidy(struct cache *cache);
/** Something was changed by a visitor: nothing that was kept counts any more. */
void cache_clear(struct cache *cache);
/** Something happened in the database: what was begun before is old, unless it was dear. */
void cache_news(struct cache *cache);

#endif

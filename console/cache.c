/* One answer for all who ask the same at the same time. The first request for a key gets CACHE_MAKE
 * and runs the statement; the next ones wait without a worker (console/http_queue.c) or get the
 * copy. An entry is fresh for KEEP_US unless there is news, and longer if it was expensive.
 * console/api.c builds the keys; their meaning is not known here. */
#include "console/cache.h"

#include "base/clock.h"
#include "console/patience.h"

#include <pthread.h>
#include <stdlib.h>
#include <xxhash.h>

#define KEEP_US    2000000
#define FAILED_US  1000000  /* for so long a failure is the answer to those who wait */
#define TRIED_US   1000000  /* and it is worth it: it took longer */
#define DEAR       40       /* times the making of an answer is it kept at least, */
#define DEAR_US    10000000 /* but no longer than this: it may have waited for a lock */
#define BYTES_MOST 8388608  /* of all documents */

/* A key is in at most one entry. They are searched one by one: 256 comparisons cost little compared
 * with the statement that a hit saves. */
struct entry {
    char *key; /* NULL: free */
    struct cache_outcome outcome;
    int64_t begun_us, made_us; /* made_us 0: it is being made */
    long epoch;                /* of the cache when its making began */
};

struct cache {
    pthread_mutex_t lock;
    struct entry entries[CACHE_ENTRIES];
    long epoch;      /* grows with each change */
    int64_t news_us; /* of the event stream */
    size_t bytes;
};

struct cache *cache_new(void)
{
    struct cache *cache = xcalloc(1, sizeof *cache);
    (void)pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static void forget(struct cache *cache, struct entry *entry)
{
    cache->bytes -= entry->outcome.document.len;
    free(entry->key);
    str_done(&entry->outcome.document);
    *entry = (struct entry){0};
}

void cache_free(struct cache *cache)
{
    if (cache == NULL)
        return;
    for (int i = 0; i < CACHE_ENTRIES; i++)
        forget(cache, &cache->entries[i]);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct entry *find(struct cache *cache, const char *key)
{
    for (int i = 0; i < CACHE_ENTRIES; i++)
        if (cache->entries[i].key != NULL && strcmp(cache->entries[i].key, key) == 0)
            return &cache->entries[i];
    return NULL;
}

static bool fresh(const struct cache *cache, const struct entry *entry)
{
    int64_t age_us = clock_boot_us() - entry->made_us;
    /* The interleaving: a statement begins, a change commits, the statement ends with the state
     * before. The visitor who made the change would see the old state for two seconds. */
    if (entry->epoch != cache->epoch)
        return false;
    if (entry->made_us != 0 && entry->outcome.rc != RC_OK)
        return age_us < FAILED_US;
    /* An answer that takes 100 ms is kept for 4 s although there is news, so that it costs the
     * database at most a fortieth of one session's time. */
    int64_t dear_us = DEAR * (entry->made_us - entry->begun_us);
    return entry->made_us == 0 || age_us < (dear_us < DEAR_US ? dear_us : DEAR_US) ||
           /* Compared with the begin, not the end: news that came while the statement ran may not
            * be in it. */
           (age_us < KEEP_US && entry->begun_us >= cache->news_us);
}

/* Entries that are too old for any visitor. */
static void forget_old(struct cache *cache)
{
    for (int i = 0; i < CACHE_ENTRIES; i++)
        if (cache->entries[i].made_us != 0 && !fresh(cache, &cache->entries[i]))
            forget(cache, &cache->entries[i]);
}

/* A free place, or that of the oldest answer. NULL: all are being made; then the answer is not
 * shared. */
static struct entry *place(struct cache *cache)
{
    struct entry *oldest = NULL;
    for (int i = 0; i < CACHE_ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];
        if (entry->key == NULL)
            return entry;
        if (entry->made_us != 0 && (oldest == NULL || entry->made_us < oldest->made_us))
            oldest = entry;
    }
    if (oldest != NULL)
        forget(cache, oldest);
    return oldest;
}

/* The server knows waiting requests by this number. Two keys with one number only wake each other
 * early. */
static uint64_t number_of(const char *key)
{
    return XXH3_64bits(key, strlen(key));
}

static void begin(struct cache *cache, const char *key)
{
    struct entry *entry = place(cache);
    if (entry != NULL)
        *entry =
            (struct entry){.key = xstrdup(key), .begun_us = clock_boot_us(), .epoch = cache->epoch};
}

static void copy(const struct cache_outcome *from, struct cache_outcome *to)
{
    to->rc = from->rc;
    to->err = from->err;
    str_add(&to->document, from->document.data, from->document.len);
}

/* The lock is held until http_wait has the request in its list. In between, the request that makes
 * the answer could call http_wake and find nothing to wake: this one would wait until its time is
 * over. */
enum cache_found cache_get(struct cache *cache, const char *key, struct http_request *request,
                           struct cache_outcome *outcome, long *ret_ticket)
{
    enum cache_found found = CACHE_MAKE;
    (void)pthread_mutex_lock(&cache->lock);
    forget_old(cache);
    struct entry *entry = find(cache, key);
    *ret_ticket = cache->epoch;
    if (entry != NULL && !fresh(cache, entry)) {
        forget(cache, entry); /* it is being made, but from before a change: its ticket is void */
        entry = NULL;
    }
    if (entry == NULL) {
        begin(cache, key);
    } else if (entry->made_us == 0) {
        found = http_wait(request, number_of(key)) ? CACHE_WAITS : CACHE_BUSY;
    } else {
        copy(&entry->outcome, outcome);
        found = CACHE_KEPT;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return found;
}

/* A failure that came fast is not kept: each request that waits tries again. One that took long is
 * shared, or each of these requests would wait as long, one after the other. */
static bool worth_keeping(const struct cache *cache, const struct entry *entry,
                          const struct cache_outcome *outcome)
{
    if (outcome->rc != RC_OK)
        return !outcome->own && clock_boot_us() - entry->begun_us > TRIED_US;
    return cache->bytes + outcome->document.len <= BYTES_MOST;
}

void cache_put(struct cache *cache, const char *key, long ticket, struct http_request *request,
               const struct cache_outcome *outcome)
{
    (void)pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, key);
    /* The ticket is the epoch at the begin: an answer that was begun before a change finds another
     * entry here, or none, and is given to its own client only. */
    if (entry != NULL && entry->made_us == 0 && entry->epoch == ticket) {
        if (worth_keeping(cache, entry, outcome)) {
            copy(outcome, &entry->outcome);
            cache->bytes += entry->outcome.document.len;
            entry->made_us = clock_boot_us();
        } else {
            forget(cache, entry); /* those who wait for it ask themselves */
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
    /* In each case, and without the lock: those that wait ask the cache again. */
    http_wake(request, number_of(key));
}

void cache_tidy(struct cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    forget_old(cache);
    (void)pthread_mutex_unlock(&cache->lock);
}

void cache_clear(struct cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    /* Nothing is freed here: entries of an older epoch are not fresh, and the next request drops
     * them. */
    cache->epoch++;
    (void)pthread_mutex_unlock(&cache->lock);
}

void cache_news(struct cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    cache->news_us = clock_boot_us();
    (void)pthread_mutex_unlock(&cache->lock);
}

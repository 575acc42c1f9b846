#include "console/cache.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

#define KEEP_US    2000000
#define DEAR       20      /* times the making of an answer is it kept at least */
#define BYTES_MOST 8388608 /* of all documents */

struct entry {
    char *key; /* NULL: free */
    struct str document;
    int64_t begun_us, made_us; /* made_us 0: it is being made */
    long epoch;                /* of the cache when its making began */
};

struct cache {
    pthread_mutex_t lock;
    pthread_cond_t made;
    struct entry entries[CACHE_ENTRIES];
    long epoch;      /* grows with each change */
    int64_t news_us; /* of the event stream */
    size_t bytes;
};

struct cache *cache_new(void)
{
    struct cache *cache = xcalloc(1, sizeof *cache);
    (void)pthread_mutex_init(&cache->lock, NULL);
    (void)pthread_cond_init(&cache->made, NULL);
    return cache;
}

static void forget(struct cache *cache, struct entry *entry)
{
    cache->bytes -= entry->document.len;
    free(entry->key);
    str_done(&entry->document);
    *entry = (struct entry){0};
}

void cache_free(struct cache *cache)
{
    if (cache == NULL)
        return;
    for (int i = 0; i < CACHE_ENTRIES; i++)
        forget(cache, &cache->entries[i]);
    (void)pthread_cond_destroy(&cache->made);
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
    if (entry->epoch != cache->epoch)
        return false;
    return entry->made_us == 0 || age_us < DEAR * (entry->made_us - entry->begun_us) ||
           (age_us < KEEP_US && entry->begun_us >= cache->news_us);
}

/* What no one may be given any more. */
static void forget_old(struct cache *cache)
{
    for (int i = 0; i < CACHE_ENTRIES; i++)
        if (cache->entries[i].made_us != 0 && !fresh(cache, &cache->entries[i]))
            forget(cache, &cache->entries[i]);
}

/* A free place, or that of the oldest; NULL: all are being made. */
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

bool cache_get(struct cache *cache, const char *key, struct str *document, long *ret_ticket)
{
    bool found = false;
    (void)pthread_mutex_lock(&cache->lock);
    forget_old(cache);
    struct entry *entry;
    while ((entry = find(cache, key)) != NULL && fresh(cache, entry) && entry->made_us == 0)
        (void)pthread_cond_wait(&cache->made, &cache->lock);
    if (entry != NULL && fresh(cache, entry)) {
        str_add(document, entry->document.data, entry->document.len);
        found = true;
    } else {
        /* Of one that is being made, but from before a change, the maker's ticket is void. */
        if (entry != NULL)
            forget(cache, entry);
        entry = place(cache);
        if (entry != NULL)
            *entry = (struct entry){
                .key = xstrdup(key), .begun_us = clock_boot_us(), .epoch = cache->epoch};
    }
    *ret_ticket = cache->epoch;
    (void)pthread_mutex_unlock(&cache->lock);
    return found;
}

void cache_put(struct cache *cache, const char *key, long ticket, const char *document, size_t len)
{
    (void)pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, key);
    if (entry != NULL && entry->made_us == 0 && entry->epoch == ticket) {
        if (cache->bytes + len > BYTES_MOST) {
            forget(cache, entry); /* those who wait for it ask themselves */
        } else {
            str_add(&entry->document, document, len);
            cache->bytes += len;
            entry->made_us = clock_boot_us();
        }
    }
    (void)pthread_cond_broadcast(&cache->made);
    (void)pthread_mutex_unlock(&cache->lock);
}

void cache_drop(struct cache *cache, const char *key, long ticket)
{
    (void)pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, key);
    if (entry != NULL && entry->made_us == 0 && entry->epoch == ticket)
        forget(cache, entry);
    (void)pthread_cond_broadcast(&cache->made);
    (void)pthread_mutex_unlock(&cache->lock);
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
    cache->epoch++;
    (void)pthread_cond_broadcast(&cache->made);
    (void)pthread_mutex_unlock(&cache->lock);
}

void cache_news(struct cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    cache->news_us = clock_boot_us();
    (void)pthread_mutex_unlock(&cache->lock);
}

/* Counters that one thread writes and others read: relaxed atomic adds, no lock, a few nanoseconds
 * (bench/notes/metrics.md). Begin with tally_task() for the writers and tally_text() for the
 * readers. A new word or type becomes visible by a release store of its count, which a reader loads
 * with acquire: so it never reads a name that is half written. Memory is bounded: the last place
 * stands for all further words. The text of librdkafka's statistics is kept as it is and parsed by
 * the reader (kafka_text.c). */
#include "metrics/tally.h"

#include "base/memory.h"
#include "metrics/histogram.h"
#include "metrics/tally_text.h"

#include <pthread.h>
#include <stdlib.h>

#define TYPES 8  /* of tasks */
#define WORDS 32 /* reasons; of more, the last one stands for all */

struct kind {
    const char *type;
    _Atomic int64_t outcomes[TALLY_OUTCOMES];
    struct histogram duration;
};

/* Counts by a word. The words are added by the one who counts; `used` shows a reader those that are
 * whole. */
struct words {
    char words[WORDS][32];
    _Atomic int64_t counts[WORDS];
    _Atomic int used;
};

struct tally_queue {
    const char *name;
    struct kind kinds[TYPES];
    _Atomic int kind_count;
    struct histogram wait, barrier;
    struct words rejected;
    _Atomic int64_t lost, high;
    const char *_Atomic trouble;
};

struct statistics {
    pthread_mutex_t lock;
    struct str json;
};

struct tally {
    struct tally_queue *queues;
    int queue_count;
    _Atomic int64_t decisions[TALLY_DECISIONS];
    struct histogram lateness;
    struct statistics *kafka;
};

struct tally *tally_new(const char *const *queues, int count)
{
    struct tally *tally = xcalloc(1, sizeof *tally);
    tally->queues = xcalloc((size_t)count + 1, sizeof *tally->queues);
    tally->queue_count = count;
    for (int i = 0; i < count; i++) {
        tally->queues[i].name = queues[i];
        /* -1: not known yet, and then no lag is shown. */
        tally->queues[i].high = -1;
        /* Not ready until control says so: a load balancer must not see a moment of readiness at
         * the start. */
        tally->queues[i].trouble = "the executor is starting";
    }
    tally->kafka = xcalloc(1, sizeof *tally->kafka);
    (void)pthread_mutex_init(&tally->kafka->lock, NULL);
    return tally;
}

void tally_free(struct tally *tally)
{
    if (tally == NULL)
        return;
    (void)pthread_mutex_destroy(&tally->kafka->lock);
    str_done(&tally->kafka->json);
    free(tally->kafka);
    free(tally->queues);
    free(tally);
}

struct tally_queue *tally_queue_at(struct tally *tally, int i)
{
    return tally != NULL && i < tally->queue_count ? &tally->queues[i] : NULL;
}

/* Only control counts for a queue, so finding and adding a kind needs no lock. */
static struct kind *kind_of(struct tally_queue *queue, const char *type)
{
    int count = atomic_load_explicit(&queue->kind_count, memory_order_relaxed), i = 0;
    while (i < count && !str_same(queue->kinds[i].type, type))
        i++;
    if (i == count && count < TYPES) {
        queue->kinds[i].type = type;
        atomic_store_explicit(&queue->kind_count, count + 1, memory_order_release);
    }
    return &queue->kinds[i < TYPES ? i : TYPES - 1];
}

void tally_task(struct tally_queue *queue, const char *type, enum tally_outcome outcome,
                int64_t ran_us, int64_t waited_us)
{
    if (queue == NULL)
        return;
    struct kind *kind = kind_of(queue, type);
    count_add(&kind->outcomes[outcome], 1);
    histogram_observe(&kind->duration, ran_us);
    if (waited_us >= 0)
        histogram_observe(&queue->wait, waited_us);
}

/** One writer for each queue, as in kind_of(): the search and the addition need no lock. */
static _Atomic int64_t *words_at(struct words *words, const char *word)
{
    int used = atomic_load_explicit(&words->used, memory_order_relaxed), i = 0;
    while (i < used && strncmp(words->words[i], word, sizeof *words->words - 1) != 0)
        i++;
    if (i == used && used < WORDS) {
        /* A longer word is cut. Two that differ only behind the cut are counted together. */
        size_t len = strnlen(word, sizeof *words->words - 1);
        memcpy(words->words[i], word, len);
        words->words[i][len] = '\0';
        atomic_store_explicit(&words->used, used + 1, memory_order_release);
    }
    return &words->counts[i < WORDS ? i : WORDS - 1];
}

void tally_reason(struct tally_queue *queue, const char *reason)
{
    if (queue != NULL)
        (void)words_at(&queue->rejected, reason);
}

void tally_rejected(struct tally_queue *queue, const char *reason)
{
    if (queue != NULL)
        count_add(words_at(&queue->rejected, reason), 1);
}

void tally_lost(struct tally_queue *queue)
{
    if (queue != NULL)
        count_add(&queue->lost, 1);
}

void tally_barrier(struct tally_queue *queue, int64_t us)
{
    if (queue != NULL)
        histogram_observe(&queue->barrier, us);
}

void tally_high(struct tally_queue *queue, int64_t offset)
{
    if (queue != NULL)
        atomic_store_explicit(&queue->high, offset, memory_order_relaxed);
}

void tally_trouble(struct tally_queue *queue, const char *why)
{
    if (queue != NULL)
        atomic_store_explicit(&queue->trouble, why, memory_order_relaxed);
}

void tally_decided(struct tally *tally, enum tally_decision decision, int64_t late_us)
{
    if (tally == NULL)
        return;
    count_add(&tally->decisions[decision], 1);
    /* A time that was skipped or missed has no lateness. */
    if (decision == TALLY_FIRED && late_us >= 0)
        histogram_observe(&tally->lateness, late_us);
}

/** The one part with a lock: librdkafka's text comes every ten seconds, and a reader needs it
 * whole. */
void tally_kafka(struct tally *tally, const char *json, size_t len)
{
    if (tally == NULL)
        return;
    (void)pthread_mutex_lock(&tally->kafka->lock);
    str_clear(&tally->kafka->json);
    str_add(&tally->kafka->json, json, len);
    (void)pthread_mutex_unlock(&tally->kafka->lock);
}

static void tasks_text(const struct tally *tally, struct str *text)
{
    static const char *const outcomes[] = {"completed", "failed", "error", "stale"};
    text_family(text, "lockstep_tasks_total");
    for (int q = 0; q < tally->queue_count; q++) {
        const struct tally_queue *queue = &tally->queues[q];
        /* Pairs with the release in kind_of(): the types below count are whole. */
        int count = atomic_load_explicit(&queue->kind_count, memory_order_acquire);
        for (int k = 0; k < count; k++)
            for (int o = 0; o < TALLY_OUTCOMES; o++) {
                const struct text_labels labels = {
                    {queue->name, queue->kinds[k].type, outcomes[o]}};
                text_number(text, "lockstep_tasks_total", &labels,
                            (double)count_read(&queue->kinds[k].outcomes[o]));
            }
    }
    text_family(text, "lockstep_task_duration_seconds");
    for (int q = 0; q < tally->queue_count; q++) {
        const struct tally_queue *queue = &tally->queues[q];
        int count = atomic_load_explicit(&queue->kind_count, memory_order_acquire);
        for (int k = 0; k < count; k++) {
            const struct text_labels labels = {{queue->name, queue->kinds[k].type}};
            histogram_text(text, "lockstep_task_duration_seconds", &labels,
                           &queue->kinds[k].duration);
        }
    }
}

static void rejected_text(const struct tally *tally, struct str *text)
{
    text_family(text, "lockstep_rejected_total");
    for (int q = 0; q < tally->queue_count; q++) {
        const struct tally_queue *queue = &tally->queues[q];
        /* Pairs with the release in words_at(). */
        int used = atomic_load_explicit(&queue->rejected.used, memory_order_acquire);
        for (int i = 0; i < used; i++) {
            const struct text_labels labels = {{queue->name, queue->rejected.words[i]}};
            text_number(text, "lockstep_rejected_total", &labels,
                        (double)count_read(&queue->rejected.counts[i]));
        }
    }
}

/** The histogram at this offset of each queue, as one family: a family's samples must be together.
 */
static void histograms_text(const struct tally *tally, size_t at, const char *name,
                            struct str *text)
{
    text_family(text, name);
    for (int q = 0; q < tally->queue_count; q++) {
        const struct tally_queue *queue = &tally->queues[q];
        const struct text_labels labels = {{queue->name}};
        histogram_text(text, name, &labels, (const void *)((const char *)queue + at));
    }
}

static void queues_text(const struct tally *tally, struct str *text)
{
    histograms_text(tally, offsetof(struct tally_queue, wait), "lockstep_task_wait_seconds", text);
    histograms_text(tally, offsetof(struct tally_queue, barrier), "lockstep_barrier_seconds", text);
    rejected_text(tally, text);
    text_family(text, "lockstep_attempts_lost_total");
    for (int q = 0; q < tally->queue_count; q++) {
        const struct text_labels labels = {{tally->queues[q].name}};
        text_number(text, "lockstep_attempts_lost_total", &labels,
                    (double)count_read(&tally->queues[q].lost));
    }
    text_family(text, "lockstep_queue_ready");
    for (int q = 0; q < tally->queue_count; q++) {
        const struct text_labels labels = {{tally->queues[q].name}};
        text_number(text, "lockstep_queue_ready", &labels,
                    tally_queue_trouble(tally, q) == NULL ? 1 : 0);
    }
}

static void schedules_text(const struct tally *tally, struct str *text)
{
    static const char *const names[] = {
        "lockstep_schedule_fired_total", "lockstep_schedule_skipped_total",
        "lockstep_schedule_missed_total", "lockstep_schedule_failed_total"};
    for (int i = 0; i < TALLY_DECISIONS; i++) {
        text_family(text, names[i]);
        text_number(text, names[i], NULL, (double)count_read(&tally->decisions[i]));
    }
    text_family(text, "lockstep_schedule_lateness_seconds");
    histogram_text(text, "lockstep_schedule_lateness_seconds", NULL, &tally->lateness);
}

void tally_text(const struct tally *tally, struct str *text)
{
    if (tally->queue_count > 0) {
        tasks_text(tally, text);
        queues_text(tally, text);
    }
    schedules_text(tally, text);
    /* Copied, so that parsing does not hold the lock against control. */
    STR_AUTO statistics = {0};
    (void)pthread_mutex_lock(&tally->kafka->lock);
    str_add(&statistics, tally->kafka->json.data, tally->kafka->json.len);
    (void)pthread_mutex_unlock(&tally->kafka->lock);
    if (statistics.len > 0)
        tally_kafka_text(statistics.data, text);
}

int tally_queue_count(const struct tally *tally)
{
    return tally != NULL ? tally->queue_count : 0;
}

const char *tally_queue_name(const struct tally *tally, int i)
{
    return tally->queues[i].name;
}

const char *tally_queue_trouble(const struct tally *tally, int i)
{
    return atomic_load_explicit(&tally->queues[i].trouble, memory_order_relaxed);
}

int64_t tally_queue_high(const struct tally *tally, const char *queue)
{
    for (int i = 0; tally != NULL && i < tally->queue_count; i++)
        if (str_same(tally->queues[i].name, queue))
            return atomic_load_explicit(&tally->queues[i].high, memory_order_relaxed);
    /* A queue of another executor: its watermark is not known here. */
    return -1;
}

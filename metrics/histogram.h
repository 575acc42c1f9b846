/**
 * What: a histogram of times, in fixed buckets from 100 us to an hour.
 * Invariants: counts only grow. One thread observes; any thread may read meanwhile, and sees each
 *   count as it was or as it is.
 * Threads: see above; nothing is locked, and an observation costs a few nanoseconds.
 * Ownership: embedded in its owner's.
 * Failure: none.
 */
#ifndef METRICS_HISTOGRAM_H
#define METRICS_HISTOGRAM_H

#include "metrics/text.h"

#include <stdatomic.h>

#define HISTOGRAM_BOUNDS 21

struct histogram {
    _Atomic int64_t counts[HISTOGRAM_BOUNDS + 1]; /* the last one: above all bounds */
    _Atomic int64_t sum_us;
};

/** By the one thread that writes it: cheaper than an atomic addition. */
static inline void count_add(_Atomic int64_t *count, int64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}
static inline int64_t count_read(const _Atomic int64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/** Less than 0 counts as 0. */
void histogram_observe(struct histogram *histogram, int64_t us);
void histogram_text(struct str *text, const char *name, const struct text_labels *labels,
                    const struct histogram *histogram);

#endif

/**
 * What: shared by the tests of publishing: callbacks that note their calls and may act once.
 * Invariants: struct seen is the context of each callback.
 * Threads: the test's own, from which publish_run calls back.
 * Ownership: the test owns the text of its struct seen (str_done).
 * Failure: none.
 */
#ifndef TESTS_E2E_PUBLISH_SEEN_H
#define TESTS_E2E_PUBLISH_SEEN_H

#include "base/str.h"
#include "kafka/producer.h"
#include "producer/publish.h"

#include <inttypes.h>
#include <stdbool.h>

struct seen {
    struct str text;
    int faults, calls;
    enum publish_stage act_at; /* the progress callback does act once at this stage of a run */
    void (*act)(struct seen *seen, const struct publish_progress *progress);
    struct kafka_producer *rival;
};

static inline void on_fault(void *context, const struct publish_fault *fault)
{
    struct seen *seen = context;
    seen->faults++;
    str_format(&seen->text, "%" PRId64 " %s\n", fault->line, fault->path);
}

static inline void on_phase(void *context, const struct publish_phase *phase)
{
    struct seen *seen = context;
    str_format(&seen->text, "%" PRId64 "<%" PRId64 " %" PRId64 "\n", phase->previous_order,
               phase->order, phase->tasks);
}

static inline void on_progress(void *context, const struct publish_progress *progress)
{
    struct seen *seen = context;
    if (progress->stage != seen->act_at || seen->act == NULL)
        return;
    if (seen->act_at != PUBLISH_LOCKING && progress->run[0] == '\0')
        return;
    seen->act(seen, progress);
}

static inline bool always(void *context)
{
    (void)context;
    return true;
}

#endif

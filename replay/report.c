/* report: counts by run, order, action and reason. */
#include "replay/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What sql/functions/replay/replay_judge.sql says, and for people. */
static const struct reason {
    const char *action, *why, *meaning;
} reasons[] = {
    {"make", "missing", "it has no row"},
    {"make", "duplicate", "repeats another one: only recorded"},
    {"reopen", "failed", "finally failed"},
    {"reopen", "cancelled", "cancelled because of a failure"},
    {"reopen", "done", "done, and to be done again"},
    {"skip", "done", "done"},
    {"skip", "failed", "failed: take mode failed"},
    {"skip", "cancelled", "cancelled: by an operator, or its run lost messages"},
    {"skip", "unfinished", "not finished: runs anyway"},
    {"skip", "ahead", "not claimed yet: executors will"},
    {"skip", "missing", "it has no row: take mode missing"},
    {"skip", "rejected", "rejected: `rejected list` shows it"},
    {"skip", "duplicate", "repeats another one"},
    {"skip", "differs", "its row holds another message: is this the topic it came from?"},
    {"skip", "no_beginning", "what comes before it in its run is missing: begin earlier"},
    {"skip", "retention", "its run has ended, and its queue does not keep it any longer"},
    {"skip", "continued", "its run continued without it: publish it again"},
    {"skip", "deleted", "no longer on the topic: retention"},
    {"skip", "unknown", "this version does not know why"}, /* stays the last */
};

uint32_t replay_hash(const char *key, uint32_t seed)
{
    uint32_t hash = 2166136261U ^ seed; /* FNV-1a */
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619U;
    return hash;
}

static const struct reason *reason_of(const char *action, const char *why)
{
    size_t i = 0, last = sizeof reasons / sizeof *reasons - 1;
    while (i < last && (strcmp(reasons[i].action, action) != 0 || strcmp(reasons[i].why, why) != 0))
        i++;
    return &reasons[i];
}

static uint32_t place(const char *run, int64_t order, const struct reason *reason)
{
    return replay_hash(run, (uint32_t)order * 31U ^ (uint32_t)(reason - reasons));
}

static int *slot_of(struct replay_report *report, const char *run, int64_t order,
                    const struct reason *reason)
{
    uint32_t at = place(run, order, reason);
    for (;; at++) {
        int *slot = &report->slots[at % (uint32_t)report->slot_count];
        const struct replay_line *line = *slot > 0 ? &report->lines[*slot - 1] : NULL;
        if (line == NULL || (line->order == order && line->action == reason->action &&
                             line->why == reason->why && strcmp(line->run, run) == 0))
            return slot;
    }
}

static void grow(struct replay_report *report)
{
    report->cap = report->cap > 0 ? report->cap * 2 : 64;
    report->lines = xrealloc(report->lines, (size_t)report->cap, sizeof *report->lines);
    free(report->slots);
    report->slot_count = report->cap * 2;
    report->slots = xcalloc((size_t)report->slot_count, sizeof *report->slots);
    for (int i = 0; i < report->count; i++) {
        const struct replay_line *line = &report->lines[i];
        *slot_of(report, line->run, line->order, reason_of(line->action, line->why)) = i + 1;
    }
}

void report_add(struct replay_report *report, const char *run, int64_t order, const char *action,
                const char *why, int64_t records)
{
    const struct reason *reason = reason_of(action, why);
    if (report->count == report->cap)
        grow(report);
    int *slot = slot_of(report, run, order, reason);
    if (*slot == 0) {
        struct replay_line *line = &report->lines[report->count++];
        *line = (struct replay_line){.order = order,
                                     .action = reason->action,
                                     .why = reason->why,
                                     .meaning = reason->meaning};
        (void)snprintf(line->run, sizeof line->run, "%s", run);
        *slot = report->count;
    }
    report->lines[*slot - 1].records += records;
    *(strcmp(reason->action, "skip") == 0 ? &report->skipped : &report->acted) += records;
}

void replay_report_done(struct replay_report *report)
{
    free(report->lines);
    free(report->slots);
    free(report->open_runs);
    *report = (struct replay_report){0};
}

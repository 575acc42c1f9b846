/**
 * What: the reports of a publisher to its caller: progress, notices, faults of the source; and the
 *   question whether the caller cancels it.
 * Invariants: only progress.c writes the fields. The callback of progress is called at every change
 *   of stage, and otherwise at most once in 250 ms.
 * Threads: the caller's own; the callbacks run on it.
 * Ownership: borrows the options and the state.
 * Failure: ERR_CANCELLED: the caller's wish.
 */
#ifndef PRODUCER_PROGRESS_H
#define PRODUCER_PROGRESS_H

#include "producer/options.h"

struct progress {
    const struct publish_options *options;
    const void *state;
    void (*fill)(const void *state, struct publish_progress *report);
    enum publish_stage stage;
    int64_t read, total; /* tasks; total -1: not known */
    int64_t due_us;      /* the next report */
};

/** fill() writes into a report the values of the other parts: run, sent, acked. state, which it is
 * given, must live as long. */
struct progress progress_of(const struct publish_options *options, const void *state,
                            void (*fill)(const void *state, struct publish_progress *report));
void progress_stage(struct progress *progress, enum publish_stage stage);
/** One more task was read. */
void progress_read(struct progress *progress);
void progress_total(struct progress *progress, int64_t total);
/** Calls back when a report is due. run_status: PUBLISH_WAITING: the run's; otherwise "". */
void progress_report(struct progress *progress, const char *run_status);
/** When a report is due: asks whether to give up, and reports. Costs nothing otherwise. */
MUST_CHECK enum rc progress_tick(struct progress *progress, int64_t now_us, struct err *err);
int64_t progress_due_us(const struct progress *progress);
/** Only the question whether to give up. */
MUST_CHECK enum rc progress_cancelled(const struct progress *progress, struct err *err);
/** What the user must see, though it ends nothing. */
void progress_notice(const struct progress *progress, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** What is wrong with a task of the source; err->object is where in the task. */
void progress_fault(const struct progress *progress, const char *source, int64_t line,
                    const struct err *err);

#endif

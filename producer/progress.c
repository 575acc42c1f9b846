/* The reports for a caller, four times a second at most, and the one place that asks the caller for
 * a cancel. The first report of a stage comes at once. Parts that wait call progress_tick() and
 * sleep no longer than progress_due_us(). The numbers are collected by the callback `fill`
 * (publishing.c), so that this file depends on no other part. */
#include "producer/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

/* Four reports a second look smooth to a person and cost little. */
#define REPORT_EVERY_US 250000

struct progress progress_of(const struct publish_options *options, const void *state,
                            void (*fill)(const void *state, struct publish_progress *report))
{
    return (struct progress){.options = options, .state = state, .fill = fill, .total = -1};
}

void progress_read(struct progress *progress)
{
    progress->read++;
}

void progress_total(struct progress *progress, int64_t total)
{
    progress->total = total;
}

int64_t progress_due_us(const struct progress *progress)
{
    return progress->due_us;
}

static void report(struct progress *progress, int64_t now_us, const char *run_status)
{
    const struct publish_options *options = progress->options;
    if (options->progress == NULL || now_us < progress->due_us)
        return;
    progress->due_us = now_us + REPORT_EVERY_US;
    struct publish_progress filled = {.stage = progress->stage,
                                      .read = progress->read,
                                      .total = progress->total,
                                      .run_status = run_status};
    progress->fill(progress->state, &filled);
    options->progress(options->context, &filled);
}

void progress_report(struct progress *progress, const char *run_status)
{
    report(progress, clock_boot_us(), run_status);
}

void progress_stage(struct progress *progress, enum publish_stage stage)
{
    progress->stage = stage;
    /* The report of the new stage is not delayed by the last one of the old. */
    progress->due_us = clock_boot_us();
    progress_report(progress, "");
}

/* Called often, so it asks for a cancel no more often than it reports. */
enum rc progress_tick(struct progress *progress, int64_t now_us, struct err *err)
{
    if (now_us < progress->due_us)
        return RC_OK;
    enum rc rc = progress_cancelled(progress, err);
    if (rc != RC_OK)
        return rc;
    report(progress, now_us, "");
    /* Also without a callback, or each tick would ask for a cancel. */
    progress->due_us = now_us + REPORT_EVERY_US;
    return RC_OK;
}

enum rc progress_cancelled(const struct progress *progress, struct err *err)
{
    const struct publish_options *options = progress->options;
    /* Called from the thread of the publisher, so the caller's callback needs no lock; a signal
     * handler sets a flag that it reads. */
    if (options->cancelled == NULL || !options->cancelled(options->context))
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_CANCELLED, options->queue, NULL,
                   "the publishing was interrupted");
}

/** A caller without a callback, such as the relay, has only its log. */
void progress_notice(const struct progress *progress, const char *fmt, ...)
{
    const struct publish_options *options = progress->options;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (options->notice != NULL)
        options->notice(options->context, text);
    else
        log_event(LOG_WARN, "publish_notice", "queue", options->queue, "message", text, NULL);
}

/** Without a callback the fault is not lost: publish_run() returns the first one. */
void progress_fault(const struct progress *progress, const char *source, int64_t line,
                    const struct err *err)
{
    const struct publish_options *options = progress->options;
    const struct publish_fault fault = {.source = source,
                                        .line = line,
                                        .path = err->object,
                                        .message = err->message,
                                        .hint = err->hint};
    if (options->fault != NULL)
        options->fault(options->context, &fault);
}

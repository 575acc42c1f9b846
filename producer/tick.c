#include "producer/publishing.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

#include <stdarg.h>
#include <stdio.h>

#define TELL_EVERY_US 250000
#define NOTE_EVERY_US 1000000

void tick_progress(struct publishing *p, const char *run_status)
{
    const struct publish_options *options = p->options;
    int64_t now_us = clock_boot_us();
    if (options->progress == NULL || now_us - p->told_us < TELL_EVERY_US)
        return;
    p->told_us = now_us;
    struct publish_progress progress = {.stage = p->stage,
                                        .run = p->row_written ? p->run : "",
                                        .read = p->read,
                                        .sent = p->seq,
                                        .total = p->total,
                                        .run_status = run_status};
    int64_t last_offset;
    if (p->producer != NULL)
        kafka_producer_acked(p->producer, &progress.acked, &last_offset);
    progress.acked -= p->producer != NULL ? p->acked_before : 0;
    options->progress(options->context, &progress);
}

void tick_stage(struct publishing *p, enum publish_stage stage)
{
    p->stage = stage;
    p->told_us = clock_boot_us() - TELL_EVERY_US;
    tick_progress(p, "");
}

enum rc tick_cancelled(const struct publishing *p, struct err *err)
{
    const struct publish_options *options = p->options;
    if (options->cancelled == NULL || !options->cancelled(options->context))
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_CANCELLED, options->queue, NULL,
                   "The publishing was interrupted.");
}

void publish_notice(struct publishing *p, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (p->options->notice != NULL)
        p->options->notice(p->options->context, text);
    else
        log_event(LOG_WARN, "publish_notice", "queue", p->options->queue, "message", text, NULL);
}

void publish_tell_fault(const struct publishing *p, int64_t line, const struct err *err)
{
    const struct publish_options *options = p->options;
    const struct publish_fault fault = {.source = staged_name(p->staged),
                                        .line = line,
                                        .path = err->object,
                                        .message = err->message,
                                        .hint = err->hint};
    if (options->fault != NULL)
        options->fault(options->context, &fault);
}

enum rc publish_empty(const struct publishing *p, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, staged_name(p->staged),
                   "a run needs at least one task, e.g. {\"order\":100,\"sql\":\"SELECT 1\"}",
                   "There is no task in the %s.", p->stream ? "stream" : "source");
}

/* Losing this session is losing the lock, and then nothing more may be sent. */
static enum rc note(struct publishing *p, struct err *err)
{
    if (!p->row_written || p->committed == 0)
        return db_run(p->db, &sql_publish_alive, NULL, NULL, err);
    char chain[33];
    chain_format(&p->committed_chain, chain);
    const char *const params[] = {DB_INT(p->queue_id), p->run, DB_INT(p->committed - 1),
                                  DB_INT(p->settled_offset), chain};
    probe("publish.noting");
    enum rc rc = db_run(p->db, &sql_publish_note, params, NULL, err);
    probe("publish.noted");
    return rc;
}

enum rc tick(struct publishing *p, struct err *err)
{
    int64_t now_us = clock_boot_us();
    if (now_us - p->told_us >= TELL_EVERY_US) {
        enum rc rc = tick_cancelled(p, err);
        if (rc != RC_OK)
            return rc;
        tick_progress(p, "");
        p->told_us = now_us;
    }
    if (p->db == NULL || !p->locked || now_us - p->noted_us < NOTE_EVERY_US)
        return RC_OK;
    p->noted_us = now_us;
    return note(p, err);
}

/* All steps share this while they wait: one tick for progress, cancelling and the note in the run's
 * row, and one answer to the question when the next part has something to do. A step that waits
 * longer than publishing_due_us() would miss the check of its lock. */
#include "producer/publishing.h"

#include "base/clock.h"

static void fill(const void *state, struct publish_progress *report)
{
    const struct publishing *p = state;
    int64_t last_offset;
    report->run = run_is_started(&p->run) ? p->run.id : "";
    report->sent = p->records.next.seq;
    report->acked = transaction_acked(&p->transaction, &last_offset);
}

enum rc publishing_tick(struct publishing *p, struct err *err)
{
    int64_t now_us = clock_boot_us();
    enum rc rc = progress_tick(&p->progress, now_us, err);
    return rc == RC_OK ? run_tick(&p->run, &p->session, &p->target, &p->records, now_us, err) : rc;
}

int64_t publishing_due_us(const struct publishing *p)
{
    int64_t due_us = transaction_due_us(&p->transaction);
    int64_t others_us[] = {progress_due_us(&p->progress), run_due_us(&p->run)};
    for (size_t i = 0; i < sizeof others_us / sizeof others_us[0]; i++)
        if (others_us[i] < due_us)
            due_us = others_us[i];
    return due_us;
}

void publishing_reports(struct publishing *p, const struct publish_options *options)
{
    p->progress = progress_of(options, p, fill);
}

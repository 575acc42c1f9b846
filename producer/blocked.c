/* An open transaction of any producer holds back all readers of committed records, also from
 * records that are committed behind it (Kafka's last stable offset). This file finds that
 * transaction and reports it with its remedy. It ends no transaction: that is an operator's
 * decision, because the transaction may belong to a program that is at its work. */
#include "producer/blocked.h"

#include "base/remedies.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define CHECK_WAIT_MS 15000
#define REPORT_AGE_MS 5000 /* a younger one may be any producer at its work */

enum rc blocked_check(const struct target *target, struct kafka_open_transaction *ret_open,
                      struct err *err)
{
    return kafka_open_transaction(target->kafka, target->topic, target->partition, CHECK_WAIT_MS,
                                  ret_open, err);
}

/** 0 for an unknown time, and for one in the future: too young to report. */
static int64_t age_ms(const struct kafka_open_transaction *open)
{
    struct timespec now;
    /* the record has the wall clock of its producer, which may be ahead of ours */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return open->since_ms < 0 || open->since_ms > now_ms ? 0 : now_ms - open->since_ms;
}

static void describe(const struct target *target, const struct kafka_open_transaction *open,
                     char *text, size_t size)
{
    char since[64] = "an unknown time";
    time_t seconds = (time_t)(open->since_ms / 1000);
    struct tm utc;
    if (open->since_ms >= 0 && gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &utc);
    (void)snprintf(text, size,
                   "an open transaction of another producer begins at offset %" PRId64
                   " of topic %s (partition %d), since %s, %" PRId64
                   " s ago: what is behind it cannot be read",
                   open->offset, target->topic, target->partition, since, age_ms(open) / 1000);
}

static void advise(const struct target *target, const struct kafka_open_transaction *open,
                   char *text, size_t size)
{
    const char *brokers = kafka_properties_get(target->kafka, "bootstrap.servers");
    (void)snprintf(text, size, REMEDY_KAFKA_ABORT, brokers != NULL ? brokers : "BROKER",
                   target->topic, target->partition, open->offset);
}

void blocked_report(const struct target *target, const struct progress *progress,
                    const struct kafka_open_transaction *open)
{
    char what[512], hint[512];
    describe(target, open, what, sizeof what);
    advise(target, open, hint, sizeof hint);
    progress_notice(progress, "%s\n  hint: %s", what, hint);
}

void blocked_report_old(const struct target *target, const struct progress *progress,
                        const struct kafka_open_transaction *open)
{
    if (age_ms(open) >= REPORT_AGE_MS)
        blocked_report(target, progress, open);
}

enum rc blocked_err(const struct target *target, const struct kafka_open_transaction *open,
                    struct err *err)
{
    char what[512], hint[512];
    describe(target, open, what, sizeof what);
    advise(target, open, hint, sizeof hint);
    return err_set(err, RC_RETRY, ERR_HELD, target->queue, hint, "%s", what);
}

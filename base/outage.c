/* An outage is logged at its first failure and then ever more rarely, each cause by itself, so that
 * a log of a night shows the causes and not the number of tries. A cause is the kind of the error
 * and its code, without the text, which may have numbers that change each time. Only the decision
 * is here; the owner logs. */
#include "base/outage.h"

#include "base/backoff.h"

#include <stdio.h>
#include <string.h>

static struct outage_cause *cause_of(struct outage *outage, const struct err *why)
{
    char text[sizeof outage->causes[0].text];
    (void)snprintf(text, sizeof text, "%d %s", (int)why->kind, why->code);
    int i = 0;
    while (i < outage->count && strcmp(outage->causes[i].text, text) != 0)
        i++;
    if (i < outage->count || outage->count == OUTAGE_CAUSES)
        return &outage->causes[i < OUTAGE_CAUSES ? i : OUTAGE_CAUSES - 1];
    struct outage_cause *cause = &outage->causes[outage->count++];
    *cause = (struct outage_cause){0};
    memcpy(cause->text, text, sizeof text);
    return cause;
}

bool outage_must_log(struct outage *outage, const struct err *why, int64_t now_us)
{
    if (outage->since_us == 0)
        outage->since_us = now_us;
    struct outage_cause *cause = cause_of(outage, why);
    if (now_us < cause->due_us)
        return false;
    cause->wait_ms = backoff_next(cause->wait_ms, OUTAGE_FIRST_MS, OUTAGE_LAST_MS);
    cause->due_us = now_us + 1000LL * cause->wait_ms;
    return true;
}

bool outage_over(struct outage *outage, int64_t now_us, int64_t *ret_ms)
{
    /* A failure of less than a second was logged once, and its end is no news. */
    bool worth = outage->since_us != 0 && now_us - outage->since_us >= 1000LL * OUTAGE_FIRST_MS;
    if (worth)
        *ret_ms = (now_us - outage->since_us) / 1000;
    *outage = (struct outage){0};
    return worth;
}

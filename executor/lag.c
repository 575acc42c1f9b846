/* Numbers for people: the group lockstep.QUEUE on the broker, and the end of the topic in the
 * executor's row. No executor reads either of them. */
#include "executor/lag.h"

#include "executor/alive.h"
#include "executor/counts.h"
#include "executor/lane.h"
#include "kafka/source.h"

#define EVERY_US (1000 * 1000)

/* The position that is to be committed now, -1: nothing new. */
static int64_t unsent(const struct lane *lane)
{
    if (lane->stream.source == NULL || lane->stream.state != SOURCE_READING)
        return -1;
    int64_t position =
        stream_at_end(&lane->stream) ? kafka_source_end(lane->stream.source) : lane->stream.cursor;
    return position == lane->lag.sent ? -1 : position;
}

void lag_seen(struct lag *lag, int64_t high)
{
    lag->high = high;
}

/* The end that the consumer saw with its last fetch counts, unless it fetches nothing: then the end
 * that the last check of the topic saw. */
static void report_end(struct lane *lane)
{
    int64_t low, high = -1;
    if (lane->stream.source != NULL)
        kafka_source_watermarks(lane->stream.source, &low, &high);
    lane->lag.high = high > lane->lag.high ? high : lane->lag.high;
    bool claimed =
        stream_at_end(&lane->stream) && kafka_source_end(lane->stream.source) >= lane->lag.high;
    int64_t end = claimed ? lane->stream.cursor : lane->lag.high;
    alive_end(lane->ex->services.alive, (int)(lane - lane->ex->lanes), end);
    if (end >= 0)
        counts_high(lane, end);
}

/* Once a second at most, and only if the position has changed: a commit of offsets is a request to
 * a broker. */
void lag_publish(struct lane *lane)
{
    report_end(lane);
    int64_t position = unsent(lane);
    if (position < 0 || lane->ex->turn.now_us - lane->lag.sent_us < EVERY_US)
        return;
    STR_AUTO group = {0};
    str_format(&group, "lockstep.%s", lane->queue.name);
    kafka_source_publish_lag(lane->stream.source, group.data, position);
    lane->lag.sent = position;
    lane->lag.sent_us = lane->ex->turn.now_us;
}

int64_t lag_due_us(const struct lane *lane)
{
    return unsent(lane) >= 0 ? lane->lag.sent_us + EVERY_US : 0;
}

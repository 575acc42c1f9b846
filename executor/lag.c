/* lag: the cursor is committed to a consumer group now and then, for tools that show how far behind a queue is. */
#include "executor/lag.h"

#include "executor/lane.h"
#include "kafka/source.h"

#define EVERY_US (1000 * 1000)

/* What they are to be told now, -1: nothing new. */
static int64_t news(const struct lane *lane)
{
    if (lane->stream.source == NULL || lane->stream.state != SOURCE_READING)
        return -1;
    int64_t position =
        stream_at_end(&lane->stream) ? kafka_source_end(lane->stream.source) : lane->stream.cursor;
    return position == lane->lag_sent ? -1 : position;
}

void lag_publish(struct lane *lane)
{
    int64_t position = news(lane);
    if (position < 0 || lane->ex->now_us - lane->lag_sent_us < EVERY_US)
        return;
    STR_AUTO group = {0};
    str_format(&group, "lockstep.%s", lane->name);
    kafka_source_publish_lag(lane->stream.source, group.data, position);
    lane->lag_sent = position;
    lane->lag_sent_us = lane->ex->now_us;
}

int64_t lag_due_us(const struct lane *lane)
{
    return news(lane) >= 0 ? lane->lag_sent_us + EVERY_US : 0;
}

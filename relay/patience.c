/* How long the relay waits for Kafka once it is asked to stop. Each wait is shortened to the time
 * that is left, because a broker that does not answer would keep the executor from ending
 * (tests/e2e/relay_stop.sh). */
#include "relay/relaying.h"

#include "base/clock.h"

bool relay_out_of_time(const struct relay *relay)
{
    return relay->until_us != 0 && clock_boot_us() >= relay->until_us;
}

int relay_patience_ms(const struct relay *relay, int most_ms)
{
    int64_t left_us = relay->until_us != 0 ? relay->until_us - clock_boot_us() : INT64_MAX;
    return left_us >= most_ms * 1000LL ? most_ms : left_us > 1000 ? (int)(left_us / 1000) : 1;
}

void relay_close(const struct relay *relay, struct kafka_producer **producer)
{
    if (relay_out_of_time(relay))
        return;
    kafka_producer_close(*producer);
    *producer = NULL;
}

/* When to try for another slot, and when to give up waiting for one. Slots are taken and returned
 * in execute.c; the protocol of lock and row is phaselock/slot.h. A try that fails is repeated when
 * a notification says that a slot is free, and once a second in any case: an executor that was
 * killed notifies no other. */
#include "executor/slots.h"

#include "base/clock.h"

#define STARVED_US (100 * 1000)  /* startable work is returned when no slot came for so long */
#define WANTED_US  (1000 * 1000) /* other executors lack slots for so long */
#define AGAIN_US   (1000 * 1000) /* a notification comes before, unless its sender died */

void slots_hold(struct slots *slots, int more)
{
    slots->held += more;
}

void slots_tried(struct slots *slots, bool enough, int64_t now_us)
{
    if (enough) {
        slots->starved_us = 0;
        return;
    }
    slots->after_us = now_us + AGAIN_US;
    if (slots->starved_us == 0)
        slots->starved_us = now_us;
}

void slots_try_again(struct slots *slots)
{
    slots->after_us = 0;
}

void slots_suffice(struct slots *slots)
{
    slots->starved_us = 0;
}

bool slots_starve(struct slots *slots, int64_t now_us)
{
    bool starved = slots->starved_us != 0 && now_us - slots->starved_us >= STARVED_US;
    if (starved)
        slots->starved_us = now_us;
    return starved;
}

void slots_want(struct slots *slots, int64_t now_us)
{
    slots->wanted_us = now_us;
}

bool slots_wanted(const struct slots *slots, int64_t now_us)
{
    return slots->wanted_us != 0 && now_us - slots->wanted_us < WANTED_US;
}

int64_t slots_due_us(const struct slots *slots, int64_t now_us, bool draining)
{
    int64_t again_us = slots->after_us > now_us ? slots->after_us : 0;
    int64_t starved_us = slots->starved_us != 0 && !draining ? slots->starved_us + STARVED_US : 0;
    return clock_earlier_us(again_us, starved_us);
}

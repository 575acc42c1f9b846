/* kind: how far the relay of one topic is. Only the functions here write these fields, so each
 * change of state has one name: settled, sent, doubted, continuing, in trouble. The steps that call
 * them are in batch.c, settle.c, enqueue.c and relay.c. */
#include "relay/relaying.h"

#include "base/clock.h"

void kind_settled(struct relay_kind *kind, int64_t sent_seq, int64_t next_offset)
{
    kind_sent(kind, sent_seq, next_offset);
    kind->settled = true;
}

void kind_sent(struct relay_kind *kind, int64_t sent_seq, int64_t next_offset)
{
    kind->sent_seq = sent_seq;
    kind->next_offset = next_offset;
}

void kind_doubted(struct relay_kind *kind)
{
    kind->settled = false;
}

void kind_continues(struct relay_kind *kind, int64_t after_us)
{
    kind->again = true;
    kind->after_us = after_us;
}

void kind_begins(struct relay_kind *kind)
{
    kind->again = false;
}

void kind_waits(struct relay_kind *kind, int backoff_ms)
{
    kind->backoff_ms = backoff_ms;
    /* 0: not in trouble, and due at once. */
    kind->after_us = backoff_ms > 0 ? clock_boot_us() + (int64_t)backoff_ms * 1000 : 0;
}

/* Records that are made and not yet given to librdkafka: one call takes many, because each call
 * costs a lock of librdkafka's queue (bench/notes/publish.md). The bound on bytes limits what a
 * process holds twice, here and in librdkafka, which copies the values. */
#include "producer/outbox.h"

#define OUTBOX_BYTES (256 * 1024)

void outbox_keep(struct outbox *outbox)
{
    outbox->ends[outbox->count++] = outbox->text.len;
}

bool outbox_is_full(const struct outbox *outbox)
{
    return outbox->count == KAFKA_MOST_VALUES || outbox->text.len >= OUTBOX_BYTES;
}

enum rc outbox_send(struct outbox *outbox, struct kafka_producer *producer,
                    const struct target *target, struct err *err)
{
    struct kafka_value values[KAFKA_MOST_VALUES];
    for (int i = 0; i < outbox->count; i++) {
        size_t start = i > 0 ? outbox->ends[i - 1] : 0;
        values[i] = (struct kafka_value){outbox->text.data + start, outbox->ends[i] - start};
    }
    enum rc rc = kafka_publish_values(producer, target->topic, target->partition, values,
                                      outbox->count, err);
    outbox_clear(outbox);
    return rc;
}

void outbox_clear(struct outbox *outbox)
{
    str_clear(&outbox->text);
    outbox->count = 0;
}

void outbox_done(struct outbox *outbox)
{
    str_done(&outbox->text);
}

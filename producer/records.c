/* The tags of the next record (seq, previous order), and two positions: `next` is behind the
 * records that were made, `committed` behind those that the topic has. After a failure `next` goes
 * back to `committed` (records_rewind). */
#include "producer/records.h"

#include "task/message.h"
#include "task/message_text.h"

struct records records_none(void)
{
    return (struct records){.first_offset = -1, .last_offset = -1};
}

void records_begin(struct records *records, int64_t end_offset)
{
    records->settled_offset = end_offset - 1;
}

/* The name and the policy of a run travel in its first record, so that the run can be made again
 * from the topic alone. There is room for the policy with every task: it and the tags with seq 0
 * are shorter than MESSAGE_TAG_BYTES. */
static bool tag_first(const struct records *records, const struct run *run, size_t limit,
                      const struct staged_task *task, struct str *out)
{
    size_t start = out->len;
    message_tag_first(out, task->text, task->len, run->id, records->previous_order, run->name,
                      run->on_failure);
    if (out->len - start <= limit + MESSAGE_TAG_BYTES)
        return true;
    str_cut(out, start);
    message_tag_first(out, task->text, task->len, run->id, records->previous_order, NULL,
                      run->on_failure);
    return false;
}

bool records_tag(struct records *records, const struct run *run, size_t limit,
                 const struct staged_task *task, struct str *out)
{
    if (task->order != records->order) {
        records->previous_order = records->order;
        records->order = task->order;
        records->next.phases++;
    }
    if (records->next.seq == 0)
        return tag_first(records, run, limit, task, out);
    message_tag(out, task->text, task->len, run->id, records->next.seq, records->previous_order);
    return true;
}

void records_add(struct records *records, const char *record, size_t len)
{
    chain_add(&records->next.chain, record, len);
    records->next.seq++;
}

void records_commit(struct records *records, int64_t first_offset, int64_t last_offset)
{
    if (records->committed.seq == 0)
        records->first_offset = first_offset;
    records->last_offset = records->settled_offset = last_offset;
    records->committed = records->next;
}

void records_settle(struct records *records, int64_t seq, const struct chain *chain,
                    int64_t last_offset)
{
    records->committed.seq = seq;
    records->committed.chain = *chain;
    if (last_offset >= 0)
        records->settled_offset = records->last_offset = last_offset;
}

void records_recall(struct records *records, const struct position *there, int64_t last_offset)
{
    records->committed = *there;
    records->settled_offset = records->last_offset = last_offset;
}

void records_complete(struct records *records)
{
    records->next = records->committed;
}

bool records_meet(struct records *records)
{
    /* The topic does not have the number of phases of an unfinished run. The source, read again,
     * gives it. */
    records->committed.phases = records->next.phases;
    return records->next.seq == records->committed.seq &&
           chain_equal(&records->next.chain, &records->committed.chain);
}

void records_rewind(struct records *records)
{
    records->next = records->committed;
}

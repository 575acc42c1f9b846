/**
 * What: how far a run is on its topic: the position behind the records that were made, and the
 *   position behind those that are committed.
 * Invariants: only records.c writes the fields. next is never behind committed. committed.phases is
 *   known once the source has been read as far as committed.seq; a resumed publish reads it again
 *   from its start.
 * Threads: plain data.
 * Ownership: plain data.
 * Failure: none.
 */
#ifndef PRODUCER_RECORDS_H
#define PRODUCER_RECORDS_H

#include "producer/chain.h"
#include "producer/run.h"
#include "producer/staged.h"

/** After so many records of the run. */
struct position {
    int64_t seq; /* of the record that comes next */
    int64_t phases;
    struct chain chain; /* of the records before it */
};

struct records {
    int64_t order, previous_order; /* of the last task; 0: none yet */
    struct position next;
    struct position committed;
    int64_t settled_offset; /* what is committed of the run lies at or before it */
    int64_t first_offset;   /* of the run's records; -1: not known */
    int64_t last_offset;
};

/** Before the first record; before_offset: where the partition ends. */
struct records records_none(void);
void records_begin(struct records *records, int64_t end_offset);
/** Appends the task as the run's next record. limit: as struct target has it. false: the name of
 * the run is left out, because the first task leaves no room for it. */
MUST_CHECK bool records_tag(struct records *records, const struct run *run, size_t limit,
                            const struct staged_task *task, struct str *out);
/** The next record was made, and is sent or is on the topic already. */
void records_add(struct records *records, const char *record, size_t len);
/** All that was added is committed, and ends at last_offset; first_offset -1: not known. */
void records_commit(struct records *records, int64_t first_offset, int64_t last_offset);
/** The topic was read: this is committed. last_offset -1: nothing behind what was known. */
void records_settle(struct records *records, int64_t seq, const struct chain *chain,
                    int64_t last_offset);
/** Of a resumed run: the records that the topic has, the last of them at last_offset. */
void records_recall(struct records *records, const struct position *there, int64_t last_offset);
/** All of the run is on the topic: nothing is made again. */
void records_complete(struct records *records);
/** The records that were made again are those that are committed. */
bool records_meet(struct records *records);
/** Forgets what was added and is not committed. */
void records_rewind(struct records *records);

#endif

/**
 * What: a range of the topic as segments: records that follow each other and share kind, run, order
 *   and previous order, as a claim takes them. And the common part of a preview and a run. For the
 *   files of replay/ only.
 * Invariants: a segment holds SEGMENT_MOST records and about SEGMENT_BYTES at most. Records that
 *   the choice (run, order) leaves out are passed over.
 * Threads: one.
 * Ownership: reading owns consumer, records and messages; a segment lives until the next
 *   reading_next.
 * Failure: as kafka/consumer.h; a record that is no message is a segment of kind reject.
 */
#ifndef REPLAY_READING_H
#define REPLAY_READING_H

#include "replay/replay.h"

#include "kafka/consumer.h"
#include "kafka/source.h"
#include "task/message.h"

#define SEGMENT_MOST  256
#define SEGMENT_BYTES (1024 * 1024)

enum segment_kind { SEGMENT_TASK, SEGMENT_END, SEGMENT_REJECT };

struct decoded {
    struct kafka_record record;
    struct message *msg; /* NULL: it is none, why says it */
    char run[37];        /* "": none */
    int64_t seq;         /* -1: none */
    struct err why;
};

/** The runs met in the range: the meaning of a gap before a message depends on it. */
struct met {
    char run[37];
    bool cut; /* it began before the range, with messages that are missing, too */
};

struct reading {
    const struct replay_options *options;
    int64_t from, to, end;     /* end: where reading stopped, for good */
    int64_t first, low;        /* where the range was to begin; low: where the topic begins */
    bool latest;               /* to is the end of the topic, and was not given as a number */
    bool patient;              /* waits a moment for the end of a transaction that hides records */
    int64_t hidden, hidden_us; /* the offset from which on they are, and since when */
    bool live;                 /* executors have claimed none of the hidden records, and will */
    char run[37];              /* the choice */
    bool known;                /* it has a row */
    bool implicit;             /* the run chosen is an implicit one: its messages name none */
    int64_t order;
    int wake_fd;
    struct kafka_consumer *consumer;
    struct kafka_source *source;
    struct decoded segment[SEGMENT_MOST], ahead; /* ahead: read already, begins the next one */
    int count;
    bool has_ahead;
    size_t bytes;
    struct met *runs;
    int run_count, run_cap, *run_slots, run_slot_count;
};

/** Where the range lies, from the options: offsets, times, a run. */
MUST_CHECK enum rc reading_range(struct reading *reading, struct replay_report *report,
                                 struct err *err);
/** Records from *from on that retention has deleted are counted in the report, and *from moves
 * past them. */
MUST_CHECK enum rc reading_pass_deleted(struct reading *reading, int64_t *from,
                                        struct replay_report *report, struct err *err);
/** The range ends there and this is the choice: both are in the row of the replay. */
void reading_choose(struct reading *reading, int64_t to, const char *run, int64_t order);
/** A replay that is resumed by its number: the run's row has whether it is an implicit one. */
MUST_CHECK enum rc reading_recall(struct reading *reading, struct err *err);
MUST_CHECK enum rc reading_start(struct reading *reading, int64_t from, struct err *err);
/** RC_NONE: the range is read. */
MUST_CHECK enum rc reading_next(struct reading *reading, struct err *err);
void reading_done(struct reading *reading);

enum segment_kind reading_kind(const struct reading *reading);
const char *reading_kind_name(const struct reading *reading);
/** The entry of the segment's run, NULL if it was not met before, or the segment has none. */
struct met *reading_met(struct reading *reading);
void reading_meet(struct reading *reading, bool cut);

/** The parameters of the segment's statements that are arrays, in this order. */
enum {
    OFFSETS,
    SEQS,
    PAYLOADS,
    NAMES,
    ATTEMPTS,
    TRACES,
    KEYS,
    HEADER_OFFSETS,
    HEADER_NAMES,
    HEADER_VALUES,
    ARRAYS
};
void reading_arrays(const struct reading *reading, struct str arrays[ARRAYS]);

#endif

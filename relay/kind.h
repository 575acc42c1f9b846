/**
 * What: one topic of a queue, and how far its relay is.
 * Invariants: only kind.c writes its progress, the fields from settled to again.
 * Threads: the relay's own.
 * Ownership: its queue owns it.
 * Failure: none.
 */
#ifndef RELAY_KIND_H
#define RELAY_KIND_H

#include "base/outage.h"

#include <stdbool.h>
#include <stdint.h>

/** One topic of a queue. */
struct relay_kind {
    char name[32], topic[300];
    int partition;
    bool settled;
    int64_t sent_seq;     /* settled: up to here all is on the topic */
    int64_t next_offset;  /* settled: nothing unknown of ours before it */
    bool has_rows;        /* as relay.c read last */
    int64_t after_us;     /* not before: it was in trouble, or continues then */
    int backoff_ms;       /* 0: it is not in trouble */
    bool again;           /* nothing is wrong, but it continues only after after_us */
    bool unsure;          /* the row may still have the trouble of before */
    struct outage outage; /* which of its troubles was logged when */
    int64_t held_us;      /* enqueue: since when a publisher has the queue; 0: none has */
};

/** What is on the topic already is known up to there. */
void kind_settled(struct relay_kind *kind, int64_t sent_seq, int64_t next_offset);
/** The same, while it is settled or need not be. */
void kind_sent(struct relay_kind *kind, int64_t sent_seq, int64_t next_offset);
/** Its producer is closed: its records that are not noted are in doubt. */
void kind_doubted(struct relay_kind *kind);
/** Nothing is wrong, and it continues then; or it begins now. */
void kind_continues(struct relay_kind *kind, int64_t after_us);
void kind_begins(struct relay_kind *kind);
/** It is in trouble, and is tried again after backoff_ms; 0: it is not. */
void kind_waits(struct relay_kind *kind, int backoff_ms);

#endif

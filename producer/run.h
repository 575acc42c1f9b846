/**
 * What: the run that is published: its id, its name, its policy, and how far its publishing has
 *   come.
 *
 *     NEW ---- run_start ----> STARTED -- run_ending --> ENDING -- run_ended --> ENDED
 *      |                          ^         the end is     |    it is committed    ^
 *      '- run_found -> FOUND -----'         sent           '-----------------------'
 *         resumed         run_taken                           or found on the topic
 *
 * Invariants: only run.c writes the fields. The row of a run that is STARTED is flushed in
 *   PostgreSQL, and no record is sent before.
 * Threads: the caller's own.
 * Ownership: plain data; name is borrowed.
 * Failure: as db/db.h; ERR_USAGE: the run exists.
 */
#ifndef PRODUCER_RUN_H
#define PRODUCER_RUN_H

#include "producer/origin.h"
#include "producer/session.h"

struct records;

enum run_state { RUN_NEW, RUN_FOUND, RUN_STARTED, RUN_ENDING, RUN_ENDED };

struct run {
    char id[37];
    const char *name; /* NULL: none */
    char on_failure[16];
    enum run_state state;
    int64_t tasks, phases; /* for publish_result */
    int64_t note_due_us;
    int64_t note_again_us; /* 0: the last note was written; otherwise, not before */
};

struct run run_of(const struct publish_options *options);
/** What the options leave open: the policy, and the name of a resumed run. */
void run_recall(struct run *run, const char *name, const char *on_failure);
/** The run is there and can be resumed; its records are not counted yet. */
void run_found(struct run *run);
/** Its records are counted: it is this publisher's now. */
void run_taken(struct run *run);
/** Refuses an id that the queue has already, before a long source is read. run_start decides. */
MUST_CHECK enum rc run_check_new(const struct run *run, const struct session *session,
                                 const struct target *target, struct err *err);
/** Writes the row, flushed. end_offset: where the partition ends: no record of the run lies
 * before. */
MUST_CHECK enum rc run_start(struct run *run, const struct session *session,
                             const struct target *target, const struct origin *origin,
                             int64_t end_offset, struct err *err);
void run_ending(struct run *run);
void run_ended(struct run *run);
bool run_is_started(const struct run *run);
/** What publish_result says. */
void run_count(struct run *run, int64_t tasks, int64_t phases);
/** Once a second: notes in the row what is committed. That also asks whether the lock's session
 * lives: without it nothing more may be sent. */
MUST_CHECK enum rc run_tick(struct run *run, const struct session *session,
                            const struct target *target, const struct records *records,
                            int64_t now_us, struct err *err);
int64_t run_due_us(const struct run *run);

#endif

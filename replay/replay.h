/**
 * What: replay: a second cursor over a range of a queue's topic. A preview counts the messages by
 *   the treatment that a replay would give them. A run works segment by segment in the database: it
 *   inserts rows or makes rows unfinished again, and executors adopt and run these tasks.
 * Invariants: the topic is read with assign(), read_committed, never as a group. A preview changes
 *   nothing. The cursor of a run is in lockstep.replay and moves in the transaction of its work, so
 *   a replay that continues an interrupted one does nothing twice. The database decides the
 *   treatment of each message (sql/functions/replay/). Records that an open transaction hides hold
 *   a replay back only if the queue's cursor is past them: executors claim the others. The session
 *   holds no lock of a replay when the call returns.
 * Threads: one.
 * Ownership: the caller owns options and session; replay_report_done frees a report.
 * Failure: RC_REJECT + ERR_USAGE: the range is none. RC_REJECT + ERR_FAILED: the queue is halted.
 *   RC_RETRY + ERR_HELD: another replay is under way, a later phase is at work, or an open
 *   transaction hides records that executors do not claim; finished segments stay. RC_RETRY +
 *   ERR_CANCELLED: options->cancelled is set.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "db/db.h"
#include "kafka/kafka.h"

/** Where a range begins or ends: an offset (>= 0), a time (Unix, ms), or an end of the log. */
enum replay_bound { REPLAY_EARLIEST, REPLAY_LATEST, REPLAY_OFFSET, REPLAY_TIME };
struct replay_place {
    enum replay_bound bound;
    int64_t value;
};

/** An offset, earliest or latest; false: it is none of them. A time is the database's to read. */
bool replay_place_parse(const char *text, struct replay_place *ret_place);

/** While enough phases wait to be opened: why it lasts. */
enum replay_wait {
    REPLAY_WAIT_WORK, /* executors are at work on them */
    REPLAY_WAIT_PAUSED,
    REPLAY_WAIT_NO_EXECUTOR
};
/** A sentence for people. */
const char *replay_wait_text(enum replay_wait wait);

struct replay_options {
    struct db *db;
    const struct kafka_properties *kafka;
    const char *queue, *topic;
    int queue_id, partition;
    struct replay_place from, to; /* to: the first one that is not replayed */
    const char *run;              /* "": every run; a UUID: this run only, wherever it lies */
    int64_t order;                /* of the run, this phase only; -1: all of it */
    const char *mode;             /* missing, failed, all */
    const char *reason;           /* of a replay that begins */
    int resume; /* the number of the one to continue with, 0: a new one, or the same again */
    void *context;
    /* for longer than a moment; may be NULL */
    void (*waiting)(void *context, enum replay_wait wait);
    bool (*cancelled)(void *context); /* may be NULL */
};

/** One line of the answer: so many records of this run and order, with the treatment that they get
 * (would get), and the reason. */
struct replay_line {
    char run[37];  /* "": it has none, or it cannot be known */
    int64_t order; /* 0: none */
    enum replay_look_action action;
    enum replay_look_why why;
    int64_t records;
};
/** Their words, and their meaning for people. */
const char *replay_action(const struct replay_line *line);
const char *replay_why(const struct replay_line *line);
const char *replay_meaning(const struct replay_line *line);

struct replay_report {
    int replay_id; /* 0: a preview */
    bool resumed;
    int64_t from, to, readable; /* readable < to: an open transaction holds back the rest */
    int64_t wanted; /* > to: the end that was asked for; the replay that continues ends before it */
    int64_t acted, skipped;
    /* UUIDs: acted on, and their end is neither in the range nor to come; NULL: none */
    char *open_runs;
    struct replay_line *lines;
    int count, cap;
    int *slots; /* internal: hash of lines */
    int slot_count;
};
void replay_report_done(struct replay_report *report);
/** Adds to the hint of an error how the replay continues, if there is one and a try may help. */
void replay_hint(const struct replay_report *report, const char *how, struct err *err);

MUST_CHECK enum rc replay_preview(const struct replay_options *options,
                                  struct replay_report *ret_report, struct err *err);
/** What was done until an error is in the report, too. */
MUST_CHECK enum rc replay_run(const struct replay_options *options,
                              struct replay_report *ret_report, struct err *err);
/** Gives one up that was interrupted: options->resume. */
MUST_CHECK enum rc replay_abandon(const struct replay_options *options,
                                  struct replay_report *ret_report, struct err *err);

#endif

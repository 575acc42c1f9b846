/**
 * What: when a lane asks the database for orphans: tasks that were returned, that are due for
 *   another attempt, or whose executor died. recover.c asks and adopts.
 *
 *     NOTHING ---- orphans_ask(CHECK), check_at_us ---> CHECK
 *        |                                                |
 *        |                                                | orphans_ask(ADOPT), adopt_at_us
 *        |                                                v
 *        +------- orphans_ask(ADOPT), adopt_at_us -----> ADOPT
 *
 *   The answer of the database (orphans_answered) leads from CHECK and from ADOPT to:
 *     found    state      and then
 *     BUSY     NOTHING    ADOPT in 2 ms
 *     NONE     NOTHING    ADOPT when the next orphan is due; a rest
 *     PHASE    NOTHING    as NONE, and CHECK in 2 ms: there may be another phase
 *     SOME     ADOPT      there may be more; a claim comes first
 *   Without a reader that is free (not roomy) the state does not fall: it stays CHECK or ADOPT, or
 *   becomes ADOPT with SOME.
 *
 * Invariants: only orphans.c writes the fields. In CHECK nothing new is known of closed phases. In
 *   ADOPT something has changed, so the lane asks for the orphans of a closed phase again when the
 *   phase opens (phase->passed_over). Where no reader is free, the state stays until one is, and
 *   the lane asks once in five seconds. While there is work in hand, an answer without orphans is
 *   followed by a rest.
 * Threads: control.
 * Ownership: embedded in the lane.
 * Failure: -
 */
#ifndef EXECUTOR_ORPHANS_H
#define EXECUTOR_ORPHANS_H

#include <stdbool.h>
#include <stdint.h>

enum orphans_state { ORPHANS_NOTHING, ORPHANS_CHECK, ORPHANS_ADOPT };

struct orphans {
    enum orphans_state state;
    int64_t adopt_at_us;   /* ADOPT then at the latest, 0: no timer */
    int64_t check_at_us;   /* CHECK then, 0: no timer; */
    int64_t check_us;      /* so long after a refused claim, 0: it was not refused */
    bool timed;            /* that time has come in this turn */
    int64_t ask_after_us;  /* while no reader is free: not before this, */
    int64_t rest_until_us; /* and not before this while there is work in hand */
    bool ends_due;         /* an executor died: it may have been about to record the end of a run */
    bool claims_turn; /* the newest tasks were adopted: a claim comes before the next question */
};

/** The answer of the database. */
enum orphans_found {
    ORPHANS_BUSY,  /* nothing yet: other executors are adopting */
    ORPHANS_NONE,  /* none is due */
    ORPHANS_PHASE, /* none is due, but there is a phase that no executor opens */
    ORPHANS_SOME   /* tasks, which are ours now */
};

/** The state becomes at least this. */
void orphans_ask(struct orphans *orphans, enum orphans_state state);
/** A claim was refused, and perhaps no executor opens the phase that it waits for: CHECK after a
 * while, unless the lane asks before. */
void orphans_ask_later(struct orphans *orphans, int64_t now_us);
/** The next question does not wait for a free reader. */
void orphans_ask_without_reader(struct orphans *orphans);
/** To be asked once in a turn: whether to ask the database now. roomy: there are readers for the
 * tasks that may be adopted; busy: work is in hand. */
bool orphans_due(struct orphans *orphans, int64_t now_us, bool roomy, bool busy);
/** Claims come first this time, if there is one to be made. */
bool orphans_claims_first(const struct orphans *orphans);
/** A claim had its turn. */
void orphans_claimed(struct orphans *orphans);
/** The database is asked. */
void orphans_asked(struct orphans *orphans, int64_t now_us);
/**
 * It has answered, after took_us. next_us: when the next orphan is due, 0: not known. roomy: a
 * reader was free for it, else the state stays as it was.
 */
void orphans_answered(struct orphans *orphans, enum orphans_found found, int64_t now_us,
                      int64_t took_us, int64_t next_us, bool roomy);
/** An executor died: it may have been about to record that a run has ended. */
void orphans_ask_ends(struct orphans *orphans);
/** Whether the ends of runs are to be checked now; not again then. */
bool orphans_take_ends(struct orphans *orphans);
/** When orphans_due has to be asked again, 0: not before something happens. */
int64_t orphans_due_us(const struct orphans *orphans, int64_t now_us);

#endif

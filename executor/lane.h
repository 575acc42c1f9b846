/**
 * What: the state that the control thread keeps in memory: the executor, its lanes (one per
 *   queue), the phases and tasks in their hands. For the files of executor/ only.
 * Invariants: everything here can be lost at any moment; the database knows better. All of it
 *   belongs to the control thread; readers, gates and the liveness thread get messages
 *   (base/mailbox.h) and send messages back.
 * Threads: control only, but for the two mailboxes.
 * Ownership: executor owns lanes, readers, gates; lane owns phases and buffer; phase owns its
 *   waiting work; work that a reader runs belongs to the reader until it comes back.
 * Failure: -
 */
#ifndef EXECUTOR_LANE_H
#define EXECUTOR_LANE_H

#include "action/action.h"
#include "base/str.h"
#include "base/thread.h"
#include "db/db.h"
#include "executor/claims.h"
#include "executor/event.h"
#include "executor/executor.h"
#include "executor/orphans.h"
#include "executor/slots.h"
#include "kafka/consumer.h"
#include "reader/risks.h"
#include "reader/work.h"
#include "relay/relay.h"
#include "scheduler/retention.h"
#include "task/message.h"

#define MARK_RENEW_S 3600

/** What reaches the control thread. */
enum control_mail { MAIL_WORK_DONE, MAIL_GATE, MAIL_ALIVE, MAIL_TOPIC };

/** A phase of which this executor has, or just had, tasks. */
struct phase {
    struct phase *next;
    int64_t phase_id, run_no, order;
    int64_t previous_order;    /* 0: its first, or not known */
    char run[37];              /* as its messages name it, if a claim of ours has seen one */
    int64_t previous_phase_id; /* IX on it is held by gate, 0: none */
    struct gate *gate;         /* which holds that IX; NULL: control's session does */
    bool open, shared;         /* seen open; S is held */
    int64_t definitions;       /* lockstep.definitions, read when it was open; 0: not known */
    /* orphans of it were passed over, or (less by one for each phase since then) may have been: looked for when it opens */
    int looks;
    bool nobodys; /* we own no task of it, and are to open it all the same */
    bool claimed; /* by a claim of ours, not only adopted: the buffer's head may be of it */
    struct work *waiting, **waiting_last;
    int waiting_count, running;
    int late; /* tasks of it that are in lane->late */
};

/** late.c: tasks whose rows, or whose queue's row, another session has locked: to be returned when that is over. */
struct late {
    struct work *first;
    int wait_ms; /* 0: there are none */
    int64_t at_us;
};

/** Phases that control has opened and for which lockstep.opened is to be called: of short tasks for several at once. */
#define UNTOLD_MOST 8
struct untold {
    int64_t phase_ids[UNTOLD_MOST];
    int count;
    int64_t since_us; /* the first of them */
};

/** What is recorded of a rejected record; less each time that the database refuses it (refusal.c). */
enum said {
    SAID_ALL,
    SAID_FIXED,  /* a fixed text says why */
    SAID_NOTHING /* nor its bytes, key, headers, run, seq */
};

/** One record of the topic, decoded. */
struct held {
    int64_t offset, timestamp_ms, seq;
    unsigned char digest[16];
    char *value, *key; /* owned; value is text with a NUL at its end */
    size_t value_len, key_len;
    bool tombstone; /* the record has no value at all */
    char *traceparent;
    char *headers; /* packed by headers_pack, NULL: none; only a rejected record needs them */
    size_t headers_len;
    struct message *msg; /* NULL: rejected */
    char run[37];
    struct err why; /* rejected: why */
    enum said said; /* rejected: what of it is recorded */
};

/** A run that an operator holds: nothing of it is adopted or started. */
struct held_run {
    int64_t run_no;
    char run_id[37]; /* "": the implicit run */
    bool stops;      /* nothing of it is claimed, so what lies behind it waits, too */
};

/* ASKING: the position is outside the log; the next look tells why. */
enum source_state { SOURCE_CHECKING, SOURCE_READING, SOURCE_ASKING, SOURCE_STOPPED };

/* What notifications say has changed. */
enum {
    HEARD_ANY = 1,
    HEARD_SLOT = 2,
    HEARD_WANTED = 4,
    HEARD_WORK = 8,
    HEARD_LOOK = 16,
    HEARD_RELAY = 32,
    HEARD_RELAY_AGAIN = 64,
    HEARD_CONTROL = 128,
    HEARD_CANCEL = 256
};

struct lane {
    struct executor *ex;
    const char *name;
    char topic[256], cluster_id[64];
    int queue_id, partition, max_readers, lookahead;
    bool paused, halted;
    char keep[64];  /* what the queue keeps, as in its row; "": everything */
    char keeps[64]; /* as far as retention was told */
    bool gone;      /* there is no such queue (any more): trouble.c */
    bool foreign;   /* not the server that the queue knows: nothing of it runs here (server.h) */
    /* A statement gave up for a row that another session holds: the queue is looked up and read anew from its cursor before anything else. */
    bool anew;

    /* receive */
    struct kafka_source *source;
    enum source_state state;
    int64_t check_offset, check_timestamp; /* SOURCE_CHECKING: the last claimed record */
    char check_digest[33];
    int64_t cursor;      /* as last heard */
    int64_t buffer_from; /* the buffer is complete from this offset */
    struct held *buffer; /* ring */
    int buffer_cap, buffer_first, buffer_count;
    size_t buffer_bytes;
    bool unread; /* it was full: nobody tells that there is more */
    int64_t lag_sent_us, lag_sent;

    /* identity */
    int partitions;                   /* of the topic, as the queue knows it; 0: not yet */
    int halt_no;                      /* under which what is known here was read */
    char mark[37];                    /* the topic's birthmark, */
    bool marked;                      /* which was seen there, */
    int64_t mark_age_s;               /* so long before it was read here */
    int64_t assigned_us, renew_at_us; /* the mark expires if nobody renews it */
    bool mark_trouble;                /* told that it cannot be read */
    int asked;                        /* looks asked for; older answers count no more */
    bool looked;                      /* one has come since the last assign: claims may be made */
    char unanswered[300];             /* why the last one found nothing, "": Kafka answered */
    char suspect[24];                 /* what the last look found wrong, "": nothing */
    int64_t suspect_cursor;           /* the queue's cursor then */
    int leader, outages;              /* of the partition; of the brokers, at the last look */
    int64_t held_at, held_since_us;   /* at the end there, and the log goes on; -1 */
    int64_t blocked_offset;           /* told to be blocked there, -1: not */

    /* claim */
    struct phase *phases; /* oldest first */
    bool doubtful;        /* a phase has opened of which tasks in our hands may be cancelled: ask */
    bool unjudged;        /* tasks have come that this executor may be unable to do */
    struct claims claims;
    int64_t came;     /* the last one's work->came */
    int refused_most; /* a claim was refused: at most so many messages at once, 0: it was not, */
    int64_t refused_until; /* up to this offset */
    double task_us;        /* how long a task takes: moving average, quick to rise */

    struct orphans orphans;

    /* hear and obey */
    unsigned heard;        /* not acted upon yet */
    int64_t obey_after_us; /* what operators ask for is not looked at before */
    struct held_run *held_runs;
    int held_count;

    /* slots */
    struct slots slots;
    int64_t last_run, last_order; /* of the phase of which a task came back last */

    /* share */
    int need, share; /* readers that it could use, and may */
    int64_t turn;    /* its place in the line, 0: it needs none */
    int64_t turn_us; /* since when it has had some, 0: not yet */

    struct gate *gates;
    struct untold untold;
    struct late late;
    int64_t idle_asked_us;
    bool idle_told;
};

struct reader {
    struct reader_thread *thread; /* reader.h */
    struct lane *lane;            /* whose slot it has, NULL: none */
    int slot_no, noted_pid;
    int slot_pid;              /* the backend that the slot names: on another one nothing may run */
    struct work *first, *last; /* by work->behind: handed out, in the order it runs them */
    int count;
    int64_t run_no;                   /* of its last task */
    bool refill;                      /* within hand_out, */
    struct mail *given, **given_last; /* too: what it is given */
    int64_t idle_since_us;
    bool cut_off; /* has no session, as far as control knows: cut_off.c */
};

struct executor {
    const struct executor_options *options;
    char id[37];
    int executor_no;
    struct server_memory *memory; /* server.h; outlives the incarnation */
    struct db *control;
    struct db_canceller *control_canceller;
    int patience_ms; /* for an answer on control and gate sessions */
    int64_t
        round_us; /* about the least time that a statement of control's takes: the way to the server and back */
    struct alive *alive;
    struct watcher *watcher;
    struct relay *relay;         /* NULL until there is something to relay */
    struct retention *retention; /* NULL until a queue keeps not everything */
    struct kafka_consumer *consumer;
    struct mailbox inbox;
    /* There is to be another turn at once: mail was looked at beside a claim, or adoption let a claim go first. */
    bool news;
    struct lane *lanes;
    int lane_count;
    struct reader *readers;
    int reader_count;
    int reader_limit;         /* of them, the first so many are used */
    int cut_off;              /* of these, without a session: cut_off.c */
    int64_t cut_off_again_us; /* then it is told again */
    int cut_off_wait_s;
    struct lane **line; /* share.c: the lanes that need readers, in the order of their turns */
    int sharing;        /* so many */
    int64_t turns;      /* the last one's turn */
    bool short_handed;  /* one of them should have a reader that another one has */
    bool draining, cancelled, claims_paused;
    int64_t drain_until_us;
    int64_t now_us;         /* of this turn */
    struct risks *risks;    /* risks.h; NULL: not read yet */
    int64_t risks_until_us; /* they are too old then */
    int64_t risks_after_us; /* not to be read again before */
    int unjudged;           /* tasks that were started since then without knowing */
    enum rc rc;             /* why the incarnation ends */
    struct err err;
    struct str said[4];    /* array parameters of said.c, */
    int said_count;        /* and how many elements they have */
    struct str scratch[8]; /* array parameters */
    int named;             /* works in the first two of them, see work.c */
};

/* The control thread is to wake after left_us, if it would not earlier. */
static inline void sooner_us(int *timeout_ms, int64_t left_us)
{
    int ms = left_us > 3600000000LL ? 3600000 : (int)((left_us + 999) / 1000);
    *timeout_ms = *timeout_ms < 0 || ms < *timeout_ms ? ms : *timeout_ms;
}

/* A short statement took so long: quick to fall, slow to rise. */
static inline void round_trip(struct executor *ex, int64_t us)
{
    ex->round_us =
        ex->round_us == 0 || us < ex->round_us ? us : ex->round_us + (us - ex->round_us) / 16;
}

/* receive.c */
MUST_CHECK enum rc consumer_open(struct executor *ex, struct err *err);
/* All lanes are opened before the first one starts to read: what is asked of a broker waits behind the fetches there. */
MUST_CHECK enum rc lane_open(struct lane *lane, struct err *err);
MUST_CHECK enum rc lane_start(struct lane *lane, struct err *err);
/* When what opened it, or halted it, met a row that another session holds (lane->anew). */
void lane_anew(struct lane *lane);
MUST_CHECK enum rc lane_begin_anew(struct lane *lane, struct err *err);
MUST_CHECK enum rc
lane_assign(struct lane *lane,
            struct err *err); /* re-reads the queue's row, starts at its cursor */
/* The same, but the last claimed record is not there any more to be compared. */
MUST_CHECK enum rc lane_assign_unchecked(struct lane *lane, struct err *err);
/* The queue's row as it is now: sql/executor/queue.sql. */
MUST_CHECK enum rc lane_row(struct lane *lane, struct db_result **ret_row, struct err *err);
MUST_CHECK enum rc lane_reread(struct lane *lane, struct err *err);
void lane_close(struct lane *lane);
MUST_CHECK enum rc receive(struct lane *lane, struct err *err);
int64_t receive_due_us(const struct lane *lane);  /* 0: nothing waits */
void lane_drop(struct lane *lane, int64_t below); /* forgets what is claimed */
MUST_CHECK enum rc lane_halt(struct lane *lane, const char *reason, const char *detail,
                             struct err *err);
bool lane_at_end(const struct lane *lane);
/* Moves the cursor over the control records at the end, once. */
MUST_CHECK enum rc lane_end(struct lane *lane, struct err *err);
static inline struct held *lane_head(struct lane *lane, int i)
{
    return &lane->buffer[(lane->buffer_first + i) % lane->buffer_cap];
}

/* lag.c: for tools that show how far behind the queue is. */
void lag_publish(struct lane *lane);
int64_t lag_due_us(const struct lane *lane); /* 0: there is nothing to tell */

/* headers.c: name, value, ... of a record in one piece of memory; then as the claim's array parameters, to be ended there. */
char *headers_pack(const struct kafka_record *record, size_t *ret_len);
void headers_arrays(const struct held *held, struct str *offsets, struct str *names,
                    struct str *values);

/* identity.c */
bool identity_known(const struct lane *lane); /* the topic was looked at since the last assign */
void identity_ask(struct lane *lane, int delay_ms);
/* The reason to halt for the cluster or the number of partitions, NULL if they are right. */
const char *identity_shape(const struct lane *lane, const char *cluster_id, int partitions,
                           struct str *detail);
MUST_CHECK enum rc identity_report(struct mail *mail, struct err *err);

/* letters.c: dead letters, and whatever else is in the outbox. Looking asks whether there is something. */
void letters_wake(struct lane *lane, enum relay_word word);
/* What the queue keeps: tells retention, if that has changed. Once it is known to be on its own server. */
void letters_keep(struct lane *lane);
MUST_CHECK enum rc letters_look(struct lane *lane, struct err *err);

/* phase.c: the phases in hand */
struct phase *phase_find(struct lane *lane, int64_t phase_id);
struct phase *phase_get(struct lane *lane, int64_t phase_id, int64_t run_no, int64_t order);
void phase_add(struct phase *phase, struct work *work);
/** The id of its run as commands take it, for log lines: asked of the database where no message has named it; "" if it does not say. */
const char *phase_run_id(struct lane *lane, const struct phase *phase, char buffer[37]);
void phase_forget_waiting(struct phase *phase);
/* The database has said whether it is open. */
void phase_seen(struct lane *lane, struct phase *phase, bool open, int64_t definitions);
/* Tasks in hand may have been cancelled: to be asked for before any starts. */
void phases_doubt(struct lane *lane);
void phases_settle(struct lane *lane); /* it was asked */
/* This executor may be unable to do tasks in hand: to be judged before any starts. */
void phases_unjudge(struct lane *lane);
void phases_judged(struct lane *lane);
/* It is not open, as far as we have seen, and we are to open it. */
static inline bool phase_gates(const struct phase *phase)
{
    return !phase->open && (phase->waiting_count > 0 || phase->nobodys);
}
/* The head of the buffer belongs to it, as far as we know. */
bool phase_is_of(const struct phase *phase, const struct held *head);
/* Of any lane, and not only to be opened by us: what nobody owns is asked for (executor_unfinished). */
bool phases_owned(const struct executor *ex);

/* claim.c */
MUST_CHECK enum rc claim(struct lane *lane, bool *ret_progress, struct err *err);
/** The cursor in the database went back: the topic is read again from there. */
MUST_CHECK enum rc claim_went_back(struct lane *lane, int64_t next_offset, struct err *err);
/* The buffer's head would be claimed now. */
bool claim_waits(struct lane *lane);
/* The buffer's head is of this phase, and will be claimed. */
bool claims_more(struct lane *lane, const struct phase *phase);

/* rejects.c */
/** How many records at the head, which is no message, are to be rejected at once; 1: by a claim. */
int rejects_segment(struct lane *lane, int most);
MUST_CHECK enum rc rejects_ask(struct lane *lane, int count, struct db_result **ret_row,
                               struct err *err);
MUST_CHECK enum rc rejects_follow(struct lane *lane, const struct db_result *row, int count,
                                  bool *ret_progress, struct err *err);
/** Logs that those of them from an offset on were rejected: others may have been somebody else's. */
void rejects_tell(struct lane *lane, int count, int64_t from);

/* refusal.c */
/** The database refused a claim of count messages, for err; it is to be tried again, with less. */
MUST_CHECK enum rc claim_refused(struct lane *lane, int count, struct err *err);
/** A claim failed: gives back the S that it may have taken. */
MUST_CHECK enum rc claim_unlock(struct executor *ex, struct err *err);
/** At most so many messages a claim, 0: as many as there are. */
int claim_most(struct lane *lane);

/* measure.c */
/* Tasks handed to one reader at a time; tasks that may start, and those that run: so many in hand; and so many of them, at least one,
 * have to be missing before it asks for more. */
#define CLAIM_MOST 256
int lane_depth(const struct lane *lane);
int lane_enough(const struct lane *lane);
int lane_worth(const struct lane *lane);

/* share.c */
void share_readers(struct executor *ex);   /* says how many each lane may use now: lane->share */
int lane_readers(const struct lane *lane); /* readers to claim for */
int startable(const struct lane *lane);    /* tasks: those that wait for a reader, */
int started(const struct lane *lane);      /* and those that readers have */
/* The phase that follows the one that worked here last is waited for, and has tasks in our hands. */
bool next_is_ours(const struct lane *lane);
/* None of our readers can come to it soon: they have long tasks of other queues. */
bool out_of_reach(const struct lane *lane);

/* gate.c */
MUST_CHECK enum rc gate(struct lane *lane,
                        struct err *err); /* asks the gates for what is not open */
MUST_CHECK enum rc gate_report(struct mail *mail, struct err *err);
void gates_wake(struct lane *lane);
void gate_release(struct phase *phase); /* gives IX of the phase before back, if a gate has it */
/* The phase that may open when S of this one is given back and that no gate waits for; NULL: none. */
struct phase *gate_behind(const struct lane *lane, const struct phase *phase);
/* What release.sql says of the next phase. */
MUST_CHECK enum rc gate_passed(struct lane *lane, const struct db_result *row, struct err *err);
/* Of phases that were opened so: by a gate that waits for nothing, so that no task waits for it, and not before it is time; all, at once. */
MUST_CHECK enum rc openings_tell(struct lane *lane, struct err *err);
MUST_CHECK enum rc openings_told(struct lane *lane, struct err *err);
int64_t openings_due_us(const struct lane *lane);
void gates_stop(struct lane *lane, bool clean);

/* execute.c */
MUST_CHECK enum rc execute(struct lane *lane, struct err *err);
/* Of all lanes, as far as it takes no statement: what may start goes to readers that have a slot for it. */
void hand_on(struct executor *ex);
/* Ends attempts that have run out of their time. */
void time_out(struct executor *ex, int *ret_timeout_ms);
MUST_CHECK enum rc mark_running(struct executor *ex, int *ret_timeout_ms, struct err *err);
MUST_CHECK enum rc slots_return(struct executor *ex, bool all, int *ret_timeout_ms,
                                struct err *err);

/* hear.c: takes in all notifications, and acts upon them once. */
MUST_CHECK enum rc hear(struct executor *ex, struct err *err);
/* What operators ask for is looked at again. */
void hear_again(struct lane *lane);
int64_t hear_due_us(const struct lane *lane); /* 0: nothing waits */

/* cut_off.c: what helps when *why is that a login was refused; else what it says itself. */
const char *login_hint(const struct err *why);
/* Readers that cannot open a session get nothing; of all of them, this executor takes no work. */
MUST_CHECK enum rc cut_off_watch(struct executor *ex, struct err *err);
/** May be used, and has a session. */
static inline bool reader_usable(const struct executor *ex, const struct reader *reader)
{
    return reader - ex->readers < ex->reader_limit && !reader->cut_off;
}
static inline int readers_usable(const struct executor *ex)
{
    return ex->cut_off < ex->reader_limit ? ex->reader_limit - ex->cut_off : 0;
}
/* All that runs is with readers that have no session: nobody will hear of it. */
bool cut_off_all_that_runs(const struct executor *ex);

/* trouble.c: what becomes of an error of a lane's own statements: RC_OK when the executor's other queues can go on, and rc if not. */
MUST_CHECK enum rc lane_confine(struct lane *lane, enum rc rc, struct err *err);
/** For explain: claims wait so long because of another session, and the queue's other work goes on. lane_is_well ends it. */
void lane_note_held(struct lane *lane, int wait_ms, const struct err *err);
/* Nothing is done for it now. */
bool lane_aside(const struct lane *lane);
int64_t lane_aside_until(const struct lane *lane); /* 0: it is not, or for good */
MUST_CHECK enum rc lane_is_well(struct lane *lane, struct err *err);

/* spare.c: attempts that end with a lost incarnation, between spare_start and spare_end; the next one tells of them. */
void spare_start(struct executor *ex, const struct err *why);
void spare_note(struct executor *ex, const struct work *work);
void spare_end(struct executor *ex);
MUST_CHECK enum rc spare_tell(struct executor *ex, struct db *db, struct err *err);

/* late.c: tasks are returned to the database; those whose rows are locked by another session are kept and returned later. */
/** A statement gave up because another session holds a row that it needs: see lock_timeout in db/packet.c. */
bool lane_row_held(enum rc rc, const struct err *err);
/** Gives unstarted works back: takes the list. */
MUST_CHECK enum rc late_return(struct lane *lane, struct work *works, struct err *err);
/** Behind a statement that was to return works, has done so for `done` of them and has answered rc: takes the list. */
MUST_CHECK enum rc late_settle(struct lane *lane, struct work *works, int64_t done, enum rc rc,
                               struct err *err);
MUST_CHECK enum rc late_send(struct lane *lane, struct err *err);
bool late_any(const struct executor *ex);
int64_t late_due_us(const struct lane *lane); /* 0: there are none */
/** spared: the incarnation is lost, see spare.c. */
void late_drop(struct lane *lane, bool spared);

/* record.c */
MUST_CHECK enum rc record(struct executor *ex, struct work *work, struct err *err);
/** The attempt has ended without a record: takes work. */
MUST_CHECK enum rc record_lost(struct lane *lane, struct work *work, struct err *err);
/** said.c: what the SQL of an attempt that has ended said is noted, and written for all that were. */
void said_note(struct executor *ex, const struct work *work);
MUST_CHECK enum rc said_write(struct executor *ex, struct err *err);
void record_completed(struct executor *ex, struct work *work); /* takes no statement */

/* beside.c: as db_run on control; while its answer is waited for, readers that are done get what waits for them. */
MUST_CHECK enum rc run_beside(struct executor *ex, const struct sql_statement *stmt,
                              const char *const *params, struct db_result **ret_result,
                              struct err *err);

/* work.c: to name works to the database: their ids and tokens in scratch[0] and [1]. */
void work_names_start(struct executor *ex);
void work_names_add(struct executor *ex, const struct work *work);
int work_names_end(struct executor *ex);                      /* how many */
void work_name(struct executor *ex, const struct work *work); /* the one */

/* release.c */
MUST_CHECK enum rc release(struct lane *lane, struct err *err);
/* Gives back what is not started and may start, but for `keep` tasks; keep -1: everything, open or not. */
MUST_CHECK enum rc give_back(struct lane *lane, int keep, struct err *err);
/* All of a run that is not started. */
MUST_CHECK enum rc give_back_run(struct lane *lane, int64_t run_no, struct err *err);

/* obey.c */
/* Which tasks in our hands are cancelled: those that are not started are dropped, the others stopped. */
MUST_CHECK enum rc obey_stops(struct lane *lane, struct err *err);
void obey_interrupt(struct executor *ex, int *ret_timeout_ms);
/* What is held, how many readers to use, whether to end. */
MUST_CHECK enum rc obey_control(struct lane *lane, struct err *err);
bool obey_holds(const struct lane *lane, const struct held *head);

/* idle.c: at the topics' ends, and nothing unfinished, here or elsewhere. Asked rarely: others may still be at work. */
MUST_CHECK enum rc idle(struct executor *ex, bool *ret_idle, struct err *err);
int64_t idle_due_us(const struct executor *ex); /* 0: not by time */

/* able.c */
/** Gives back what the configuration does not let this executor do. */
MUST_CHECK enum rc leave_unable(struct lane *lane, struct err *err);

/* recover.c */
MUST_CHECK enum rc recover(struct lane *lane, struct err *err);
MUST_CHECK enum rc recover_start(struct lane *lane, struct err *err);

#endif

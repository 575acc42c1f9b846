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
#include "db/canceller.h"
#include "db/db.h"
#include "executor/claims.h"
#include "executor/executor.h"
#include "executor/gate.h"
#include "executor/identity.h"
#include "executor/late.h"
#include "executor/orphans.h"
#include "executor/readers.h"
#include "executor/slots.h"
#include "executor/stream.h"
#include "kafka/consumer.h"
#include "reader/risks.h"
#include "reader/work.h"
#include "relay/relay.h"
#include "scheduler/retention.h"
#include "task/message.h"

/** What reaches the control thread. */
enum control_mail { MAIL_WORK_DONE, MAIL_GATE, MAIL_ALIVE, MAIL_TOPIC };

struct lane {
    struct executor *ex;
    const char *name;
    char topic[256];
    int queue_id, partition, max_readers, lookahead;
    bool paused, halted;
    char keep[64];  /* what the queue keeps, as in its row; "": everything */
    char keeps[64]; /* as far as retention was told */
    bool gone;      /* there is no such queue (any more): trouble.c */
    bool foreign;   /* not the server that the queue knows: nothing of it runs here (server.h) */
    /* The next turn reads the queue again and the topic from its cursor, before anything else: a
     * statement gave up for a row that another session holds, or the cursor went back. */
    bool reread;

    struct stream stream;
    int64_t lag_sent_us, lag_sent, lag_high; /* lag.c */

    int halt_no; /* under which what is known here was read */
    struct identity identity;

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

struct executor {
    const struct executor_options *options;
    char id[37];
    int executor_no;
    struct server_memory *memory; /* server.h; outlives the incarnation */
    struct db *control;
    struct db_canceller *control_canceller;
    int patience_ms;  /* for an answer on control and gate sessions */
    int64_t round_us; /* about the least time of a statement of control's, there and back */
    struct alive *alive;
    struct watcher *watcher;
    struct relay *relay;         /* NULL until there is something to relay */
    struct jobs *jobs;           /* NULL: this executor does not dispatch */
    struct retention *retention; /* NULL until a queue keeps not everything */
    struct kafka_consumer *consumer;
    struct mailbox inbox;
    /* There is to be another turn at once: mail was looked at beside a claim, or adoption let a
     * claim go first. */
    bool news;
    struct lane *lanes;
    int lane_count;
    struct reader *readers;
    int reader_count;
    int reader_limit;         /* of them, the first so many are used */
    int cut_off;              /* of these, without a session: cut_off.c */
    int64_t cut_off_again_us; /* then it is told again */
    int cut_off_wait_s;
    struct lane **line; /* the lanes that need readers, in the order of their turns */
    int sharing;        /* so many */
    int64_t turns;      /* the last one's turn */
    bool short_handed;  /* one of them should have a reader that another one has */
    bool draining, cancelled, claims_paused;
    int64_t drain_until_us;
    int64_t now_us;         /* of this turn */
    int64_t up_us;          /* since when the incarnation runs */
    int64_t slots_due_us;   /* when an idle reader's slot is to be returned, 0: none */
    struct risks *risks;    /* risks.h; NULL: not read yet */
    int64_t risks_until_us; /* they are too old then */
    int64_t risks_after_us; /* not to be read again before */
    int unjudged;           /* tasks that were started since then without knowing */
    struct str said[4];     /* array parameters of said.c, */
    int said_count;         /* and how many elements they have */
};

/* A short statement took so long: quick to fall, slow to rise. */
static inline void round_trip(struct executor *ex, int64_t us)
{
    ex->round_us =
        ex->round_us == 0 || us < ex->round_us ? us : ex->round_us + (us - ex->round_us) / 16;
}

#endif

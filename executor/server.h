/**
 * What: the PostgreSQL server of an executor (db_server: cluster, database, timeline), and the
 *   reaction to a change of it. After a fail-over the executor logs it and continues from the
 *   cursor of the new primary. It refuses an old primary that answers again, for as long as this
 *   process lives. A copy of the database, or another one at the same address, halts the queue
 *   until an operator accepts it.
 * Invariants: the sessions of an incarnation lead to one cluster, database and timeline. On a
 *   server that the queue does not know nothing of it is claimed, adopted, opened or run
 *   (queue.foreign). The queue's row names its server (server_system, server_database,
 *   server_timeline), and every copy of the database has that row.
 * Threads: control; server_memory belongs to it and outlives the incarnations of the process.
 * Ownership: server_open gives the session to the executor.
 * Failure: RC_LOST or RC_RETRY: to be tried again after a pause.
 */
#ifndef EXECUTOR_SERVER_H
#define EXECUTOR_SERVER_H

#include "base/outage.h"
#include "base/str.h"
#include "db/db.h"

struct executor;
struct lane;

#define SERVER_MOST_QUEUES 64

/** Attempts of an incarnation that is lost, which are not to count: spare.c. */
struct spared {
    char executor[37]; /* its id */
    bool crashed;
    int count; /* not reported to the database yet */
    bool whole;
    struct str of[3]; /* task ids, tokens, attempts */
};

/** A queue whose statements failed is set aside for a while: trouble.c. */
struct trouble {
    int64_t until_us;
    int wait_ms;    /* 0: it has none */
    bool locked;    /* another session holds a row of the queue; no statement has failed */
    bool unwritten; /* the database has no row of it: the heartbeat has its text */
};

/** What this process has seen of its server and keeps over its incarnations. */
struct server_memory {
    struct db_server server; /* system_id "": nothing yet */
    /* Of its queues, when the last incarnation ended: the cursor, -1: not known, and the
     * timeline. */
    int64_t cursors[SERVER_MOST_QUEUES];
    int64_t timelines[SERVER_MOST_QUEUES];
    struct spared spared;
    struct str needs_logged; /* able.c */
    struct trouble troubles[SERVER_MOST_QUEUES];
    struct outage outage;
    bool completed; /* the last incarnation has completed a task */
    /* The id of the latest incarnation that has inherited, "": none. Not its number, which a copy
     * may give to another. */
    char predecessor[37];
};
void server_memory_init(struct server_memory *memory);
void server_memory_done(struct server_memory *memory);
/** An incarnation is lost, or did not come up: logged ever less often while it continues. */
void server_outage(struct server_memory *memory, const struct err *why);
#define LIVED_US (1000 * 1000) /* an incarnation that ends sooner is followed by a longer pause */
/** Says that an outage is over when the incarnation has lived for LIVED_US. */
void server_lives(struct executor *ex);
int64_t server_due_us(const struct executor *ex); /* 0: there is nothing to say */

/** Opens the control session, on a server that is not older than any server seen before. */
MUST_CHECK enum rc server_open(struct executor *ex, struct err *err);
/** A row that another session holds is waited for so long that the statement gives up before the
 * session is given up. */
MUST_CHECK enum rc server_lock_timeout(struct db *db, int patience_ms, struct err *err);
/** Compares the server with the queue's row; halts the lane if it is another server, logs a
 * fail-over or a restore. The caller has read the queue's row, and so stream.cursor, before. */
MUST_CHECK enum rc server_recognise(struct lane *lane, struct err *err);
/** The incarnation ends: where its lanes were. */
void server_remember(struct executor *ex);

#endif

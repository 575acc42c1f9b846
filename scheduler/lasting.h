/**
 * What: the one session of a thread of this folder: opened when it is needed, and opened again,
 *   with growing pauses, when it was lost.
 * Invariants: it leads to the server that it was made for: DB_SAME: to no other one, because its
 *   owner has a server; DB_NOT_OLDER: also to one that was promoted meanwhile, and from then on not
 *   back to the one before.
 * Threads: the owner's own, but for lasting_sever and lasting_stop: any other one, too.
 * Ownership: borrows conninfo; db belongs to it until lasting_close.
 * Failure: the error is the caller's to log: lasting_lost and lasting_works say when.
 */
#ifndef SCHEDULER_LASTING_H
#define SCHEDULER_LASTING_H

#include "base/outage.h"
#include "base/thread.h"
#include "db/db.h"

#include <pthread.h>

struct db_canceller;

struct lasting {
    const char *conninfo;
    enum db_role role;
    enum db_match match;
    struct db_server server; /* on which it was last, or is to be */
    int patience_ms;         /* 0: no limit */
    struct db *db;           /* NULL: lost, or not open yet */
    int backoff_ms;          /* until the next try; 0: nothing is wrong */
    struct outage outage;
    pthread_mutex_t lock;
    pthread_cond_t done;         /* with lock: ended was set */
    struct db_canceller *severs; /* with lock; NULL: db is */
    _Atomic bool severed;        /* set with lock */
    bool ended;                  /* with lock */
};

/** Not open yet. server may be NULL: lasting_aim comes before each lasting_open then. */
void lasting_init(struct lasting *session, const char *conninfo, enum db_role role,
                  enum db_match match, const struct db_server *server, int patience_ms);

/** Closes it; the next lasting_open leads to that server. */
void lasting_aim(struct lasting *session, const struct db_server *server);

/** Opens it, if it is not open. */
MUST_CHECK enum rc lasting_open(struct lasting *session, struct err *err);

void lasting_close(struct lasting *session);

/** The call under way and each later one fails at once, also on a session that is opened later. */
void lasting_sever(struct lasting *session);

/** By the session's thread, as the last that it does: closes the session. */
void lasting_end(struct lasting *session);

/** Stops the session's thread, and waits for it. After STOP_MS (lasting.c) without its end the
 * session is severed. */
void lasting_stop(struct lasting *session, struct thread *thread);

/** Behind lasting_end and lasting_stop, or when no thread was started. */
void lasting_done(struct lasting *session);

/** Closes it; the pause grows. True: why is to be logged (base/outage.h): a log-in that is refused
 * after a lost connection is another cause. */
bool lasting_lost(struct lasting *session, const struct err *why);

/** It has done its work. True: something was wrong before. */
bool lasting_works(struct lasting *session);

/** Another session holds a row: this session is kept, and the statement is tried again later. */
bool lasting_held(enum rc rc, const struct err *err);
/** RC_OK instead of such an error. */
MUST_CHECK enum rc lasting_unless_held(enum rc rc, const struct err *err);

#endif

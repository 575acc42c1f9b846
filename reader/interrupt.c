/* Cancels of a reader's tasks, and the moment when its session is calm again. A request to cancel
 * travels on a connection of its own and hits the statement that its session runs when it arrives.
 * So a request is sent only while the task to be cancelled is known to be on the session, and no
 * other statement is sent there before the request has ended. When the server has closed that
 * connection, it has sent its signals, and a backend that waits for its next command swallows them.
 * They are two, one to the backend and one to its process group, so SQL that catches its cancel may
 * meet the second one. */
#include "reader/state.h"

#include "base/clock.h"
#include "db/backend.h"
#include "db/canceller.h"
#include "reader/outside.h"

#include <stdio.h>

#define REQUEST_PATIENCE_MS 2000 /* for a request to end; then its session is given up */

/* From here on control may cancel. Its clock for the time-out of the task starts here, too, and not
 * with the hand-out, when the task may wait behind others. */
void reader_alone(struct reader_thread *reader, struct work *work)
{
    (void)pthread_mutex_lock(&reader->lock);
    reader->alone = work;
    reader->acting = outside(work);
    if (reader->acting && !reader->cancelled) /* a cancelled reader gets no second request */
        action_stop_clear(&reader->stop_action);
    work->alone_since_us = clock_boot_us();
    (void)pthread_mutex_unlock(&reader->lock);
}

/* Without the lock, because a caller that asks needs it; no caller asks any more. */
static bool settled(struct reader_thread *reader)
{
    return db_cancel_wait(reader->canceller, REQUEST_PATIENCE_MS);
}

/* First no further cancel may be asked for, then the one that was is waited for. In the other order
 * a cancel could begin behind the wait and hit the statement that records the attempt. */
enum calm reader_calm(struct reader_thread *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    bool asked = reader->asked;
    reader->alone = NULL;
    reader->acting = false;
    reader->asked = false;
    (void)pthread_mutex_unlock(&reader->lock);
    if (!asked)
        return reader->worn ? CALM_NEVER : CALM_ALWAYS;
    reader->worn = !settled(reader);
    return reader->worn ? CALM_NEVER : CALM_AGAIN;
}

bool reader_session_is(struct reader_thread *reader, struct db *db)
{
    (void)pthread_mutex_lock(&reader->lock);
    db_canceller_free(reader->canceller);
    reader->canceller = db != NULL ? db_canceller_new(db) : NULL;
    reader->asked = reader->worn = false;
    if (db != NULL) {
        reader->pid = db_backend_pid(db);
        (void)snprintf(reader->backend_start, sizeof reader->backend_start, "%s",
                       db_backend_start(db));
    }
    bool lives = !reader->abandoned;
    (void)pthread_mutex_unlock(&reader->lock);
    return lives;
}

enum rc reader_disturbed(struct err *err)
{
    return err_set(err, RC_LOST, ERR_DB, "session", NULL, "a request to cancel has not ended");
}

void reader_cancel(struct reader_thread *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    reader->cancelled = true;
    action_stop_ask(&reader->stop_action, ACTION_TERMINATE);
    (void)pthread_mutex_unlock(&reader->lock);
}

/* The cancel ends the statement on the server; the severed connection ends this thread's wait, also
 * if the server never answers (tests/e2e/zombie_sessions.sh). */
void reader_abandon(struct reader_thread *reader)
{
    if (reader == NULL)
        return;
    (void)pthread_mutex_lock(&reader->lock);
    reader->cancelled = reader->abandoned = true;
    action_stop_ask(&reader->stop_action, ACTION_KILL);
    db_cancel(reader->canceller);
    db_sever(reader->canceller);
    (void)pthread_mutex_unlock(&reader->lock);
    mailbox_poke(&reader->thread.inbox); /* it may be waiting for a session */
}

/* While a command or a request runs, a cancel of the session's statement would find none, and would
 * hit the record of the attempt when it comes. So requests to stop go to stop_action then, and a
 * cancel that was sent before is waited for. */
bool reader_act(struct reader_thread *reader, bool acting)
{
    (void)pthread_mutex_lock(&reader->lock);
    bool ends = reader->cancelled || reader->alone->timed_out;
    bool asked = acting && reader->asked;
    reader->acting = acting && !ends;
    if (reader->acting)
        action_stop_clear(&reader->stop_action);
    (void)pthread_mutex_unlock(&reader->lock);
    if (asked &&
        !ends) /* if it does not, it may meet the record, which is made on another session then */
        (void)settled(reader);
    return !ends;
}

/* With the lock. An attempt outside the database has a grace of its own, and needs the session for
 * its record. */
static void interrupt(struct reader_thread *reader, bool sever)
{
    if (reader->acting) {
        action_stop_ask(&reader->stop_action, ACTION_TERMINATE);
    } else if (sever) {
        db_sever(reader->canceller);
    } else {
        reader->asked = true;
        db_cancel(reader->canceller);
    }
}

/* The lock makes the check and the request one step: without it the reader could begin the next
 * task in between, and the cancel would hit that one. A cancelled reader begins none after its next
 * look. Its session is then at most recording an end, and may wait for a row that another session
 * keeps: the end is given up with the session (lose_session). */
bool reader_interrupt(struct reader_thread *reader, const struct work *work, bool sever)
{
    (void)pthread_mutex_lock(&reader->lock);
    bool can_cut = sever && !reader->acting && reader->canceller != NULL;
    bool gives_up = can_cut && reader->cancelled;
    bool asks = reader->alone == work || work->piped || gives_up;
    if (asks)
        interrupt(reader, sever);
    reader->gives_up = reader->gives_up || gives_up;
    (void)pthread_mutex_unlock(&reader->lock);
    return asks && can_cut;
}

bool reader_time_out(struct reader_thread *reader, struct work *work, bool sever)
{
    (void)pthread_mutex_lock(&reader->lock);
    bool running = reader->alone == work;
    work->timed_out = work->timed_out || running;
    work->severed = work->severed || (running && sever && !reader->acting);
    if (running)
        interrupt(reader, sever);
    (void)pthread_mutex_unlock(&reader->lock);
    return running;
}

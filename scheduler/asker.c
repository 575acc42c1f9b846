/* Keeps SQL of users out of the dispatcher's thread: it opens a session of the tasks' login for the
 * first ask, runs one ask after the other in it, sends each back by mail, and closes the session
 * after a minute without work. scheduler/ask.c runs the statements; scheduler/dispatcher.c decides
 * what is asked. `scheduler run --once` has no dispatcher's thread and calls asker_run itself. */
#include "scheduler/asker.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/outage.h"
#include "base/thread.h"
#include "scheduler/lasting.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_MS 60000 /* a session that no ask needs */

struct asker {
    struct mailbox *owner;
    struct thread thread;
    struct lasting session;
    struct db_server of; /* for which it was opened */
    struct outage outage;
    pthread_mutex_t lock;
    struct db_server server; /* with the lock: where the next ask belongs */
};

static enum rc tasks_open(struct asker *asker, const struct db_server *server, struct err *err)
{
    const struct db_server *of = &asker->of;
    /* A promotion changes the timeline. A session with the old primary could still commit a firing
     * that the new primary does not know. */
    if (asker->session.db != NULL && of->timeline == server->timeline &&
        of->database == server->database && strcmp(of->system_id, server->system_id) == 0)
        return RC_OK;
    lasting_aim(&asker->session, server);
    asker->of = *server;
    return lasting_open(&asker->session, err);
}

void asker_run(struct asker *asker, struct ask *ask, const struct db_server *server)
{
    struct err err;
    if (tasks_open(asker, server, &err) != RC_OK) {
        /* Without a login for tasks each job with SQL fails to open the session, so the log has a
         * line for each cause in growing intervals, not for each ask. */
        if (outage_must_log(&asker->outage, &err, clock_boot_us()))
            log_err(LOG_WARN, "job_sql_refused", NULL, &err);
        ask_refuse(ask, &err);
        return;
    }
    db_patience(asker->session.db, ask_patience_ms(ask));
    enum rc rc = ask_run(asker->session.db, ask);
    if (rc != RC_OK)
        lasting_close(&asker->session);
}

static void *asker_main(void *context)
{
    struct asker *asker = context;
    bool stopping = false;
    while (!stopping) {
        struct mail *mails = thread_take(&asker->thread, &stopping), *next;
        for (; mails != NULL; mails = next) {
            next = mails->next;
            (void)pthread_mutex_lock(&asker->lock);
            /* A copy: asker_give may replace it while this ask runs. */
            struct db_server server = asker->server;
            (void)pthread_mutex_unlock(&asker->lock);
            asker_run(asker, (struct ask *)mails, &server);
            mailbox_put(asker->owner, mails);
        }
        if (stopping || thread_has_mail(&asker->thread))
            continue;
        mailbox_wait(&asker->thread.inbox, asker->session.db != NULL ? KEEP_MS : -1);
        /* The minute is over and no ask has come. An idle session would occupy a slot of
         * max_connections. */
        if (!thread_has_mail(&asker->thread) && asker->session.db != NULL)
            lasting_close(&asker->session);
    }
    lasting_close(&asker->session);
    return NULL;
}

struct asker *asker_new(const char *conninfo)
{
    struct asker *asker = xcalloc(1, sizeof *asker);
    lasting_init(&asker->session, conninfo, DB_QUERY, DB_SAME, NULL, 0);
    (void)pthread_mutex_init(&asker->lock, NULL);
    return asker;
}

void asker_free(struct asker *asker)
{
    if (asker == NULL)
        return;
    lasting_done(&asker->session);
    (void)pthread_mutex_destroy(&asker->lock);
    free(asker);
}

enum rc asker_start(const char *conninfo, struct mailbox *owner, struct asker **ret_asker,
                    struct err *err)
{
    struct asker *asker = asker_new(conninfo);
    asker->owner = owner;
    enum rc rc = thread_start(&asker->thread, "asker", asker_main, asker, err);
    if (rc == RC_OK)
        *ret_asker = asker;
    else
        asker_free(asker);
    return rc;
}

void asker_give(struct asker *asker, struct ask *ask, const struct db_server *server)
{
    (void)pthread_mutex_lock(&asker->lock);
    asker->server = *server;
    (void)pthread_mutex_unlock(&asker->lock);
    thread_send(&asker->thread, &ask->mail);
}

void asker_stop(struct asker *asker)
{
    if (asker == NULL)
        return;
    /* Its statement may be one of ten minutes. */
    lasting_sever(&asker->session);
    thread_stop(&asker->thread);
    asker_free(asker);
}

#include "scheduler/asker.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/outage.h"
#include "base/probe.h"
#include "base/thread.h"
#include "db/canceller.h"

#include <stdlib.h>

#define KEEP_MS 60000 /* a session that nobody needs */

struct asker {
    const char *conninfo;
    struct db_server server;
    struct mailbox *owner;
    struct thread thread;
    struct db *db; /* NULL: none is open */
    struct outage outage;
    pthread_mutex_t lock;
    struct db_canceller *canceller; /* with the lock; of db */
    bool cut;                       /* with the lock: asker_stop wants no more */
};

static void session_close(struct asker *asker)
{
    (void)pthread_mutex_lock(&asker->lock);
    db_canceller_free(asker->canceller);
    asker->canceller = NULL;
    (void)pthread_mutex_unlock(&asker->lock);
    db_close(asker->db);
    asker->db = NULL;
}

static enum rc session_open(struct asker *asker, struct err *err)
{
    enum rc rc = db_open_on(asker->conninfo, DB_QUERY, &asker->server, DB_SAME, &asker->db, err);
    if (rc != RC_OK)
        return rc;
    (void)pthread_mutex_lock(&asker->lock);
    asker->canceller = db_canceller_new(asker->db);
    if (asker->cut)
        db_sever(asker->canceller);
    (void)pthread_mutex_unlock(&asker->lock);
    return RC_OK;
}

static void run(struct asker *asker, struct ask *ask)
{
    struct err err;
    if (asker->db == NULL && session_open(asker, &err) != RC_OK) {
        if (outage_tells(&asker->outage, &err, clock_boot_us()))
            log_err(LOG_WARN, "job_sql_refused", NULL, &err);
        ask_refuse(ask, &err);
    } else {
        probe("ask.send");
        enum rc rc = ask_run(asker->db, ask);
        probe("ask.done");
        if (rc != RC_OK)
            session_close(asker);
    }
    mailbox_put(asker->owner, &ask->mail);
}

static void *asker_main(void *context)
{
    struct asker *asker = context;
    bool stopping = false;
    while (!stopping) {
        struct mail *mails = thread_take(&asker->thread, &stopping), *next;
        for (; mails != NULL; mails = next) {
            next = mails->next;
            run(asker, (struct ask *)mails);
        }
        if (stopping || thread_has_mail(&asker->thread))
            continue;
        mailbox_wait(&asker->thread.inbox, asker->db != NULL ? KEEP_MS : -1);
        if (!thread_has_mail(&asker->thread) && asker->db != NULL)
            session_close(asker);
    }
    session_close(asker);
    return NULL;
}

enum rc asker_start(const char *conninfo, const struct db_server *server, struct mailbox *owner,
                    struct asker **ret_asker, struct err *err)
{
    struct asker *asker = xcalloc(1, sizeof *asker);
    *asker = (struct asker){.conninfo = conninfo, .server = *server, .owner = owner};
    (void)pthread_mutex_init(&asker->lock, NULL);
    enum rc rc = thread_start(&asker->thread, "asker", asker_main, asker, err);
    if (rc == RC_OK) {
        *ret_asker = asker;
        return RC_OK;
    }
    (void)pthread_mutex_destroy(&asker->lock);
    free(asker);
    return rc;
}

void asker_give(struct asker *asker, struct ask *ask)
{
    thread_tell(&asker->thread, &ask->mail);
}

void asker_stop(struct asker *asker)
{
    if (asker == NULL)
        return;
    (void)pthread_mutex_lock(&asker->lock);
    asker->cut = true;
    if (asker->canceller != NULL)
        db_sever(asker->canceller);
    (void)pthread_mutex_unlock(&asker->lock);
    thread_stop(&asker->thread);
    (void)pthread_mutex_destroy(&asker->lock);
    free(asker);
}

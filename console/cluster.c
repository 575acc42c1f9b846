/* Holds everything of one database: web sessions, cache, event stream, metrics page, and a thread
 * that asks whether it answers. Nothing here is shared with another database, so a server that
 * hangs blocks its own requests only. console/clusters.c has the list; console/console.c finds the
 * database of a request. */
#include "console/cluster.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/openapi.h"
#include "console/visitor_make.h"
#include "metrics/page.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A person for whom the list is made, and whose groups were read too long ago. */
struct listed {
    struct mail mail;
    struct visitor *visitor; /* held */
};

struct cluster {
    const char *name;
    struct api api;
    struct stream_hooks hooks;
    _Atomic int requests;
    struct thread thread;
    struct visitor *own;  /* the console's login; the thread's */
    pthread_mutex_t lock; /* of the fields below */
    pthread_cond_t answered;
    bool asked, up;
    int64_t answered_us; /* 0: it was never asked */
    struct str figures;
};

/* Called every ten seconds by the stream's thread: a cluster needs no timer of its own. */
static void tick(void *context)
{
    struct cluster *cluster = context;
    sessions_sweep(cluster->api.sessions);
    cache_tidy(cluster->api.cache);
}

static void news(void *context)
{
    struct cluster *cluster = context;
    cache_news(cluster->api.cache);
}

static bool may(void *context, struct visitor *visitor)
{
    struct cluster *cluster = context;
    return sessions_may(cluster->api.sessions, visitor);
}

/* A person who has lost the right to look has no session afterwards. answers: the database has just
 * answered: one that hangs is not asked, because a statement without an answer loses the person's
 * session. */
static void check_all(struct cluster *cluster, struct mail *mail, bool answers)
{
    for (struct mail *next; mail != NULL; mail = next) {
        struct listed *listed = (struct listed *)mail;
        next = mail->next;
        if (answers)
            (void)sessions_may(cluster->api.sessions, listed->visitor);
        visitor_release(listed->visitor);
        free(listed);
    }
}

/* Without the lock while the statements run, which may take as long as a database that hangs lets
 * them: requests for the list do not wait here. The people are checked before the answer is known,
 * because the list that waits for it looks for their sessions then. */
static void read_figures(struct cluster *cluster, struct mail *people)
{
    struct err err = {0};
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = visitor_run(cluster->own, NULL, &sql_console_cluster, NULL, &result, &err);
    check_all(cluster, people, rc == RC_OK);
    (void)pthread_mutex_lock(&cluster->lock);
    cluster->asked = false;
    cluster->up = rc == RC_OK;
    cluster->answered_us = clock_boot_us();
    str_clear(&cluster->figures);
    if (rc == RC_OK)
        str_text(&cluster->figures, db_text(result, 0, CONSOLE_CLUSTER_DOCUMENT));
    (void)pthread_cond_broadcast(&cluster->answered);
    (void)pthread_mutex_unlock(&cluster->lock);
}

static bool is_asked(struct cluster *cluster)
{
    (void)pthread_mutex_lock(&cluster->lock);
    bool asked = cluster->asked;
    (void)pthread_mutex_unlock(&cluster->lock);
    return asked;
}

static void *cluster_main(void *context)
{
    struct cluster *cluster = context;
    bool stopping = false;
    while (!stopping) {
        struct mail *people = thread_take(&cluster->thread, &stopping);
        if (!stopping && (people != NULL || is_asked(cluster)))
            read_figures(cluster, people);
        else
            check_all(cluster, people, false);
        /* A poke between is_asked and this wait is not lost: the mailbox stays readable until it is
         * emptied. */
        if (!stopping && !thread_has_mail(&cluster->thread))
            mailbox_wait(&cluster->thread.inbox, -1);
    }
    return NULL;
}

static void send(struct cluster *cluster, struct visitor *visitor)
{
    struct listed *listed = xcalloc(1, sizeof *listed);
    listed->visitor = visitor_hold(visitor);
    thread_send(&cluster->thread, &listed->mail);
}

void cluster_ask(struct cluster *cluster, struct visitor *visitor, int64_t known_us)
{
    (void)pthread_mutex_lock(&cluster->lock);
    /* Only the list and readyz ask: otherwise the database gets no statement. */
    bool due = !cluster->asked &&
               (cluster->answered_us == 0 || clock_boot_us() - cluster->answered_us > known_us);
    /* The list has no figures of a database that did not answer: there is nothing to check. */
    bool check = (due || cluster->up) && visitor != NULL && sessions_due(visitor);
    cluster->asked = cluster->asked || due || check; /* check: the list waits for it */
    (void)pthread_mutex_unlock(&cluster->lock);
    if (check)
        send(cluster, visitor);
    else if (due)
        mailbox_poke(&cluster->thread.inbox);
}

/* With the lock. False: until_us came before an answer. */
static bool wait_until(struct cluster *cluster, int64_t until_us)
{
    int64_t left_us = until_us - clock_boot_us();
    if (left_us <= 0)
        return false;
    struct timespec until = condition_until(left_us);
    return pthread_cond_timedwait(&cluster->answered, &cluster->lock, &until) == 0;
}

/* With the lock. Whether the database is asked and no answer has come since before_us. Another
 * request may ask again before one that has waited for the answer sees it. */
static bool is_silent(const struct cluster *cluster, int64_t before_us)
{
    return cluster->asked && cluster->answered_us == before_us;
}

bool cluster_answers(struct cluster *cluster, int64_t until_us, struct str *figures)
{
    (void)pthread_mutex_lock(&cluster->lock);
    int64_t before_us = cluster->answered_us;
    /* A database that did not answer the last time is not waited for: otherwise each
     * list would take the whole second while one is down. A later list shows that it is back. */
    while (is_silent(cluster, before_us) && (cluster->up || before_us == 0) &&
           wait_until(cluster, until_us))
        ;
    /* It is still being asked, so it counts as down from now on. */
    if (is_silent(cluster, before_us)) {
        cluster->up = false;
        cluster->answered_us = clock_boot_us();
    }
    bool up = cluster->up;
    if (up)
        str_add(figures, cluster->figures.data, cluster->figures.len);
    (void)pthread_mutex_unlock(&cluster->lock);
    return up;
}

const char *cluster_name(const struct cluster *cluster)
{
    return cluster->name;
}

const struct api *cluster_api(const struct cluster *cluster)
{
    return &cluster->api;
}

bool cluster_enter(struct cluster *cluster)
{
    /* Counted first, checked then: with a check before the count two threads could both take the
     * last place. */
    if (cluster->requests++ < CLUSTER_REQUESTS)
        return true;
    cluster->requests--;
    return false;
}

void cluster_leave(struct cluster *cluster)
{
    cluster->requests--;
}

static void made(struct cluster *cluster)
{
    condition_init(&cluster->answered);
    (void)pthread_mutex_init(&cluster->lock, NULL);
}

/* The stream first: its thread uses sessions, cache and hooks. */
static void forget(struct cluster *cluster)
{
    stream_stop(cluster->api.stream);
    page_close(cluster->api.page);
    sessions_free(cluster->api.sessions);
    cache_free(cluster->api.cache);
    openapi_free(cluster->api.openapi);
    visitor_release(cluster->own);
    str_done(&cluster->figures);
    (void)pthread_cond_destroy(&cluster->answered);
    (void)pthread_mutex_destroy(&cluster->lock);
    free(cluster);
}

enum rc cluster_open(const struct cluster_options *options, struct cluster **ret_cluster,
                     struct err *err)
{
    struct cluster *cluster = xcalloc(1, sizeof *cluster);
    const char *conninfo = options->sessions.conninfo;
    *cluster = (struct cluster){.name = options->name, .api = *options->common};
    made(cluster);
    /* No statement yet: a session is opened by the first question, so the console starts while this
     * database is down. */
    cluster->own = visitor_new("clusters", LEVEL_MONITOR, conninfo);
    cluster->api.sessions = sessions_new(&options->sessions);
    cluster->api.cache = cache_new();
    cluster->api.openapi = openapi_new();
    cluster->hooks =
        (struct stream_hooks){.tick = tick, .may = may, .news = news, .context = cluster};
    const struct page_options page = {.conninfo = conninfo, .server = options->server};
    enum rc rc = page_open(&page, &cluster->api.page, err);
    if (rc == RC_OK)
        rc = stream_start(conninfo, &cluster->hooks, &cluster->api.stream, err);
    if (rc == RC_OK)
        rc = thread_start(&cluster->thread, "cluster", cluster_main, cluster, err);
    if (rc == RC_OK)
        *ret_cluster = cluster;
    else
        forget(cluster);
    return rc;
}

void cluster_close(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    thread_stop(&cluster->thread);
    forget(cluster);
}

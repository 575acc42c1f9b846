/* Answers /metrics and /readyz. Begin with page_text() and page_main(). A thread of its own has the
 * session: a scrape asks it for a reading (lock_fresh), it reads and publishes, and all scrapes
 * that wait meanwhile take the same answer, which is good for a second. A database that does not
 * answer costs a scrape two seconds and hides no number of the process (bench/notes/metrics.md). */
#include "metrics/page.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/outage.h"
#include "base/thread.h"
#include "metrics/names.h"
#include "metrics/process.h"
#include "metrics/tally_text.h"
#include "metrics/text.h"

#include <pthread.h>
#include <stdlib.h>

/* JOBS_MS: the second statement reads the times of all jobs and is much slower. When it fails, the
 * time to the next one doubles, up to JOBS_MOST times this one, and the page shows the numbers of
 * before for JOBS_OLD times this one. PATIENCE_MS is longer than WAIT_S: a slow answer comes too
 * late for this scrape and serves the next one. */
#define FRESH_US    (1000 * 1000)
#define JOBS_MS     (10 * 1000)
#define JOBS_MOST   16
#define JOBS_OLD    3
#define WAIT_S      2
#define PATIENCE_MS 5000

struct page {
    const char *conninfo;
    bool any_server;
    struct db_server server; /* unless any */
    const struct tally *tally;
    struct thread thread;
    struct db *db; /* the thread's; NULL: lost, or not open yet */
    struct outage outage;
    int jobs_ms;          /* how often it reads those of jobs */
    int jobs_wait_ms;     /* they could not be read: how long it waits; 0: they could */
    int64_t jobs_us;      /* when it read them last; 0: not yet */
    int64_t jobs_due_us;  /* when it does again */
    bool jobs_awaited;    /* a page has waited for those of jobs */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t read;
    bool asked;        /* the thread is to read, or reads */
    bool up;           /* the last reading brought something */
    int64_t read_us;   /* when it ended, 0: there was none */
    struct str text;   /* what it brought */
    struct str jobs;   /* what was brought of jobs, then or before */
    struct str reason; /* why it brought nothing */
};

/* What the topic has beyond the queue's cursor. */
static void lag(const struct page *page, const char *queue, int64_t cursor, bool *begun,
                struct str *text)
{
    int64_t high = tally_queue_high(page->tally, queue);
    if (high < 0)
        return;
    if (!*begun)
        text_family(text, "lockstep_queue_lag_messages");
    *begun = true;
    /* The two come from different moments: a cursor that is newer than the watermark is no negative
     * lag. */
    text_number(text, "lockstep_queue_lag_messages", &(const struct text_labels){{queue}},
                high > cursor ? (double)(high - cursor) : 0);
}

static void installation(const struct page *page, const struct db_result *rows, struct str *text)
{
    const char *before = "";
    bool lag_begun = false;
    for (int i = 0; i < db_rows(rows); i++) {
        const char *metric = db_text(rows, i, METRICS_INSTALLATION_METRIC);
        /* A metric of the installation has two labels at most; NULL: it does not have this one. */
        const char *values[2] = {NULL, NULL};
        int columns[2] = {METRICS_INSTALLATION_FIRST, METRICS_INSTALLATION_SECOND};
        for (int c = 0; c < 2; c++)
            if (!db_null(rows, i, columns[c]))
                values[c] = db_text(rows, i, columns[c]);
        if (str_same(metric, "cursor")) {
            lag(page, values[0], db_int(rows, i, METRICS_INSTALLATION_VALUE), &lag_begun, text);
            continue;
        }
        /* The statement returns the rows of one metric one behind the other, and the format wants
         * the samples of a family together. */
        if (!str_same(metric, before))
            text_family(text, metric);
        before = metric;
        text_sample(text, metric, "", &(const struct text_labels){{values[0], values[1]}}, NULL,
                    db_text(rows, i, METRICS_INSTALLATION_VALUE));
    }
}

/* One family, of the jobs that have the value. */
static void job_times(const struct db_result *rows, const char *name, int column, struct str *text)
{
    bool begun = false;
    for (int i = 0; i < db_rows(rows); i++) {
        if (db_null(rows, i, column))
            continue;
        if (!begun)
            text_family(text, name);
        begun = true;
        text_sample(text, name, "",
                    &(const struct text_labels){{db_text(rows, i, METRICS_JOBS_JOB)}}, NULL,
                    db_text(rows, i, column));
    }
}

static void jobs_text(const struct db_result *rows, struct str *text)
{
    job_times(rows, "lockstep_job_last_success_timestamp_seconds", METRICS_JOBS_SUCCESS, text);
    job_times(rows, "lockstep_job_created_timestamp_seconds", METRICS_JOBS_CREATED, text);
}

static enum rc read_numbers(struct page *page, struct str *text, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = RC_OK;
    if (page->db == NULL) {
        rc = page->any_server ? db_open(page->conninfo, DB_METRICS, &page->db, err)
                              : db_open_on(page->conninfo, DB_METRICS, &page->server, DB_NOT_OLDER,
                                           &page->db, err);
        if (rc == RC_OK)
            db_patience(page->db, PATIENCE_MS);
    }
    if (rc == RC_OK)
        rc = db_run(page->db, &sql_metrics_installation, NULL, &rows, err);
    if (rc == RC_OK)
        installation(page, rows, text);
    return rc;
}

/* The numbers of before stay for some time. After that a page shows none of them: the last success
 * of a day ago would hide that a job has succeeded since. The statement is sent less and less
 * often, because it may be the one that makes the database slow. */
static void jobs_failed(struct page *page)
{
    page->jobs_wait_ms = backoff_next(page->jobs_wait_ms, page->jobs_ms, JOBS_MOST * page->jobs_ms);
    page->jobs_due_us = clock_boot_us() + page->jobs_wait_ms * 1000LL;
    if (clock_boot_us() - page->jobs_us < JOBS_OLD * page->jobs_ms * 1000LL)
        return;
    (void)pthread_mutex_lock(&page->lock);
    str_clear(&page->jobs);
    (void)pthread_mutex_unlock(&page->lock);
}

/* Of ten thousand jobs that takes longer than all the rest, and changes less: no page waits for
 * it but the first. RC_NONE: they are not due, and the last reading failed. */
static enum rc read_jobs(struct page *page, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    if (clock_boot_us() < page->jobs_due_us)
        return page->jobs_wait_ms == 0 ? RC_OK : RC_NONE;
    enum rc rc = db_run(page->db, &sql_metrics_jobs, NULL, &rows, err);
    if (rc != RC_OK) {
        jobs_failed(page);
        return rc;
    }
    page->jobs_us = clock_boot_us();
    page->jobs_due_us = page->jobs_us + page->jobs_ms * 1000LL;
    page->jobs_wait_ms = 0;
    (void)pthread_mutex_lock(&page->lock);
    str_clear(&page->jobs);
    jobs_text(rows, &page->jobs);
    (void)pthread_mutex_unlock(&page->lock);
    return rc;
}

/* Logged when it begins and when it is over, however often it is asked for meanwhile. */
static void note(struct page *page, enum rc rc, const struct err *err)
{
    int64_t lasted_ms;
    if (rc == RC_NONE) /* the numbers of jobs are not due, and failed before */
        return;
    if (rc == RC_OK) {
        if (outage_over(&page->outage, clock_boot_us(), &lasted_ms))
            log_event(LOG_INFO, "metrics_are_back", "lasted_ms", LOG_INT(lasted_ms), NULL);
        return;
    }
    if (outage_must_log(&page->outage, err, clock_boot_us()))
        log_err(LOG_WARN, "metrics_not_read", NULL, err);
    /* Also a session that may be intact: opening costs little, and a doubtful one could cost each
     * scrape its patience. */
    db_close(page->db);
    page->db = NULL;
}

/* Hands the text, or the reason why there is none, to all waiting scrapes at once. */
static void publish(struct page *page, enum rc rc, const struct str *text, const struct err *err)
{
    (void)pthread_mutex_lock(&page->lock);
    page->asked = false;
    page->up = rc == RC_OK;
    page->read_us = clock_boot_us();
    str_clear(&page->text);
    str_clear(&page->reason);
    if (rc == RC_OK)
        str_add(&page->text, text->data, text->len);
    else
        str_format(&page->reason, "%s%s%s", err->object, *err->object ? ": " : "", err->message);
    (void)pthread_cond_broadcast(&page->read);
    (void)pthread_mutex_unlock(&page->lock);
}

static bool is_asked(struct page *page)
{
    (void)pthread_mutex_lock(&page->lock);
    bool asked = page->asked;
    (void)pthread_mutex_unlock(&page->lock);
    return asked;
}

/* One reading. Numbers of jobs that cannot be read are no reason to leave out the others. */
static void read_all(struct page *page)
{
    struct err err = {0};
    STR_AUTO text = {0};
    enum rc rc = read_numbers(page, &text, &err), jobs_rc = rc;
    /* A page without the numbers of jobs would look as if there were no jobs, so the first one
     * waits for them; later pages show the ones before. */
    bool first = rc == RC_OK && !page->jobs_awaited;
    page->jobs_awaited = page->jobs_awaited || first;
    if (first)
        jobs_rc = read_jobs(page, &err);
    publish(page, rc, &text, &err);
    if (rc == RC_OK && !first)
        jobs_rc = read_jobs(page, &err);
    note(page, jobs_rc, &err);
}

static void *page_main(void *context)
{
    struct page *page = context;
    for (bool stopping = false;;) {
        mailbox_wait(&page->thread.inbox, -1);
        (void)thread_take(&page->thread, &stopping);
        if (stopping)
            break;
        if (is_asked(page))
            read_all(page);
    }
    db_close(page->db);
    return NULL;
}

static bool fresh(const struct page *page)
{
    return page->read_us != 0 && clock_boot_us() - page->read_us < FRESH_US;
}

/* Returns with the lock held; true: the text is at most a second old. The first caller asks, all
 * later ones wait for the same reading. */
static bool lock_fresh(struct page *page)
{
    struct timespec until = condition_until(WAIT_S * 1000000LL);
    (void)pthread_mutex_lock(&page->lock);
    while (!fresh(page)) {
        if (!page->asked) {
            page->asked = true;
            mailbox_poke(&page->thread.inbox);
        }
        if (pthread_cond_timedwait(&page->read, &page->lock, &until) != 0)
            break;
    }
    return fresh(page);
}

void page_text(struct page *page, struct str *text)
{
    bool is_fresh = lock_fresh(page), up = is_fresh && page->up;
    if (up) {
        str_add(text, page->text.data, page->text.len);
        str_add(text, page->jobs.data, page->jobs.len);
    }
    (void)pthread_mutex_unlock(&page->lock);
    text_family(text, "lockstep_database_up");
    text_number(text, "lockstep_database_up", NULL, up ? 1 : 0);
    text_family(text, "lockstep_build_info");
    text_number(text, "lockstep_build_info", &(const struct text_labels){{LOCKSTEP_VERSION}}, 1);
    if (page->tally != NULL)
        tally_text(page->tally, text);
    process_text(text);
}

bool page_ready(struct page *page, struct str *text)
{
    bool is_fresh = lock_fresh(page), ready = is_fresh && page->up;
    if (!is_fresh)
        str_text(text, "database: no answer yet\n");
    else if (!page->up)
        str_format(text, "database: %s\n", page->reason.data);
    (void)pthread_mutex_unlock(&page->lock);
    /* A daemon without queues is ready when its database answers. */
    for (int i = 0; i < tally_queue_count(page->tally); i++) {
        const char *trouble = tally_queue_trouble(page->tally, i);
        if (trouble != NULL)
            str_format(text, "queue %s: %s\n", tally_queue_name(page->tally, i), trouble);
        ready = ready && trouble == NULL;
    }
    if (ready)
        str_text(text, "ready\n");
    return ready;
}

static void page_free(struct page *page)
{
    (void)pthread_cond_destroy(&page->read);
    (void)pthread_mutex_destroy(&page->lock);
    str_done(&page->text);
    str_done(&page->jobs);
    str_done(&page->reason);
    free(page);
}

enum rc page_open(const struct page_options *options, struct page **ret_page, struct err *err)
{
    struct page *page = xcalloc(1, sizeof *page);
    page->conninfo = options->conninfo;
    page->any_server = options->server == NULL;
    if (!page->any_server)
        page->server = *options->server;
    page->tally = options->tally;
    page->jobs_ms = options->jobs_ms != 0 ? options->jobs_ms : JOBS_MS;
    condition_init(&page->read);
    (void)pthread_mutex_init(&page->lock, NULL);
    enum rc rc = thread_start(&page->thread, "metrics", page_main, page, err);
    if (rc == RC_OK)
        *ret_page = page;
    else
        page_free(page);
    return rc;
}

void page_close(struct page *page)
{
    if (page == NULL)
        return;
    thread_stop(&page->thread);
    page_free(page);
}

/* The story of a publish; begin with publish() and publish_run(). A finite source is in finite.c, a
 * stream in stream.c, and both send through sending.c. publishing.h lists the parts of the state
 * and the file that writes each. Each failure ends in failed_publish() (settle.c), which alone
 * decides about a run that has begun. */
#include "producer/publish.h"

#include "base/remedies.h"
#include "producer/sending.h"
#include "task/message.h"
#include "task/uuid.h"

#include <stdio.h>
#include <string.h>

static enum rc wrong_options(const char *option, const char *hint, const char *message,
                             struct err *err)
{
    return err_set(err, RC_FATAL, ERR_USAGE, option, hint, "%s", message);
}

static enum rc check_resume(const struct publish_options *options, struct err *err)
{
    if (!uuid_valid(options->resume))
        return wrong_options("--resume", REMEDY_RUN_LIST, "The id of the run is not a UUID.", err);
    if (options->run != NULL || options->name != NULL)
        return wrong_options(options->run != NULL ? "--run" : "--name", "leave it out",
                             "A run that is resumed has its id and its name already.", err);
    if (options->dry_run)
        return wrong_options("--dry-run", "leave one of the two out", "A dry run resumes nothing.",
                             err);
    return RC_OK;
}

static enum rc check_options(const struct publish_options *options, struct err *err)
{
    if (options->queue == NULL || options->queue[0] == '\0')
        return wrong_options("--queue", REMEDY_QUEUE_LIST, "No queue is named.", err);
    bool resumes = options->resume != NULL; /* then the run knows its source */
    if ((options->path == NULL) == (options->query == NULL) && (options->path != NULL || !resumes))
        return wrong_options("FILE", "name a file, - for standard input, or --query",
                             "Exactly one source is needed: a file or a query.", err);
    if (options->run != NULL && !uuid_valid(options->run))
        return wrong_options("--run", "leave it out, and one is made",
                             "The id of the run is not a UUID.", err);
    if (options->name != NULL && strlen(options->name) > PUBLISH_NAME_BYTES)
        return wrong_options("--name", "shorten it",
                             "The name of the run is longer than 1000 bytes.", err);
    if (options->stream && options->dry_run)
        return wrong_options("--dry-run", "leave --stream out: a dry run reads everything first",
                             "A stream has no end to look ahead to.", err);
    return resumes ? check_resume(options, err) : RC_OK;
}

/** A resumed run that was read from a pipe has no source: no task is read, and only its end can be
 * found on the topic. */
static enum rc send_source(struct publishing *p, struct err *err)
{
    if (!origin_is_known(&p->origin))
        return resume_without_source(p, err);
    enum rc rc = origin_open(&p->origin, p->options->conninfo, p->target.limit, err);
    if (rc == RC_OK)
        rc = p->origin.stream ? publish_stream(p, err) : publish_finite(p, err);
    return rc;
}

/** Reports each reason why no executor runs the published run, with its remedy. An error of the
 * query is ignored: the run is published, and this process must not exit as if it were not. */
static void report_hindrances(const struct publishing *p)
{
    DB_RESULT_AUTO *rows = NULL;
    struct err ignored;
    const char *const params[] = {DB_INT(p->target.queue_id)};
    if (db_run(p->session.db, &sql_publish_hindrances, params, &rows, &ignored) != RC_OK)
        return;
    for (int i = 0; i < db_rows(rows); i++)
        progress_notice(&p->progress, "%s\n  hint: %s",
                        db_text(rows, i, PUBLISH_HINDRANCES_SENTENCE),
                        db_text(rows, i, PUBLISH_HINDRANCES_HELPS));
}

/** Opens the session and reads the queue; the policy of a resumed run is recalled later, by
 * resume_find(). */
static enum rc find_queue(struct publishing *p, struct err *err)
{
    const char *on_failure = p->options->on_failure;
    enum rc rc = session_open(&p->session, p->options->conninfo, err);
    if (rc == RC_OK)
        rc = target_find(&p->target, p->session.db, err);
    if (rc == RC_OK)
        run_recall(&p->run, NULL, on_failure != NULL ? on_failure : p->target.on_failure);
    return rc;
}

static enum rc find_run(struct publishing *p, struct err *err)
{
    if (p->resume.wanted)
        return resume_find(p, err);
    return p->options->run != NULL ? run_check_new(&p->run, &p->session, &p->target, err) : RC_OK;
}

/* Everything that can be refused comes before the lock: a queue, a run or a topic that is wrong
 * costs no other publisher a wait. */
static enum rc publish(struct publishing *p, struct err *err)
{
    enum rc rc = find_queue(p, err);
    if (rc == RC_OK)
        rc = find_run(p, err);
    if (rc == RC_OK)
        rc = target_check(&p->target, err);
    if (rc == RC_OK)
        rc = send_source(p, err);
    if (rc != RC_OK)
        rc = failed_publish(p, rc, err);
    /* The state decides, not rc alone: a dry run also returns RC_OK, and failed_publish() turns a
     * lost answer to the last commit into RC_OK. */
    if (rc != RC_OK || p->run.state != RUN_ENDED)
        return rc;
    sending_finish(p);
    report_hindrances(p);
    if (p->options->books.done != NULL)
        p->options->books.done(p->options->books.context);
    return RC_OK;
}

/** Releases all that the wait for the outcome does not need, so that the next producer can publish
 * meanwhile. The Kafka producer is closed before the lock is released: a successor that fenced it
 * would make its last calls fail. */
static void close_sending(struct publishing *p)
{
    transaction_close(&p->transaction);
    origin_close(&p->origin);
    session_unlock(&p->session, &p->target);
}

static void fill_result(const struct publishing *p, struct publish_result *ret_result)
{
    if (p->run.state != RUN_NEW)
        (void)snprintf(ret_result->run, sizeof ret_result->run, "%s", p->run.id);
    ret_result->tasks = p->run.tasks;
    ret_result->phases = p->run.phases;
    ret_result->first_offset = p->records.first_offset;
    ret_result->last_offset = p->records.last_offset;
}

enum rc publish_run(const struct publish_options *options, struct publish_result *ret_result,
                    struct err *err)
{
    *ret_result = (struct publish_result){.first_offset = -1, .last_offset = -1};
    enum rc rc = check_options(options, err);
    if (rc != RC_OK)
        return rc;
    struct publishing p = {.options = options,
                           .target = target_known(options->queue, options->kafka, 0, "", 0),
                           .origin = origin_of(options),
                           .run = run_of(options),
                           .records = records_none(),
                           .resume = resume_of(options)};
    publishing_reports(&p, options);
    rc = publish(&p, err);
    close_sending(&p);
    if (rc == RC_OK && options->wait && !options->dry_run)
        rc = publishing_wait(&p, ret_result->status, err);
    fill_result(&p, ret_result);
    resume_done(&p.resume);
    session_close(&p.session);
    return rc;
}

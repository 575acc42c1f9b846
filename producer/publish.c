#include "producer/publish.h"

#include "base/ascii.h"
#include "base/remedies.h"

#include "producer/publishing.h"
#include "task/message.h"

#include <stdio.h>
#include <stdlib.h>
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

static void name_run(struct publishing *p)
{
    const char *given = p->options->resume != NULL ? p->options->resume : p->options->run;
    if (given == NULL) {
        uuid_new(p->run);
        return;
    }
    for (int i = 0; i < 37; i++)
        p->run[i] = ascii_lower(given[i]);
}

/** Before a long source is read, so that a mistyped id costs nothing; sending_start decides. */
static enum rc check_run(const struct publishing *p, struct err *err)
{
    if (p->options->run == NULL)
        return RC_OK;
    const char *const params[] = {DB_INT(p->queue_id), p->run};
    enum rc rc = db_run(p->db, &sql_publish_exists, params, NULL, err);
    return rc == RC_NONE ? RC_OK : rc == RC_OK ? sending_exists(p, err) : rc;
}

static enum rc open_source(struct publishing *p, struct err *err)
{
    if (p->path != NULL)
        return staged_open_file(p->path, p->format, p->limit, &p->staged, err);
    enum rc rc = db_open(p->options->conninfo, DB_QUERY, &p->query_db, err);
    if (rc != RC_OK)
        return rc;
    return staged_open_query(p->query_db, p->query, p->limit, &p->staged, err);
}

static enum rc send_source(struct publishing *p, struct err *err)
{
    if (p->path == NULL && p->query == NULL)
        return resume_close(p, err);
    enum rc rc = open_source(p, err);
    if (rc == RC_OK)
        rc = p->stream ? publish_stream(p, err) : publish_finite(p, err);
    return rc;
}

static enum rc publish(struct publishing *p, struct err *err)
{
    enum rc rc = publishing_queue(p, err);
    if (rc == RC_OK)
        rc = p->resume.wanted ? resume_find(p, err) : check_run(p, err);
    if (rc == RC_OK)
        rc = publishing_topic(p, err);
    if (rc == RC_OK)
        rc = send_source(p, err);
    if (rc != RC_OK)
        rc = failed_publish(p, rc, err);
    if (rc == RC_OK && p->ended) {
        sending_finish(p);
        publishing_hindrances(p);
    }
    if (rc == RC_OK && p->ended && p->options->books.done != NULL)
        p->options->books.done(p->options->books.context);
    return rc;
}

/** What the waiting does not need: the next producer may come. */
static void close_sending(struct publishing *p)
{
    kafka_producer_close(p->producer);
    p->producer = NULL;
    staged_close(p->staged);
    p->staged = NULL;
    db_close(p->query_db);
    p->query_db = NULL;
    publishing_unlock(p);
}

enum rc publish_run(const struct publish_options *options, struct publish_result *ret_result,
                    struct err *err)
{
    *ret_result = (struct publish_result){.first_offset = -1, .last_offset = -1};
    enum rc rc = check_options(options, err);
    if (rc != RC_OK)
        return rc;
    struct publishing p = {.options = options,
                           .result = ret_result,
                           .total = -1,
                           .path = options->path,
                           .query = options->query,
                           .format = options->format,
                           .stream = options->stream,
                           .name = options->name,
                           .resume.wanted = options->resume != NULL};
    name_run(&p);
    rc = publish(&p, err);
    close_sending(&p);
    if (rc == RC_OK && options->wait && !options->dry_run)
        rc = publishing_wait(&p, err);
    str_done(&p.outbox);
    free(p.resume.source);
    free(p.resume.name);
    db_close(p.db);
    return rc;
}
